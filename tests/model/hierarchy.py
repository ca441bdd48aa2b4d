"""Accounts, subaccounts and portfolios (rules.md R10): codes 22, 23, 24, 32, 1005, 1009, 2002, 2003
and 2010."""
import risk
from fees import Volumes
from portfolio import Portfolio, default_name
from wire import (CLOSE_SUBACCOUNT_BODY, CREATE_PORTFOLIO_BODY, FEE_TIER_BODY, PORTFOLIO_ACTIVE,
                  PORTFOLIO_BODY, PORTFOLIO_CLOSED, READ, REASON, RENAME_BODY, STATUS, SUSPEND_BODY)

S = STATUS
ACCOUNT, SUBACCOUNT, PORTFOLIO, TIER, SUSPENDED = range(5)  # what a 2119 tells
ACTIVE, CLOSED = 0, 1                                       # of accounts and subaccounts
BY_VOLUME = 255


class Account:
    __slots__ = ("number", "volumes", "closed", "suspended", "subaccounts", "faucet_from",
                 "faucet_sum", "list")

    def __init__(self, number):
        self.number = number
        self.volumes = Volumes()
        self.closed = self.suspended = False
        self.subaccounts = []
        self.faucet_from = self.faucet_sum = 0
        self.list = None  # the operator's, of the whole account (R10)


class Subaccount:
    __slots__ = ("closed", "portfolios", "pending", "has_row")

    def __init__(self):
        self.closed = False
        self.has_row = True
        self.portfolios = []
        self.pending = 0  # withdrawals


