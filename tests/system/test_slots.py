"""test_slots.py - slots of bounded tables from outside (wire.md W8, Slots): what was tried to close
the exchange to others, with small tables. In each, a maker who has brought in enough and a newcomer
go on.
"""
import contextlib
import os
import signal
import struct
import sys
import time
import uuid

import client
from client import (CANCEL_ALL, CREATE_ACCOUNT, CREATE_API_KEY, DEPOSIT, JSON, PATHS, PLACE_LIMIT,
                    REVOKE_API_KEY, Ed25519Key, Secp256k1Key, account_body, api_key_body,
                    deposit_body, request_bytes, revoke_key_body)
from eip712 import CLOSE_SUBACCOUNT, CREATE_PORTFOLIO, CREATE_SUBACCOUNT, LOGIN, WITHDRAW
from harness import Suite, Table
from request_body import conditional_body, portfolio_body, withdraw_body
from world import BTC, BTC_PRICE, USDC, perpd_program, run, seen

suite = Suite("slots")
DONE, INVALID, LIMIT = "request_completed", "order_rejected_invalid", "limit_reached"
LIMITED = "rejected_rate_limited"
CONDITIONAL = 6
BID = BTC_PRICE - 1000
# Of 4,096 accounts 16 are for the unfunded, of 8,192 portfolios 32; with small ones five times it.
OPTIONS = {"funding_small": 10, "funding_full": 1000, "share_unfunded_ppm": 4000,
           "share_small_ppm": 20000, "account_portfolios": 6, "account_conditionals": 5,
           "account_rows": 2, "account_credentials": 12, "account_withdrawals": 3}
UNFUNDED_ACCOUNTS, UNFUNDED_CREDENTIALS = 16, 8
LIFE_MS, PATIENCE_MS = 1800 * 1000, 300 * 1000  # below store.clock_gap_max
PATHS.update({CREATE_SUBACCOUNT: "/api/v1/subaccounts/create",
              CLOSE_SUBACCOUNT: "/api/v1/subaccounts/close",
              CREATE_PORTFOLIO: "/api/v1/portfolio/create",
              LOGIN: "/api/v1/login",
              CONDITIONAL: "/api/v1/trading/order/place/conditional",
              WITHDRAW: "/api/v1/cash/withdraw"})


class World:
    def __init__(self, exchange):
        self.exchange = exchange
        assert exchange.set_price(BTC_PRICE, BTC)["status"] == DONE
        self.maker = self.account(100_000)

    def account(self, usdc):
        return client.Account(self.exchange, usdc * USDC)

    def fund(self, account, usdc):
        return self.exchange.ack(DEPOSIT, deposit_body(account.id, usdc * USDC),
                                 self.exchange.operator)

    def sign_up(self):
        """An account without anything but its session: its answer."""
        return self.exchange.ack(CREATE_ACCOUNT, account_body(Ed25519Key().public), Secp256k1Key())

    def portfolio(self, account):
        return self.exchange.ack(CREATE_PORTFOLIO, portfolio_body(account.id), account.session)

    def slots(self, account):
        shown = account.read("/api/v1/limits").json["slots"]
        return shown["class"], {row["table"]: row for row in shown["tables"]}

    def others_go_on(self, table):
        """The maker quotes, opens a portfolio and sets a leverage; a newcomer comes and trades."""
        placed = self.maker.limit(BID, 20)
        table.same("the maker quotes", placed["status"], DONE)
        table.same("and cancels", self.maker.cancel_all()["status"], DONE)
        newcomer = self.account(2_000)
        table.same("the newcomer's class", self.slots(newcomer)[0], "full")
        table.same("he trades", newcomer.limit(BID, 20)["status"], DONE)
        table.same("opens a portfolio", self.portfolio(newcomer)["status"], DONE)
        table.same("waits for a price", stop(self, newcomer)["status"], DONE)
        newcomer.cancel_all(conditional=1)


def stop(world, account):
    return world.exchange.ack(CONDITIONAL, conditional_body(account.id, BTC_PRICE - 5000, -20),
                              account.session)


def set_leverage(world, account, market, leverage):
    """With a key that may write, which the account's own may not."""
    if not hasattr(account, "writer"):
        made = world.exchange.ack(CREATE_API_KEY, api_key_body(account.id, scope=1),
                                  account.session)
        account.writer = made["api_key"]
    body = ('{"subaccount_index":0,"portfolio_index":0,"market":"%s","leverage":%d}'
            % (market, leverage)).encode()
    return world.exchange.kept(request_bytes("PUT", "/api/v1/leverage", body,
                                             [JSON, ("X-API-KEY", account.writer)]))


