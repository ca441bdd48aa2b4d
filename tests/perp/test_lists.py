"""test_lists.py BUILD - lists: what is asked for, how pages follow each other, what is shown."""
import json
import sys
import urllib.parse

from fake import Exchange, Perp, check, problem

perp = Perp(sys.argv[1])
KEYED = ["--api-key", "a2V5"]


def order(place, status="FILLED", market="BTC-PERP"):
    return {"account_id": 7, "subaccount_index": 0, "portfolio_index": 0,
            "id": f"0198c0de-0000-7000-8000-{place:012x}", "initial_size": "0.5",
            "remaining_size": "0", "market": market, "order_status": status,
            "order_type": "LIMIT", "side": "SHORT", "price": "100000", "filled_size": "0.5",
            "average_price": None, "time_in_force": "GTC", "sequence": place // 2 + 1,
            "index": place % 2, "time": 1755582431240, "time_ns": 1755582431240112233}


class Listing(Exchange):
    """Serves `rows`, newest first, by the paging parameters of wire.md W7."""

    def __init__(self, path, rows, member=None):
        super().__init__()
        self.path, self.rows, self.member = path, rows, member

    def answer(self, method, target):
        path, _, query = target.partition("?")
        if path != self.path:
            return super().answer(method, target)
        asked = dict(urllib.parse.parse_qsl(query))
        rows = self.rows
        if "status" in asked:
            rows = [row for row in rows if row["order_status"] == asked["status"]]
        if "before_sequence" in asked:
            before = int(asked["before_sequence"]), int(asked.get("before_index", 0))
            rows = [row for row in rows if (row["sequence"], row["index"]) < before]
        rows = rows[int(asked.get("offset", 0)):]
        page = rows[:int(asked["limit"])]
        if self.member is None:
            return 200, page
        last = page[-1] if len(rows) > len(page) else {"sequence": None, "index": None}
        return 200, {"market": "BTC-PERP", "seq": 9, self.member: page,
                     "next_before_sequence": last["sequence"], "next_before_index": last["index"]}

    def queries(self):
        asked = [dict(urllib.parse.parse_qsl(target.partition("?")[2]))
                 for _, target, *_ in self.seen]
        self.seen.clear()
        return asked


def rows_of(*words, environment=None):
    done = perp.run(*words, "--url", exchange.url, "-o", "json", environment=environment)
    return json.loads(done.stdout)


# Orders: pages of at most 1,000, each after the last row of the one before; none twice or missed.
all_orders = [order(place) for place in range(2500, 0, -1)]
exchange = Listing("/api/v1/orders", all_orders)
check(rows_of("orders", *KEYED) == all_orders[:100])
check(exchange.seen[-1][2]["x-api-key"] == "a2V5")
check(exchange.queries() == [{"limit": "100"}])
check(rows_of("orders", *KEYED, "--limit", "20000") == all_orders)
asked = exchange.queries()
check([query["limit"] for query in asked] == ["1000"] * 3, asked)
check([query.get("before_sequence") for query in asked] == [None, "751", "251"], asked)
check([query.get("before_index") for query in asked] == [None, "1", "1"], asked)
check(rows_of("orders", *KEYED, "--limit", "1001") == all_orders[:1001])
check([query["limit"] for query in exchange.queries()] == ["1000", "1"])
check(rows_of("orders", *KEYED, "--offset", "2400", "--limit", "1000") == all_orders[2400:])
check(rows_of("orders", *KEYED, "--before", "10:1", "--limit", "3")
      == [order(18), order(17), order(16)])
check(rows_of("orders", *KEYED, "--before", "10", "--limit", "1") == [order(17)])
exchange.queries()

# The place to go on from is named below a full page, and goes on there.
done = perp.run("orders", *KEYED, "--url", exchange.url, "--limit", "2")
check("--before 1250:1" in done.stderr and len(done.stdout.splitlines()) == 3, done)
lines = done.stdout.splitlines()
check(lines[0].split()[:3] == ["time", "id", "market"], lines)
check("2025-08-19T05:47:11.240Z" in lines[1] and order(2500)["id"] in lines[1], lines)
done = perp.run("orders", *KEYED, "--url", exchange.url, "--before", "1:1")
check(done.stdout == "no orders\n" and done.stderr == "", done)
exchange.queries()

# Filters: a portfolio only when it was named; --all takes it off again.
rows_of("orders", *KEYED, "--portfolio", "3", "--subaccount", "2", "--market", "ETH-PERP",
        "--status", "CANCELED")
check(exchange.queries() == [{"subaccount_index": "2", "portfolio_index": "3",
                              "market": "ETH-PERP", "status": "CANCELED", "limit": "100"}])
rows_of("orders", *KEYED, "--all", environment={"PERP_PORTFOLIO": "3"})
check(exchange.queries() == [{"limit": "100"}])

# --open: orders UNTRIGGERED, OPEN and PARTIALLY_FILLED, newest first; one that went from one to the
# next between the reads is shown once, as it is now.
moved, still = order(30, "OPEN"), order(21, "OPEN")
fired = order(50, "UNTRIGGERED")
exchange.rows = [dict(fired, order_status="OPEN"), fired, order(45, "UNTRIGGERED"),
                 order(40, "PARTIALLY_FILLED"), dict(moved, order_status="PARTIALLY_FILLED"), moved,
                 order(25, "FILLED"), still, order(20, "PARTIALLY_FILLED")]