class Hierarchy:
    def __init__(self, exchange):
        self.exchange = exchange
        self.accounts = {}  # number -> Account

    # ---- making and finding

    def new_account(self, number):
        self.accounts[number] = account = Account(number)
        self.exchange.volumes[number] = account.volumes
        self.new_subaccount(account)
        return account

    def new_subaccount(self, account):
        account.subaccounts.append(Subaccount())
        return self.new_portfolio(account, len(account.subaccounts) - 1)

    def new_portfolio(self, account, subaccount):
        exchange, within = self.exchange, account.subaccounts[subaccount]
        number = exchange.reclaim.portfolio_number()
        made = Portfolio(account.number, number, account.volumes, subaccount,
                         len(within.portfolios))
        within.portfolios.append(made)
        account.volumes.portfolios.append(made)
        exchange.by_number[number:number + 1] = [made]
        exchange.portfolios[made.id()] = made
        return made

    def account_of(self, portfolio):
        return self.accounts[portfolio.account]

    def subaccounts_of(self, account):
        """None of an account that does not exist, or not any more."""
        return self.accounts[account].subaccounts if account in self.accounts else []

    def subaccount(self, account, index):
        """None: missing or CLOSED."""
        found = self.accounts.get(account)
        if found is None or not 0 <= index < len(found.subaccounts):
            return None
        return None if found.subaccounts[index].closed else found.subaccounts[index]

    def open_portfolio(self, portfolio_id):
        """Row 5. None: missing or CLOSED."""
        portfolio = self.exchange.portfolios.get(portfolio_id)
        return None if portfolio is None or portfolio.status == PORTFOLIO_CLOSED else portfolio

    def tell(self, portfolio_id, status, what):
        self.exchange.emit(2119, *portfolio_id, status,
                           self.accounts[portfolio_id[0]].volumes.rate, what)

    def move(self, portfolio, status):
        portfolio.status = status
        if status == PORTFOLIO_CLOSED:
            portfolio.name = default_name(portfolio.index)
            self.exchange.closed.closed(portfolio)
        else:
            self.exchange.closed.forget(portfolio)
        self.tell(portfolio.id(), status, PORTFOLIO)

    def reopen_by_credit(self, portfolio):
        """R10: a deposit or a withdrawal that comes back makes a CLOSED portfolio ACTIVE."""
        if portfolio.status == PORTFOLIO_CLOSED:
            self.exchange.counts["reopened by a credit"] += 1
            self.move(portfolio, PORTFOLIO_ACTIVE)

    def refuse(self, reason):
        self.exchange.reason = REASON[reason]
        self.exchange.counts["refused " + reason] += 1
        return S["order_rejected_invalid"]

    # ---- signed codes of users

    def create_subaccount(self, body):
        account = self.accounts[int.from_bytes(body, "little")]
        shares = self.exchange.shares
        if (len(account.subaccounts) >= self.exchange.limits["limits.subaccounts"]
                or not shares.fits(account.number, "subaccounts")
                or not shares.fits(account.number, "portfolios")):
            return self.refuse("limit_reached")
        made = self.new_subaccount(account)
        self.tell(made.id(), ACTIVE, SUBACCOUNT)
        return 0

    def close_subaccount(self, body):
        number, index, pad = CLOSE_SUBACCOUNT_BODY.unpack(body)
        if pad:
            return S["order_rejected_invalid"]
        subaccount = self.subaccount(number, index)
        if subaccount is None:
            return S["rejected_invalid_portfolio_id"]
        if any(one.status != PORTFOLIO_CLOSED for one in subaccount.portfolios):
            return self.refuse("portfolio_not_closed")
        if subaccount.pending:
            return self.refuse("withdrawal_pending")
        subaccount.closed = True
        self.tell((number, index, 0), CLOSED, SUBACCOUNT)
        return 0

    def create_portfolio(self, body):
        number, index, pad, name = CREATE_PORTFOLIO_BODY.unpack(body)
        subaccount = self.subaccount(number, index)
        if subaccount is None:
            return S["rejected_invalid_portfolio_id"]
        if pad or has_control(name):
            return S["order_rejected_invalid"]
        if (len(subaccount.portfolios) >= self.exchange.limits["limits.portfolios"]
                or not self.exchange.shares.fits(number, "portfolios")):
            return self.refuse("limit_reached")
        made = self.new_portfolio(self.accounts[number], index)
        made.name = name.rstrip(b"\0") or made.name
        self.tell(made.id(), PORTFOLIO_ACTIVE, PORTFOLIO)
        return 0

    def close_account(self, body):
        account = self.accounts[int.from_bytes(body, "little")]
        if any(not one.closed for one in account.subaccounts):
            return self.refuse("subaccount_not_closed")
        account.closed = True
        self.exchange.credentials.end_all(account.number)
        self.tell((account.number, 0, 0), CLOSED, ACCOUNT)
        return 0

    # ---- codes of the operator

    def user(self, number):
        return self.accounts.get(number) if number else None

    def suspend(self, body):
        number, suspended, pad = SUSPEND_BODY.unpack(body)
        account = self.user(number)
        if account is None:
            return S["rejected_invalid_portfolio_id"]
        if any(pad) or suspended > 1:
            return S["order_rejected_invalid"]
        if suspended != account.suspended:
            account.suspended = bool(suspended)
            self.tell((number, 0, 0), int(account.closed), SUSPENDED)
        return 0

    def set_fee_tier(self, body):
        number, tier, pad = FEE_TIER_BODY.unpack(body)
        account = self.user(number)
        if account is None:
            return S["rejected_invalid_portfolio_id"]
        if any(pad) or tier > 5 and tier != BY_VOLUME:
            return S["order_rejected_invalid"]
        volumes = account.volumes
        before = volumes.rate
        volumes.touch(self.exchange.t)
        volumes.override = None if tier == BY_VOLUME else tier
        self.exchange.counts["tier " + ("back to volume" if tier == BY_VOLUME else "set")] += 1
        if volumes.rate != before:
            self.tell((number, 0, 0), int(account.closed), TIER)
        return 0

    # ---- plain writes, authored by the node: (status, reason)

    def key_refused(self, key_id, account, subaccount, takes_device=False):
        """*credential* of R11: None, or (status, reason)."""
        key = self.exchange.credentials.of_plain_write(key_id, takes_device)
        if key is None or key.revoked:
            return "rejected_unauthorized", None
        if key.scope == READ:
            return "rejected_unauthorized", "read_only_key"
        if key.pin not in (-1, subaccount):
            return "rejected_unauthorized", "subaccount_not_permitted"
        return None if key.account == account else ("rejected_invalid_portfolio_id", None)

    def portfolio_of_key(self, key_id, portfolio_id, takes_device=True):
        """The portfolio, else (status, reason)."""
        portfolio = self.exchange.portfolios.get(portfolio_id)
        return (self.key_refused(key_id, *portfolio_id[:2], takes_device) or portfolio
                or ("rejected_invalid_portfolio_id", None))

    def close_portfolio(self, body):
        key_id, *portfolio_id = PORTFOLIO_BODY.unpack(body)
        portfolio = self.portfolio_of_key(key_id, tuple(portfolio_id))
        if isinstance(portfolio, tuple):
            return portfolio
        if portfolio.has_row():
            risk.touch(self.exchange, portfolio)
        if portfolio.status != PORTFOLIO_ACTIVE:
            return "order_rejected_invalid", "portfolio_not_active"
        going = self.exchange.conditionals.going  # an order that fired and has not ended
        if going is not None and going.owner is portfolio:
            self.exchange.counts["close beside a fired order"] += 1
            return "order_rejected_invalid", "portfolio_not_empty"
        if portfolio.cash or portfolio.order_count or portfolio.conditionals or any(
                holding.size for holding in portfolio.holdings.values()):
            return "order_rejected_invalid", "portfolio_not_empty"
        self.move(portfolio, PORTFOLIO_CLOSED)
        return "request_completed", None

    def reopen_portfolio(self, body):
        key_id, *portfolio_id = PORTFOLIO_BODY.unpack(body)
        portfolio = self.portfolio_of_key(key_id, tuple(portfolio_id))
        if isinstance(portfolio, tuple):
            return portfolio
        if portfolio.status != PORTFOLIO_CLOSED:
            return "order_rejected_invalid", "portfolio_not_closed"
        if self.subaccount(portfolio.account, portfolio.subaccount) is None:
            return "order_rejected_invalid", "subaccount_not_active"
        if not portfolio.has_row():
            if not self.exchange.shares.fits(portfolio.account, "portfolios"):
                return "order_rejected_invalid", "limit_reached"
            self.exchange.closed.get_again(portfolio)
        self.move(portfolio, PORTFOLIO_ACTIVE)
        return "request_completed", None

    def rename(self, body):
        key_id, *portfolio_id, name = RENAME_BODY.unpack(body)
        portfolio = self.portfolio_of_key(key_id, tuple(portfolio_id))
        if isinstance(portfolio, tuple):
            return portfolio
        if portfolio.status == PORTFOLIO_CLOSED:
            self.exchange.counts["closed portfolio not renamed"] += 1
            return "order_rejected_invalid", "portfolio_not_active"
        portfolio.name = name.rstrip(b"\0")
        self.tell(portfolio.id(), portfolio.status, PORTFOLIO)
        return "request_completed", None


def has_control(text):
    return any(ord(sign) < 32 or 127 <= ord(sign) < 160
               for sign in text.rstrip(b"\0").decode())