@suite.case
def classes(world):
    """The class follows deposits, at 10 and at 1,000 USDC; /account and /metrics show it. GET
    /limits shows of every table the account's bound, which follows from the limits there."""
    table = Table()
    account = world.account(0)
    limits = world.exchange.get("/api/v1/limits").json["limits"]
    of_unfunded = {"subaccounts": 1, "portfolios": 2, "conditionals": 0, "leverages": 0, "mmps": 0,
                   "credentials": UNFUNDED_CREDENTIALS}
    for usdc, want in ((0, "unfunded"), (9, "unfunded"), (1, "small"), (989, "small"), (1, "full")):
        if usdc:
            world.fund(account, usdc)
        shown, tables = world.slots(account)
        table.same(f"{usdc} more", shown, want)
        bounds = {"accounts": None, "subaccounts": limits["subaccounts"],
                  "portfolios": limits["account_portfolios"],
                  "orders": limits["account_open_orders"],
                  "conditionals": limits["account_conditionals"], "positions": None,
                  "leverages": limits["account_rows"], "mmps": limits["account_rows"],
                  "credentials": limits["account_credentials"], "arms": 256,
                  "withdrawals": limits["account_withdrawals"],
                  **(of_unfunded if want == "unfunded" else {})}
        table.same(f"{usdc} more: bounds", {name: row.get("bound") for name, row in tables.items()},
                   bounds)
    table.same("a row of its own", tables["accounts"], {"table": "accounts", "used": 1})
    table.same("keys", tables["credentials"], {"table": "credentials", "used": 3, "bound": 12})

    def gauges():
        page = world.exchange.admin("/metrics").body.decode()
        lines = dict(line.rsplit(" ", 1) for line in page.splitlines()
                     if line.startswith("perpd_table_"))
        return (int(lines['perpd_table_used{table="accounts",class="full"}']) >= 2,
                lines['perpd_table_size{table="accounts"}'],
                lines['perpd_table_alarm{table="accounts"}'])
    table.same("gauges", seen(gauges, (True, "4096", "0")), (True, "4096", "0"))
    return table.wrong


@suite.case
def eight_fill_portfolios(world):
    """Accounts of 500 USDC make portfolios until they get no more; they use up what is theirs."""
    table = Table()
    for number in range(8):
        account = world.account(500)
        for _ in range(OPTIONS["account_portfolios"] - 1):
            table.same(f"{number}", world.portfolio(account)["status"], DONE)
        refused = world.portfolio(account)
        table.same(f"{number}: one more", (refused["status"], refused.get("reason")),
                   (INVALID, LIMIT))
    world.others_go_on(table)
    return table.wrong


@suite.case
def conditionals(world):
    """Orders that wait need no margin: an account has its bound, an unfunded one none."""
    table = Table()
    poor = world.account(9)
    table.same("unfunded", stop(world, poor)["status"], "rejected_max_conditional_orders_exceeded")
    account = world.account(500)
    for number in range(OPTIONS["account_conditionals"]):
        table.same(f"{number}", stop(world, account)["status"], DONE)
    table.same("one more", stop(world, account)["status"],
               "rejected_max_conditional_orders_exceeded")
    world.others_go_on(table)
    return table.wrong


@suite.case
def leverage_rows(world):
    """Settings are rows: an account has its bound, the default takes none, an unfunded one has
    none."""
    table = Table()
    poor = world.account(9)
    table.problem("unfunded", set_leverage(world, poor, "BTC-PERP", 5), 409, LIMIT)
    table.same("the default", set_leverage(world, poor, "BTC-PERP", 20).status, 200)
    account = world.account(500)
    for market in ("BTC-PERP", "ETH-PERP"):
        table.same(market, set_leverage(world, account, market, 5).status, 200)
    table.problem("one more", set_leverage(world, account, "SOL-PERP", 5), 409, LIMIT)
    table.same("given back", set_leverage(world, account, "ETH-PERP", 20).status, 200)
    table.same("used again", set_leverage(world, account, "SOL-PERP", 5).status, 200)
    world.others_go_on(table)
    return table.wrong


