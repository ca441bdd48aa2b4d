"""The rows of CLOSED portfolios: given back a minute later, and got again; and those of CLOSED
subaccounts, which go with the last of them (rules.md R10)."""
from portfolio import Portfolio

LOOKS = 4  # rows that a command looks at


class ClosedRows:
    def __init__(self, exchange):
        self.exchange = exchange
        self.due = {}  # portfolio that is CLOSED and has a row -> t at which it is looked at

    def closed(self, portfolio):
        if (portfolio.subaccount, portfolio.index) != (0, 0):
            self.due[portfolio] = self.exchange.shares.keep_until()

    def forget(self, portfolio):
        self.due.pop(portfolio, None)

    def release(self):
        """Before each command; never while a run of level 3 knows portfolios by their rows."""
        for _ in range(LOOKS if self.exchange.run is None else 0):
            time, _, portfolio = min(((due, one.number, one) for one, due in self.due.items()),
                                     key=lambda each: each[:2], default=(None, 0, None))
            if portfolio is None or time > self.exchange.t:
                return
            if self.is_needed(portfolio):
                self.exchange.counts["row of a portfolio kept"] += 1
                self.closed(portfolio)
            else:
                self.give_back(portfolio)

    def is_needed(self, one):
        account = self.exchange.hierarchy.accounts[one.account]
        return bool(
            one.cash or one.order_count or one.conditionals or one.list or one.changed
            or one.liquidation or one.excess_item or one.owed or one.dead_man or one.kept
            or account.list is not None
            or any(each.size or each.orders or each.chosen for each in one.holdings.values())
            or any(each.portfolio is one for each in self.exchange.protection.mmps)
            or one.index == 0 and not account.subaccounts[one.subaccount].closed)

    def give_back(self, portfolio):
        """The index stays, with a portfolio that has nothing."""
        exchange = self.exchange
        account = exchange.hierarchy.accounts[portfolio.account]
        self.forget(portfolio)
        exchange.counts["row of a portfolio given back"] += 1
        exchange.reclaim.free_portfolio(portfolio.number)
        account.volumes.portfolios.remove(portfolio)
        within = account.subaccounts[portfolio.subaccount]
        bare = Portfolio(portfolio.account, None, account.volumes, portfolio.subaccount,
                         portfolio.index)
        bare.status = portfolio.status
        within.portfolios[portfolio.index] = bare
        exchange.portfolios[portfolio.id()] = bare
        if not any(one.has_row() for one in within.portfolios):
            self.give_back_subaccount(within)

    def give_back_subaccount(self, within):
        """It is CLOSED for ever; of its portfolios only the first is still known."""
        within.has_row = False
        for one in within.portfolios[1:]:
            del self.exchange.portfolios[one.id()]
        del within.portfolios[1:]
        self.exchange.counts["row of a subaccount given back"] += 1

    def table_has_one(self):
        return self.exchange.reclaim.has_portfolio_number()

    def get_again(self, portfolio):
        exchange = self.exchange
        portfolio.number = exchange.reclaim.portfolio_number()
        portfolio.volumes.portfolios.append(portfolio)
        exchange.by_number[portfolio.number:portfolio.number + 1] = [portfolio]
        exchange.counts["row of a portfolio again"] += 1