shown = rows_of("orders", *KEYED, "--open")
check([(row["sequence"], row["index"], row["order_status"]) for row in shown]
      == [(26, 0, "OPEN"), (23, 1, "UNTRIGGERED"), (21, 0, "PARTIALLY_FILLED"),
          (16, 0, "PARTIALLY_FILLED"), (11, 1, "OPEN"), (11, 0, "PARTIALLY_FILLED")], shown)
check([query["status"] for query in exchange.queries()]
      == ["UNTRIGGERED", "OPEN", "PARTIALLY_FILLED"])
check(len(rows_of("orders", *KEYED, "--open", "--limit", "3")) == 3)

# A page that the exchange does not keep is an error, never a short list.
exchange.answers["/api/v1/fills"] = problem(503, "not_ready")
done = perp.run("fills", *KEYED, "--url", exchange.url, code=3)
check("not_ready" in done.stderr and done.stdout == "", done)
exchange.queries()
exchange.answers["/api/v1/fills"] = (200, [])
check(rows_of("fills", *KEYED) == [])
check(exchange.queries() == [{"subaccount_index": "0", "limit": "100"}])

# A row without its place cannot be paged past.
exchange.answers["/api/v1/fills"] = (200, [{"id": "x"}])
check("no sequence and index" in perp.run("fills", *KEYED, "--url", exchange.url, code=3).stderr)
exchange.answers["/api/v1/fills"] = (200, {"fills": []})
check("no list of fills" in perp.run("fills", *KEYED, "--url", exchange.url, code=3).stderr)

# Lists without pages.
position = {"account_id": 7, "subaccount_index": 0, "portfolio_index": 1, "market": "BTC-PERP",
            "side": "SHORT", "size": "0.3", "liquidation_price": None, "leverage": 25}
exchange.answers["/api/v1/positions"] = (200, [position])
exchange.answers["/api/v1/portfolio/cash_balances"] = (200, [{"name": "Main", "equity": "5"}])
exchange.answers["/api/v1/subaccounts"] = (200, [])
exchange.queries()
check(rows_of("positions", *KEYED, "--market", "BTC-PERP") == [position])
check(exchange.queries() == [{"market": "BTC-PERP"}])
lines = perp.run("positions", *KEYED, "--url", exchange.url).stdout.splitlines()
check(lines[1].split()[:8] == ["0", "1", "BTC-PERP", "SHORT", "0.3", "-", "25"][:8], lines)
check(rows_of("balances", *KEYED)[0]["name"] == "Main")
check(perp.run("subaccounts", *KEYED, "--url", exchange.url).stdout == "no subaccounts\n")

# Leverage is read beside the position of the portfolio, written with PUT.
check(rows_of("leverage", "BTC-PERP", *KEYED, "--portfolio", "1")["leverage"] == 25)
done = perp.run("leverage", "BTC-PERP", *KEYED, "--url", exchange.url, "-o", "json")
check(json.loads(done.stdout)["leverage"] is None and "no position" in done.stderr, done)
stored = {"account_id": 7, "subaccount_index": 2, "portfolio_index": 1, "market": "BTC-PERP",
          "leverage": 10}
exchange.answers["/api/v1/leverage"] = (200, stored)
check(rows_of("leverage", "BTC-PERP", "10", *KEYED, "--subaccount", "2", "--portfolio", "1")
      == stored)
method, target, headers, body = exchange.last()
check((method, target, headers["content-type"]) == ("PUT", "/api/v1/leverage", "application/json"))
check(json.loads(body) == {key: stored[key] for key in stored if key != "account_id"}, body)
exchange.answers["/api/v1/leverage"] = problem(403, "read_only_key")
check("READ_WRITE" in perp.run("leverage", "BTC-PERP", "10", *KEYED, "--url", exchange.url,
                               code=3).stderr)

# One record by its id.
exchange.answers["/api/v1/requests/0198c0de-0000-7000-8000-0000000000a1"] = (
    200, {"request_id": "0198c0de-0000-7000-8000-0000000000a1", "status": "request_completed"})
check(rows_of("request", "0198C0DE-0000-7000-8000-0000000000A1", *KEYED)["status"]
      == "request_completed")
check(exchange.last()[2]["x-api-key"] == "a2V5")

# Public trades: an object with its rows, pages joined, the next place that of the last page.
trades = [{"price": "1", "size": "2", "taker_side": "LONG", "liquidation": False, "trade_seq": n,
           "sequence": n, "index": 0, "time": 1755582431240} for n in range(1500, 0, -1)]
exchange = Listing("/api/v1/markets/BTC-PERP/trades", trades, "trades")
shown = rows_of("trades", "BTC-PERP", "--limit", "1200")
check(shown["trades"] == trades[:1200] and shown["next_before_sequence"] == 301, shown.keys())
shown = rows_of("trades", "BTC-PERP", "--limit", "1500")
check(shown["trades"] == trades and shown["next_before_sequence"] is None)
check("x-api-key" not in exchange.last()[2])

# Limits: with the API key where there is one.
exchange.answers["/api/v1/limits"] = (200, {"rate_limits": False})
rows_of("limits")
check("x-api-key" not in exchange.last()[2])
rows_of("limits", *KEYED)
check(exchange.last()[2]["x-api-key"] == "a2V5")