def withdraw(world, account, micro):
    return world.exchange.ack(WITHDRAW, withdraw_body(account.id, micro, b"\1" * 20),
                              account.session)


@suite.case
def withdrawals_of_one(world):
    """However much an account has, so many of its withdrawals are under way, and the others'
    go on."""
    table = Table()
    rich, other = world.account(10_000), world.account(500)
    bound = OPTIONS["account_withdrawals"]
    for number in range(bound):
        table.same(f"{number}", withdraw(world, rich, USDC)["status"], DONE)
    refused = withdraw(world, rich, USDC)
    table.same("one more", (refused["status"], refused.get("reason")), (INVALID, LIMIT))
    table.same("shown", world.slots(rich)[1]["withdrawals"],
               {"table": "withdrawals", "used": bound, "bound": bound})
    table.same("another's", withdraw(world, other, USDC)["status"], DONE)
    world.others_go_on(table)
    return table.wrong


@suite.case
def recycled_capital(world):
    """One capital goes from account to account and would leave each with more portfolios than the
    unfunded may have: it stays where they are, and newcomers find theirs."""
    table = Table()
    for number in range(6):  # of 6 portfolios each: 36 of the 32 that the unfunded have
        account = world.account(2000)
        for _ in range(OPTIONS["account_portfolios"] - 1):
            table.same(f"{number}: portfolio", world.portfolio(account)["status"], DONE)
        refused = withdraw(world, account, 2000 * USDC)
        table.same(f"{number}: the capital", [refused.get(name) for name in
                   ("status", "reason", "field")], [INVALID, LIMIT, "portfolios"])
        kept = withdraw(world, account, 1000 * USDC)
        table.same(f"{number}: what keeps its class", kept["status"], DONE)
    plain = world.account(2000)
    table.same("without portfolios", withdraw(world, plain, 2000 * USDC)["status"], DONE)
    world.others_go_on(table)
    return table.wrong


@suite.case
def recycled_subaccounts(world):
    """The same with subaccounts that are closed before the capital goes on: each keeps the capital
    until its rows are given back, so that newcomers find theirs. The minute passes in a start whose
    clock is ahead."""
    del world
    table = Table()
    with stepped_clock() as perpd:
        recycle_subaccounts(table, perpd)
    return table.wrong


def recycle_subaccounts(table, perpd):
    world = World(perpd.exchange)
    accounts = [world.account(2000) for _ in range(7)]  # with 5 each: 35 of the 32 of the unfunded
    for account in accounts:
        made = [world.exchange.ack(CREATE_SUBACCOUNT, struct.pack("<Q", account.id),
                                   account.master)["status"] for _ in range(4)]
        table.same(f"{account.id}: made", made, [DONE] * 4)
        account.writer = world.exchange.ack(CREATE_API_KEY, api_key_body(account.id, scope=1),
                                            account.session)["api_key"]
        for index in range(1, 5):
            body = '{"subaccount_index":%d,"portfolio_index":0}' % index
            closed = world.exchange.kept(request_bytes(
                "POST", "/api/v1/portfolio/close", body.encode(),
                [JSON, ("X-API-KEY", account.writer)]))
            done = world.exchange.ack(CLOSE_SUBACCOUNT, struct.pack("<QI4x", account.id, index),
                                      account.master)
            table.same(f"{account.id}/{index}: closed", (closed.status, done["status"]),
                       (200, DONE))
    kept = withdraw(world, accounts[0], 2000 * USDC)
    table.same("at once", [kept.get(name) for name in ("status", "reason", "field")],
               [INVALID, LIMIT, "subaccounts"])
    world.exchange = start_ahead(table, perpd, 50_000)
    world.maker.exchange = world.exchange

    def used(account):
        world.maker.cancel_all()  # a command gives back a few rows
        shown = world.exchange.get("/api/v1/limits", account.api_key).json["slots"]["tables"]
        return {row["table"]: row["used"] for row in shown}["subaccounts"]
    for account in accounts:
        account.exchange = world.exchange
        table.same(f"{account.id}: given back", seen(lambda one=account: used(one), 1), 1)
        table.same(f"{account.id}: the capital", withdraw(world, account, 2000 * USDC)["status"],
                   DONE)
    shown = accounts[0].read("/api/v1/subaccounts").json
    table.same("shown", [(row["subaccount_index"], row["status"], row["portfolio_count"])
                         for row in shown],
               [(0, "ACTIVE", 1)] + [(index, "CLOSED", 0) for index in range(1, 5)])
    world.others_go_on(table)
    table.same("the audit", world.exchange.audit()["recount_differences"], 0)


