"""world.py - the exchange that the conformance suites share: prices, a rich account, constants.
"""
import subprocess
import time

import client
from answers import Answers
from client import Account, Perpd
from harness import only, perpd_program

SECOND = 1_000_000_000
DAY = 86_400 * SECOND
USDC = 1_000_000
BTC, ETH, SOL, XRP, DOGE, TEST = 1, 2, 3, 4, 5, 6
NO_MARK = DOGE  # no oracle price is ever sent for it
BTC_PRICE = 1_000_000  # 100,000.0 USDC: price_decimals 1

# A read waits for a follower that lags instead of answering 503 (roles.md, Flow control): how far
# one command of thousands of fills leaves it behind depends on the machine.
SLOW_FOLLOWER = f"--node.follower_lag_max={client.PATIENCE_S * 1000}"


class World:
    """The exchange, with prices, a rich account and a market whose lot is ten raw units."""

    def __init__(self, exchange):
        self.exchange = exchange
        self.btc(BTC_PRICE)
        self.rich = Account(exchange, 1_000_000 * USDC)

    def btc(self, price):
        done = self.exchange.set_price(price, BTC)
        assert done["status"] == "request_completed", done

    def account(self, usdc=100_000):
        return Account(self.exchange, usdc * USDC)


def seen(look, want, seconds=client.PATIENCE_S):
    """What `look` gives: `want` as soon as it gives that, the last after so long."""
    until = time.monotonic() + seconds
    while (got := look()) != want and time.monotonic() < until:
        time.sleep(0.01)
    return got


def while_it_lasts(attempt):
    """`attempt(expiry_ns)` places what lives until then and gives what it saw of it; again with a
    longer life when it was not done before, however slow the machine is. Ends behind the expiry."""
    life = SECOND
    while True:
        expiry = time.time_ns() + life
        result = attempt(expiry)
        in_time = time.time_ns() < expiry
        sleep_until(expiry + SECOND // 10)
        if in_time:
            return result
        life *= 4


def sleep_until(time_ns):
    time.sleep(max(0, time_ns - time.time_ns()) / SECOND)


def begin_away_from_the_hour(seconds=60):
    """R5: at each full hour positions pay funding, and at midnight volumes move on (R6): numbers
    worked out by hand hold between them."""
    left = 3_600 - time.time() % 3_600
    if left < seconds:
        time.sleep(left + 1)


def audit_journal(perpd):
    """1 if a record, its signer or its signature is not as perpd lets them in."""
    done = subprocess.run([perpd_program().parent / "perp", "audit", "signatures", "--data",
                           perpd.folder / "data"], capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        print(f"FAILED perp audit: {done.stdout}{done.stderr}")
    return int(done.returncode != 0)


def run(suite, make_world=World, options=("--limits.open_orders=20",), window=client.LONG_WINDOW,
        audits=False):
    """Runs a suite on one exchange; the audit must hold at its end, and SIGTERM end it with 0.
    `window`: for how long ids are taken; () is perpd's default. `audits`: `perp audit signatures`
    proves the journal, too."""
    client.check_vectors()
    begin_away_from_the_hour()
    perpd = Perpd(perpd_program(), "--exchange.oracle_max_age_ms=0", SLOW_FOLLOWER, *options,
                  *window, *client.SMALL_TABLES)
    try:
        exchange, answers = perpd.start(), Answers()
        answers.watch(exchange)
        result = suite.run(make_world(exchange), only())
        if answers.wrong:
            print("FAILED answers against docs/openapi.json:", *answers.wrong[:40], sep="\n    ")
            result = 1
        audit = perpd.exchange.audit()
        if not all(audit[f"i{number}"] for number in range(1, 7)) or audit["recount_differences"]:
            print(f"FAILED audit (R2): {audit}")
            result = 1
        code = perpd.stop()
        if code != 0:
            print(f"FAILED stop: exit code {code}\n{perpd.log()}")
            result = 1
        if code == 0 and audits:
            result |= audit_journal(perpd)
        return result
    finally:
        perpd.remove()
