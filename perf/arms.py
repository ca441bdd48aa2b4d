"""arms.py [--streams N] [--orders N] [--rounds N] [PERPD] - what cancel-on-disconnect costs.

    python3 perf/arms.py --streams 100 --orders 20 build/release/perpd

So many streams, each of an account of its own with so many resting orders, arm with a grace of 0,
one after the other; then all connections end at once. Medians of the rounds:
  arm       from the op to its answer, which is sent when the arm is durable: p50 and p99
  matcher   CPU of the matcher's thread an arm, and an order that a disconnect cancels
  gone      from the end of the connections until no order rests
"""
import os
import pathlib
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "system"))
sys.path.insert(0, str(ROOT / "tools"))
import client  # noqa: E402
import command_line  # noqa: E402
import ws_client  # noqa: E402
from streams import OPTIONS, cpu_s, part, program_of_words, value_of  # noqa: E402

BTC_PRICE = 1_000_000


class Armed:
    """An account with a key that may arm its stream."""

    def __init__(self, exchange):
        self.account = client.Account(exchange, 10_000_000_000)
        self.key = exchange.ack(client.CREATE_API_KEY, client.api_key_body(
            self.account.id, scope=1), self.account.session)["api_key"]

    def rest(self, exchange, count):
        for at in range(count):
            answer = self.account.limit(BTC_PRICE - 1_000 - at, 20)
            assert answer["status"] == "request_completed", answer
        self.stream = ws_client.Stream(exchange)
        self.stream.ask(op="login", api_key=self.key)
        assert "account_id" in self.stream.next()

    def arm(self):
        """How many us the answer took."""
        begun = time.monotonic()
        self.stream.ask(op="cancel_on_disconnect", arm_id=client.id_text(client.new_id()),
                        subaccount_index=0, enabled=True, grace_ms=0)
        answer = self.stream.next()
        assert answer["enabled"], answer
        return (time.monotonic() - begun) * 1e6


def matcher_s(perpd):
    return part(cpu_s(perpd), "matcher")


def one_round(perpd, many, orders):
    """us: arm p50, p99, the matcher's CPU an arm and an order, until all are gone."""
    exchange = perpd.exchange
    for one in many:
        one.rest(exchange, orders)
    before = matcher_s(perpd)
    took = sorted(one.arm() for one in many)
    armed = matcher_s(perpd)
    begun = time.monotonic()
    for one in many:
        one.stream.end()
    while exchange.get("/api/v1/markets/BTC-PERP/book?depth=1").json["bids"]:
        time.sleep(0.001)
    gone = time.monotonic() - begun
    ended = matcher_s(perpd)
    return (took[len(took) // 2], took[len(took) * 99 // 100], (armed - before) / len(many) * 1e6,
            (ended - armed) / len(many) / orders * 1e6, gone * 1e6)


def main():
    count, orders = value_of("--streams", 100), value_of("--orders", 20)
    rounds = value_of("--rounds", 5)
    program = program_of_words()
    with client.Perpd(program, *client.SMALL_TABLES, *OPTIONS,
                      f"--limits.stream_connections={count}") as perpd:
        perpd.exchange.set_price(BTC_PRICE)
        many = [Armed(perpd.exchange) for _ in range(count)]
        rows = [one_round(perpd, many, orders) for _ in range(rounds)]
    p50, p99, arm, order, gone = (statistics.median(column) for column in zip(*rows))
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} CPUs, {rounds} rounds, "
          f"{count} streams, {orders} orders of each")
    print(f"arm      p50 {p50:.0f} us, p99 {p99:.0f} us")
    print(f"matcher  {arm:.0f} us an arm, {order:.1f} us an order that a disconnect cancels")
    print(f"gone     {gone / 1000:.1f} ms")


if __name__ == "__main__":
    if {"-h", "--help"} & set(sys.argv):
        command_line.check(__doc__, 0, 0)
    main()