@suite.case
def credentials_come_and_go(world):
    """Keys that are made and revoked keep their rows for a while, and these are counted."""
    table = Table()
    for usdc, bound in ((500, OPTIONS["account_credentials"]), (9, UNFUNDED_CREDENTIALS)):
        account = world.account(usdc)
        for number in range(bound - 3):  # beside a master key, a session and an API key
            made = world.exchange.ack(CREATE_API_KEY, api_key_body(account.id), account.session)
            table.true(f"{usdc}: {number}", made["success"], made)
            key_id = uuid.UUID(made["api_key_id"]).bytes
            gone = world.exchange.ack(REVOKE_API_KEY, revoke_key_body(account.id, key_id),
                                      account.session)
            table.true(f"{usdc}: revoked", gone["success"], gone)
        refused = world.exchange.ack(CREATE_API_KEY, api_key_body(account.id), account.session)
        table.same(f"{usdc}: one more", (refused["message"], refused.get("reason")),
                   (INVALID, LIMIT))
        table.same(f"{usdc}: shown", world.slots(account)[1]["credentials"],
                   {"table": "credentials", "used": bound, "bound": bound})
    world.others_go_on(table)
    return table.wrong


@suite.case
def unfunded(world):
    """One subaccount and two portfolios; the first deposit that is enough lifts the bounds."""
    table = Table()
    account = world.account(0)

    def subaccount():
        done = world.exchange.ack(CREATE_SUBACCOUNT, struct.pack("<Q", account.id), account.master)
        return done["status"], done.get("reason")
    table.same("a subaccount", subaccount(), (INVALID, LIMIT))
    table.same("a second portfolio", world.portfolio(account)["status"], DONE)
    table.same("a third", world.portfolio(account).get("reason"), LIMIT)
    world.fund(account, 10)
    table.same("a third now", world.portfolio(account)["status"], DONE)
    table.same("a subaccount now", subaccount()[0], DONE)
    return table.wrong


@suite.case
def pairings_of_the_unfunded(world):
    """Of 16,384 pairings 65 are for the unfunded, a third of them for one address: there a funded
    account opens one beside them. 22 is the least count whose double is not below what is left."""
    table, answers = Table(), []

    def device(account):
        body = struct.pack("<QQi4x", account.id, 0, -1)
        return world.exchange.ack(LOGIN, body, account.session)["device_key"]

    def opened(key):
        return world.exchange.kept(request_bytes("POST", "/api/v1/device-pairing", b"{}",
                                                 [JSON, ("X-DEVICE-KEY", key)]))
    for _ in range(3):
        key = device(world.account(0))
        answers += [opened(key) for _ in range(8)]
    table.same("the unfunded", [answer.status for answer in answers], [201] * 22 + [429] * 2)
    table.same("the address", answers[-1].json["detail"],
               "this address has as many pairings open as is its share")
    table.same("the maker", [opened(device(world.maker)).status], [201])
    return table.wrong


@suite.case
def unfunded_writes(world):
    """20 writes at once and 10 a second, as soon as the account is there; a deposit lifts it."""
    table = Table()
    account = world.account(0)

    def left():
        return account.read("/api/v1/limits").json["remaining"]["write"]
    refused = None
    for number in range(2000):  # a machine that is slow gives tokens between
        answer = account.limit(BID, 20)
        if answer["status"] == LIMITED:
            refused = answer
            break
    table.true("refused", refused is not None and number >= 18, (number, refused))
    table.true("a tenth of a second", refused and 0 < refused["retry_after_ms"] <= 300, refused)
    table.true("shown", left() <= 20, left())
    table.same("a cancel goes on", account.cancel_all()["status"], DONE)
    table.same("the maker quotes", world.maker.limit(BID, 20)["status"], DONE)
    world.maker.cancel_all()
    world.fund(account, 10)
    table.same("lifted", seen(lambda: left() > 1000, True), True)
    return table.wrong


