"""Generator of cash and of the hierarchy: transfers, withdrawals, subaccounts and portfolios that
come and go, what the operator does to accounts, the faucet; good ones and wrong ones."""
import keys
import wire
from wire import (ALL32, CLOSE_ACCOUNT, CLOSE_PORTFOLIO, CLOSE_SUBACCOUNT, CREATE_PORTFOLIO,
                  CREATE_SUBACCOUNT, FAUCET, FEE_TIER, PORTFOLIO_CLOSED, RENAME, REOPEN_PORTFOLIO,
                  SETTLE, SUSPEND, TOP_UP, TRANSFER, WITHDRAW)

USDC = 1000000
OPERATOR, TREASURY = b"\x11" * 32, b"\x33" * 32


class CashCommands:
    # ---- whom it is about

    def some_portfolio(self, exchange, account=None):
        """(account, subaccount, portfolio) of a portfolio, mostly one that is open."""
        rng = self.random
        account = account or self.account()
        known = [one for within in exchange.hierarchy.subaccounts_of(account)
                 for one in within.portfolios]
        if not known:  # the account was taken
            return [account, 0, 0]
        open_ones = [one for one in known if one.status != PORTFOLIO_CLOSED]
        return list(rng.choice(open_ones if open_ones and rng.random() < 0.93 else known).id())

    def signer_of(self, account):
        """Mostly the master key, else a session, dead or pinned ones too."""
        if self.random.random() < 0.7:
            return keys.secp256k1_public(account)
        return self.random.choice(self.sessions.get(account) or [self.fresh[1]])

    def treasurer(self):
        """Who signs 1003, 1004 and 1006 (W3a)."""
        if self.random.random() < 0.03:
            return self.random.choice((TREASURY, OPERATOR))
        return self.own_treasurer()

    def plain(self, code, fields):
        return (0, code, wire.BODIES[code].pack(*fields), b"", self.clock)

    # ---- cash

    def amount_of(self, exchange, portfolio_id):
        """Near what is free, small, or everything."""
        rng = self.random
        portfolio = exchange.portfolios.get(tuple(portfolio_id))
        free = portfolio.balance()[0] if portfolio else 0
        return rng.choice((free, free + 1, max(0, free - 1), free // 2, free // 10, free // 100,
                           free // 100, rng.randrange(1, 3 * USDC), USDC, USDC - 1, 0,
                           rng.randrange(2**61)))

    def make_transfer(self, exchange):
        rng = self.random
        source = self.some_portfolio(exchange)
        target = self.some_portfolio(exchange, source[0])
        if rng.random() < 0.04:
            target = source
        fields = [*source, *target, self.amount_of(exchange, source)]
        if rng.random() < 0.12:
            self.change(fields, ((0, self.account()), (1, 1), (1, 9), (2, 7), (2, ALL32),
                                 (3, self.account()), (3, 0), (4, 1), (4, 9), (5, 7), (6, 0),
                                 (6, 2**64 - 1)))
        return self.signed(TRANSFER, wire.TRANSFER_BODY.pack(*fields), self.signer_of(source[0]))

    def make_withdraw(self, exchange):
        rng = self.random
        source = self.some_portfolio(exchange)
        fields = [*source, self.amount_of(exchange, source), rng.randbytes(20), 0]
        if fields[4][0] < 13:  # one in twenty goes nowhere
            fields[4] = bytes(20)
        if rng.random() < 0.12:
            self.change(fields, ((0, self.account()), (1, 1), (1, 9), (2, 7), (3, 0), (3, 2**63),
                                 (5, 1)))
        return self.signed(WITHDRAW, wire.WITHDRAW_BODY.pack(*fields), self.signer_of(source[0]))

    def make_settle(self, exchange):
        rng = self.random
        found = list(exchange.money.withdrawals.values())[-60:]
        pending = [one for one in found if one.pending]
        if not found:
            return self.make_withdraw(exchange)
        one = rng.choice(pending if pending and rng.random() < 0.9 else found)
        fields = [one.id, rng.choice((0, 0, 1)), bytes(7)]
        if rng.random() < 0.1:
            self.change(fields, ((0, wire.uuid7(self.clock // 10**6, 3)), (1, 2),
                                 (2, b"\0\0\1\0\0\0\0")))
        return self.signed(SETTLE, wire.SETTLE_BODY.pack(*fields), self.treasurer())

    def make_top_up(self, exchange):
        amount = self.random.choice((0, 1, self.random.randrange(1000 * USDC),
                                     self.random.randrange(USDC), 2**62 + 1))
        return self.signed(TOP_UP, wire.TOP_UP_BODY.pack(amount), self.treasurer())

    def make_faucet(self, exchange):
        rng = self.random
        account, key_id = self.some_key(exchange)
        fields = [key_id, *self.some_portfolio(exchange, account),
                  rng.choice((rng.randrange(50000 * USDC), 100000 * USDC, 100000 * USDC + 1, 1, 0,
                              2**62))]
        if rng.random() < 0.15:
            self.change(fields, ((0, bytes(16)), (1, self.account()), (2, 1), (2, 9), (3, 7)))
        return self.plain(FAUCET, fields)

    # ---- subaccounts and portfolios

    def make_structure(self, exchange):
        """Something is made, closed or opened again."""
        names = ("subaccount", "portfolio", "portfolio", "close", "close", "close", "reopen",
                 "close_subaccount", "rename")
        return getattr(self, "structure_" + self.random.choice(names))(exchange)

    def structure_subaccount(self, exchange):
        account = self.account()
        return self.signed(CREATE_SUBACCOUNT, account.to_bytes(8, "little"),
                           self.signer_of(account))

    def structure_portfolio(self, exchange):
        rng = self.random
        account = self.account()
        count = len(exchange.hierarchy.subaccounts_of(account))
        name = rng.choice((b"", b"", b"mine", b"\xc3\xa9", b"a\x07", b"\xc2\x85", b"n" * 32))
        fields = [account, rng.randrange(count or 1), 0, name]
        if rng.random() < 0.15:
            self.change(fields, ((0, self.account()), (1, 9), (1, ALL32), (2, 1)))
        return self.signed(CREATE_PORTFOLIO, wire.CREATE_PORTFOLIO_BODY.pack(*fields),
                           self.signer_of(account))

    def structure_close(self, exchange):
        """Often one that is empty."""
        rng = self.random
        account, key_id = self.some_key(exchange)
        empty = [one for within in exchange.hierarchy.subaccounts_of(account)
                 for one in within.portfolios if not one.cash and one.status != PORTFOLIO_CLOSED]
        where = (list(rng.choice(empty).id()) if empty and rng.random() < 0.7
                 else self.some_portfolio(exchange, account))
        return self.named(CLOSE_PORTFOLIO, key_id, where)

    def named(self, code, key_id, where, *rest):
        fields = [key_id, *where, *rest]
        if self.random.random() < 0.12:
            self.change(fields, ((0, bytes(16)), (1, self.account()), (2, 1), (2, 9), (3, 7)))
        return self.plain(code, fields)

    def structure_reopen(self, exchange):
        rng = self.random
        account, key_id = self.some_key(exchange)
        closed = [one for within in exchange.hierarchy.subaccounts_of(account)
                  for one in within.portfolios if one.status == PORTFOLIO_CLOSED]
        where = (list(rng.choice(closed).id()) if closed and rng.random() < 0.8
                 else self.some_portfolio(exchange, account))
        return self.named(REOPEN_PORTFOLIO, key_id, where)

    def structure_rename(self, exchange):
        account, key_id = self.some_key(exchange)
        name = self.random.choice((b"first", b"\xe2\x82\xac", b"x" * 32))
        return self.named(RENAME, key_id, self.some_portfolio(exchange, account), name)

    def structure_close_subaccount(self, exchange):
        rng = self.random
        account = self.account()
        subaccounts = exchange.hierarchy.subaccounts_of(account)
        ready = [index for index, one in enumerate(subaccounts) if index and not one.closed
                 and all(each.status == PORTFOLIO_CLOSED for each in one.portfolios)]
        index = (rng.choice(ready) if ready and rng.random() < 0.8
                 else rng.randrange(len(subaccounts) or 1))
        if index == 0 and account in self.fresh and rng.random() < 0.9:
            return self.structure_portfolio(exchange)  # subaccount 0 trades on
        fields = [account, index, 0]
        if rng.random() < 0.15:
            self.change(fields, ((0, self.account()), (1, 9), (2, 1)))
        return self.signed(CLOSE_SUBACCOUNT, wire.CLOSE_SUBACCOUNT_BODY.pack(*fields),
                           self.signer_of(account))

    def make_ending(self, exchange):
        """An account that is made to be closed: portfolio, subaccount, account; and what it is
        answered then."""
        account = exchange.reclaim.likely_id()
        master, key = keys.secp256k1_public(account), self.new_key()
        self.fresh[account], self.sessions[account] = key, [key]
        steps = [(0, "key"), (0, "close"), (0, "subaccount"), (0, "account"), (0, "account")]
        if self.random.random() < 0.3:
            steps.insert(self.random.randrange(1, 5), (0, "account"))
        self.endings.append((account, master, [name for _, name in steps]))
        return self.signed(wire.CREATE_ACCOUNT, wire.ACCOUNT_BODY.pack(
            key, 0, b"short", 0, bytes(7)), master)

    def make_end_step(self, exchange):
        """The next step of an account that is being closed."""
        if not self.endings:
            return self.make_ending(exchange)
        account, master, steps = self.endings[0]
        name = steps.pop(0)
        if not steps:
            self.endings.popleft()
        if name == "key":
            return self.api_key(account, wire.READ_WRITE)
        if name == "close":
            own = [key_id for key_id, key in exchange.credentials.api_keys.items()
                   if key.account == account]
            return self.plain(CLOSE_PORTFOLIO, [own[-1] if own else bytes(16), account, 0, 0])
        if name == "subaccount":
            return self.signed(CLOSE_SUBACCOUNT, wire.CLOSE_SUBACCOUNT_BODY.pack(account, 0, 0),
                               master)
        return self.signed(CLOSE_ACCOUNT, account.to_bytes(8, "little"), master)

    # ---- the operator

    def make_suspend(self, exchange):
        """Suspensions are short: most of these end one."""
        rng = self.random
        suspended = [one.number for one in exchange.hierarchy.accounts.values() if one.suspended]
        account, value = (rng.choice(suspended), 0) if suspended else (self.account(), 1)
        fields = [account, value, bytes(7)]
        if rng.random() < 0.15:
            self.change(fields, ((0, 0), (0, 3000), (1, 2), (1, 0), (2, b"\0\0\1\0\0\0\0")))
        return self.signed(SUSPEND, wire.SUSPEND_BODY.pack(*fields), OPERATOR)

    def make_fee_tier(self, exchange):
        rng = self.random
        fields = [self.account(), rng.choice((0, 1, 2, 3, 4, 5, 255, 255)), bytes(7)]
        if rng.random() < 0.15:
            self.change(fields, ((0, 0), (0, 3000), (1, 6), (1, 254), (2, b"\0\0\1\0\0\0\0")))
        return self.signed(FEE_TIER, wire.FEE_TIER_BODY.pack(*fields), OPERATOR)
