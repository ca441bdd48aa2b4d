"""Cash (rules.md R10): transfers, withdrawals, deposits, top-ups and the faucet (codes 9, 10, 1003,
1004, 1006, 2009)."""
from collections import Counter

import risk
from wire import (CASH_DEPOSIT, CASH_FAUCET, CASH_FUND, CASH_REVERTED, CASH_TRANSFER,
                  CASH_WITHDRAWAL, DEPOSIT_BODY, FAUCET_BODY, PORTFOLIO_ACTIVE, PORTFOLIO_CLOSED,
                  REASON, RULE_OUTCOME, RULE_PAD, RULE_REVERTED_CASH, RULE_WITHDRAWAL_ID,
                  SETTLE_BODY, STATUS, TOP_UP_BODY, TRANSFER_BODY, WITHDRAW_BODY, uuid7_of)

S = STATUS
USDC = 1000000
CASH_MAX, FUND_MAX = 2**60, 2**62
WITHDRAWAL_LEAST = USDC
FAUCET_MOST, FAUCET_TIME = 100000 * USDC, 86400 * 10**9
SETTLED, REVERTED, PENDING = 0, 1, 255  # outcomes of a 2120


class Withdrawal:
    __slots__ = ("id", "portfolio", "amount", "pending", "sequence")