@suite.case
def accounts_at_full_speed(world):
    """Accounts that bring in nothing use up their share alone. What funded accounts do goes on; one
    that is funded makes room for the next."""
    table = Table()
    made = []
    for _ in range(UNFUNDED_ACCOUNTS + 1):
        born = world.sign_up()
        if not born["success"]:
            break
        made.append(born)
    table.same("the share is used up", born["message"], "creation_rejected")
    table.same("the maker quotes", world.maker.limit(BID, 20)["status"], DONE)
    table.same("opens a portfolio", world.portfolio(world.maker)["status"], DONE)
    table.same("waits for a price", stop(world, world.maker)["status"], DONE)
    world.maker.cancel_all(conditional=1)
    done = world.exchange.ack(DEPOSIT, deposit_body(made[0]["account_id"], 10 * USDC),
                              world.exchange.operator)
    table.same("one is funded", done["status"], DONE)
    table.true("the next comes", world.sign_up()["success"], None)
    table.same("and no other", world.sign_up()["message"], "creation_rejected")
    return table.wrong


@suite.case
def fills_the_duplicate_set(world):
    """Of a set of 4,096 ids an account has the 3 * 45 that a write a second lets it bring, although
    its burst is more; it waits for the first of them to go, and the others go on."""
    table = Table()
    options = ("--exchange.oracle_max_age_ms=0", "--limits.write_rate=1", "--limits.total_rate=90",
               "--limits.duplicate_slots=4096", *client.SMALL_TABLES)
    with client.Perpd(perpd_program(), *options) as perpd:
        exchange = perpd.exchange
        table.same("a price", exchange.set_price(BTC_PRICE, BTC)["status"], DONE)
        greedy, maker = client.Account(exchange, 0), client.Account(exchange, 1000 * USDC)

        def patient(ask):
            """Its answer, but for the rate of all together."""
            answer = ask()
            while answer["status"] == LIMITED and answer["retry_after_ms"] < 5000:
                time.sleep(answer["retry_after_ms"] / 1000)
                answer = ask()
            return answer
        used = 0
        while used < 200 and patient(lambda: greedy.limit(BID, 20))["status"] != LIMITED:
            used += 1
        table.true("its grant", 120 <= used <= 135, used)
        refused = patient(greedy.cancel_all)
        table.true("a cancel too", refused["status"] == LIMITED and
                   20000 < refused["retry_after_ms"] < 45000, refused)
        table.same("the maker quotes", patient(lambda: maker.limit(BID, 20))["status"], DONE)
        table.same("and cancels", patient(maker.cancel_all)["status"], DONE)
    return table.wrong


def from_address(exchange, number, key, session):
    """A creation from the number-th address of 127.0.0.0/8."""
    request = exchange.signed(CREATE_ACCOUNT, account_body(session.public), key)
    with exchange.open(source=f"127.{number // 200}.{number % 200 + 1}.7") as connection:
        return connection.exchange(request).json


@suite.case
def one_address(world):
    """Of the unfunded accounts an address makes an eighth, and as many again in their life: then it
    is told when the next may come, and goes on asking and reading meanwhile. Its neighbours have
    what one more has, whoever of them asks; other addresses make theirs."""
    table = Table()
    options = [f"--limits.{name}={value}" for name, value in OPTIONS.items()]
    with client.Perpd(perpd_program(), *options, "--limits.unfunded_burst=0",
                      f"--limits.unfunded_life_s={LIFE_MS // 1000}",
                      *client.SMALL_TABLES) as perpd:
        exchange = perpd.exchange
        share = UNFUNDED_ACCOUNTS // 8

        def create(connection):
            session = Ed25519Key()
            return connection.exchange(exchange.signed(
                CREATE_ACCOUNT, account_body(session.public), Secp256k1Key())).json
        with exchange.open(source="127.1.1.1") as connection:
            for number in range(share):
                table.true(f"account {number}", create(connection)["success"], number)
            for number in range(12):  # more than a fast bucket refuses before it stops reading
                refused = create(connection)
                table.same("its answer", refused["message"], LIMITED)
                table.true("when again", LIFE_MS / share - PATIENCE_MS < refused["retry_after_ms"]
                           <= LIFE_MS / share, refused)
            shown = connection.exchange(request_bytes("GET", "/api/v1/limits")).json
            table.same("the limit", shown["limits"]["unfunded_burst"], share)
            table.same("what is left", shown["remaining"]["creation"], 0)
        made = [0, 0]
        for prefix in (1, 2):
            for number in range(2, 2 + 3 * share):
                with exchange.open(source=f"127.1.{prefix}.{number}") as connection:
                    made[prefix - 1] += create(connection)["success"]
        table.same("of neighbours, and of others", made, [share, 2 * share])
    return table.wrong


@suite.case
def newcomer_takes_the_oldest(world):
    """From many addresses the share of the unfunded is used up. When they are old enough, a
    newcomer gets the slot of the oldest; its former owner reaches nothing under the former id,
    though his keys sign up again; and all that stands after a kill. Its time passes in a start
    whose clock is ahead."""
    table = Table()
    with stepped_clock(f"--limits.unfunded_life_s={LIFE_MS // 1000}") as perpd:
        oldest_gives_way(table, perpd)
    return table.wrong


@contextlib.contextmanager
def stepped_clock(*options):
    """An exchange whose wall clock start_ahead sets."""
    perpd = client.Perpd(perpd_program().parent / "tests" / "perpd_stepped",
                         "--exchange.oracle_max_age_ms=0", *options,
                         *[f"--limits.{name}={value}" for name, value in OPTIONS.items()],
                         *client.SMALL_TABLES)
    clock = perpd.folder / "clock"
    clock.write_bytes(bytes(8))
    os.environ["STEPPED_CLOCK"] = str(clock)
    now_ms = client.now_ms
    try:
        with perpd:
            yield perpd
    finally:
        client.now_ms = now_ms


def start_ahead(table, perpd, ahead_ms):
    """Kills it and starts it with another wall clock, which this process keeps too."""
    perpd.stop(signal.SIGKILL)
    perpd.process.stdout.close()
    (perpd.folder / "clock").write_bytes(struct.pack("<q", ahead_ms * 10**6))
    client.now_ms = lambda: time.time_ns() // 10**6 + ahead_ms
    exchange = perpd.start()
    table.same("a price", exchange.set_price(BTC_PRICE, BTC)["status"], DONE)
    return exchange


def oldest_gives_way(table, perpd):
    exchange = perpd.exchange
    table.same("a price", exchange.set_price(BTC_PRICE, BTC)["status"], DONE)
    maker, first = client.Account(exchange, 100_000 * USDC), client.Account(exchange)
    ended = exchange.ack(PLACE_LIMIT, client.limit_body(first.id, BID, 20), first.session)
    table.same("its order was refused", ended["status"] == DONE, False)
    made, keys = 1, (Secp256k1Key(), Ed25519Key())
    while made <= UNFUNDED_ACCOUNTS \
            and from_address(exchange, made, Secp256k1Key(), Ed25519Key())["success"]:
        made += 1
    table.same("the share is used up", made, UNFUNDED_ACCOUNTS)
    table.same("the maker quotes", maker.limit(BID, 20)["status"], DONE)

    def again(ahead_ms):
        maker.exchange = start_ahead(table, perpd, ahead_ms)
        return maker.exchange
    exchange = again(LIFE_MS + 80_000)  # a creation may come again for 30 s, and as long is it kept
    born = from_address(exchange, made, *keys)
    table.same("a newcomer comes in", born.get("account_id"), first.id + (1 << 32))
    for turn in ("", " after a kill"):
        refused = exchange.ack(CANCEL_ALL, client.cancel_all_body(first.id), first.session)
        table.same("a former session" + turn, refused["status"], "rejected_unauthorized")
        table.same("a former API key" + turn, seen(
            lambda: exchange.get("/api/v1/account", first.api_key).status, 401), 401)
        lost = exchange.ack(DEPOSIT, deposit_body(first.id, 7 * USDC), exchange.operator)
        table.same("a deposit to it" + turn, lost["status"], "rejected_invalid_portfolio_id")
        own = exchange.ack(CANCEL_ALL, client.cancel_all_body(born["account_id"]), keys[1])
        table.same("the newcomer acts" + turn, own["status"], DONE)
        table.same("the maker goes on" + turn, maker.limit(BID, 20)["status"], DONE)
        if not turn:
            back = from_address(exchange, 1, first.master, Ed25519Key())
            table.true("the former keys sign up again", back["success"]
                       and back["account_id"] not in (first.id, born["account_id"]), back)
            exchange = again(LIFE_MS + 80_000)
    table.same("the audit", exchange.audit()["recount_differences"], 0)


if __name__ == "__main__":
    sys.exit(run(suite, World, [f"--limits.{name}={value}" for name, value in OPTIONS.items()]))