class Cash:
    def __init__(self, exchange):
        self.exchange = exchange
        self.references = set()   # of deposits
        self.withdrawals = {}     # id -> Withdrawal
        self.net = Counter()      # account -> lifetime net deposits
        # terms of I2 beside the cash of portfolios and the fee account
        self.deposited = self.faucet = self.top_ups = self.pending = self.settled = 0

    # ---- deposits

    def deposit(self, body):
        account, subaccount, index, amount, reference = DEPOSIT_BODY.unpack(body)
        exchange = self.exchange
        if reference in self.references:
            exchange.reason = REASON["already_credited"]
            return 0
        if account == 0 or exchange.hierarchy.subaccount(account, subaccount) is None:
            return S["rejected_invalid_portfolio_id"]
        portfolio = (exchange.portfolios.get((account, subaccount, index))
                     or exchange.portfolios[account, subaccount, 0])
        if not portfolio.has_row() and not exchange.closed.table_has_one():
            portfolio = exchange.portfolios[account, subaccount, 0]
        if amount == 0:
            return S["rejected_size_zero"]
        if portfolio.has_row():
            risk.touch(exchange, portfolio)
        if amount > CASH_MAX or portfolio.cash + amount > CASH_MAX:
            return S["rejected_invalid_size"]
        if not portfolio.has_row():
            exchange.closed.get_again(portfolio)
        self.references.add(reference)
        self.deposited += amount
        self.net[account] += amount
        self.credit(portfolio, amount, 0, CASH_DEPOSIT)
        exchange.shares.refund(account)
        return 0

    def credit(self, portfolio, amount, ref, kind):
        self.exchange.hierarchy.reopen_by_credit(portfolio)
        self.exchange.cash(portfolio, amount, ref, kind)

    # ---- transfers and withdrawals

    def free(self, portfolio):
        """R4, less stress; R7: nothing leaves a portfolio that is being liquidated."""
        if portfolio.status != PORTFOLIO_ACTIVE:
            return -1
        return portfolio.balance()[0] - portfolio.stress(self.exchange.t, self.exchange.max_age)

    # ---- profits (R10)

    def profit_refused(self, account, amount):
        """The reason that an amount beyond the account's net deposits waits, or nothing."""
        if amount <= max(0, self.net[account]):
            return ""
        if self.exchange.work.is_moving():
            return "market_gap"
        return "insurance_fund_deficit" if self.exchange.is_short() else ""

    def withdrawable_now(self, portfolio):
        free = max(0, self.free(portfolio))
        if self.exchange.is_short():
            return min(free, max(0, self.net[portfolio.account]))
        return free

    def transfer(self, body):
        a, b, c, d, e, f, amount = TRANSFER_BODY.unpack(body)
        exchange = self.exchange
        source = exchange.hierarchy.open_portfolio((a, b, c))
        target = exchange.hierarchy.open_portfolio((d, e, f))
        if source is None or target is None or d != a:
            return S["rejected_invalid_portfolio_id"]
        risk.touch(exchange, source)
        risk.touch(exchange, target)
        if amount == 0:
            return S["rejected_size_zero"]
        if source is target:
            return S["rejected_self_transfer"]
        if amount > self.free(source):
            return S["rejected_insufficient_free_equity"]
        if target.cash + amount > CASH_MAX:
            return S["order_rejected_internal"]
        exchange.cash(source, -amount, 0, CASH_TRANSFER)
        exchange.cash(target, amount, 0, CASH_TRANSFER)
        return 0

    def withdraw(self, body):
        account, subaccount, index, amount, destination, pad = WITHDRAW_BODY.unpack(body)
        exchange = self.exchange
        portfolio = exchange.hierarchy.open_portfolio((account, subaccount, index))
        if portfolio is None:
            return S["rejected_invalid_portfolio_id"]
        risk.touch(exchange, portfolio)
        if pad:
            return S["order_rejected_invalid"]
        if amount == 0:
            return S["rejected_size_zero"]
        if amount < WITHDRAWAL_LEAST:
            return S["rejected_invalid_size"]
        if amount > self.free(portfolio):
            return S["rejected_insufficient_free_equity"]
        if reason := self.profit_refused(account, amount):
            exchange.reason = REASON[reason]
            exchange.counts["withdrawal refused " + reason] += 1
            return S["rejected_insufficient_free_equity"]
        if not any(destination):
            exchange.reason = REASON["invalid_destination"]
            return S["order_rejected_invalid"]
        if not exchange.shares.fits(account, "withdrawals"):
            exchange.reason = REASON["limit_reached"]
            return S["order_rejected_invalid"]
        if rule := exchange.shares.fall_stopped(account, amount):
            exchange.reason = REASON["limit_reached"]
            return exchange.refuse(rule)
        self.net[account] -= amount
        made = Withdrawal()
        made.id = uuid7_of(exchange.t, exchange.sequence, exchange.id_index)
        made.portfolio, made.amount, made.pending = portfolio, amount, True
        made.sequence = exchange.sequence
        exchange.shares.withdrawals[account] += 1
        portfolio.kept += 1
        self.withdrawals[made.id] = made
        exchange.cash(portfolio, -amount, 0, CASH_WITHDRAWAL)  # ref: the request
        exchange.shares.refund(account)
        exchange.id_index += 1
        self.pending += amount
        self.subaccount_of(portfolio).pending += 1
        self.tell(made, PENDING)
        return 0

    def subaccount_of(self, portfolio):
        return self.exchange.hierarchy.account_of(portfolio).subaccounts[portfolio.subaccount]

    def tell(self, withdrawal, outcome):
        self.exchange.emit(2120, withdrawal.id, *withdrawal.portfolio.id(), withdrawal.amount,
                           outcome)

    def settle(self, body):
        """Code 1004."""
        withdrawal_id, outcome, pad = SETTLE_BODY.unpack(body)
        found = self.withdrawals.get(withdrawal_id)
        if outcome > REVERTED:
            return self.exchange.refuse(RULE_OUTCOME)
        if any(pad):
            return self.exchange.refuse(RULE_PAD)
        if found is None or not found.pending:
            return self.exchange.refuse(RULE_WITHDRAWAL_ID)
        if outcome == REVERTED:
            risk.touch(self.exchange, found.portfolio)
            if found.portfolio.cash + found.amount > CASH_MAX:
                return self.exchange.refuse(RULE_REVERTED_CASH, "order_rejected_internal")
        found.pending = False
        self.pending -= found.amount
        self.subaccount_of(found.portfolio).pending -= 1
        self.exchange.shares.withdrawal_ended(found.portfolio, found.sequence)
        if outcome == SETTLED:
            self.settled += found.amount
        else:
            self.net[found.portfolio.account] += found.amount
            self.credit(found.portfolio, found.amount, 0, CASH_REVERTED)
            self.exchange.shares.refund(found.portfolio.account)
        self.exchange.counts["withdrawal " + ("settled", "reverted")[outcome]] += 1
        self.tell(found, outcome)
        return 0

    # ---- the operator's and the faucet's money

    def top_up(self, body):
        """Code 1006: into the fund's cash."""
        amount, = TOP_UP_BODY.unpack(body)
        exchange = self.exchange
        if amount == 0:
            return S["rejected_size_zero"]
        fund = exchange.portfolios[0, 0, 0]
        risk.touch(exchange, fund)
        if amount > FUND_MAX or fund.cash + amount > FUND_MAX:
            return S["rejected_invalid_size"]
        self.top_ups += amount
        exchange.cash(fund, amount, 0, CASH_FUND)
        return 0

    def faucet_credit(self, body):
        """Code 2009: (status, reason)."""
        key_id, a, b, c, amount = FAUCET_BODY.unpack(body)
        exchange = self.exchange
        portfolio = exchange.hierarchy.portfolio_of_key(key_id, (a, b, c), False)
        if isinstance(portfolio, tuple):
            return portfolio
        if exchange.limits["exchange.testnet"] != "on":
            return "rejected_invalid_portfolio_id", None
        if portfolio.status == PORTFOLIO_CLOSED:
            return "order_rejected_invalid", "portfolio_not_active"
        risk.touch(exchange, portfolio)
        if amount == 0 or amount > CASH_MAX or portfolio.cash + amount > CASH_MAX:
            return "order_rejected_invalid", "invalid_parameter"
        account, t = exchange.hierarchy.accounts[a], exchange.t
        begins = account.faucet_from == 0 or t >= account.faucet_from + FAUCET_TIME
        if (0 if begins else account.faucet_sum) + amount > FAUCET_MOST:
            return "order_rejected_invalid", "faucet_limit_exceeded"
        if begins:
            account.faucet_from, account.faucet_sum = t, 0
        account.faucet_sum += amount
        self.faucet += amount
        self.net[a] += amount
        exchange.cash(portfolio, amount, 0, CASH_FAUCET)
        exchange.shares.refund(a)
        return "request_completed", None
