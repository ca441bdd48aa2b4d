"""ccxt_watch_python.py - what the class of ccxt for Python watches, its batches, its orders over
the stream and with exits, its money, and what it refuses.
"""
import asyncio
import struct

import client
from peers import FakeStream

import perpd
from perpd.http import Origin
from perpd.stream import Stream

BTC = "BTC/USDC:USDC"
CREATE_SUBACCOUNT = 22
ADDRESS = "0x" + "11" * 20


async def thrown(awaitable):
    try:
        await awaitable
    except Exception as error:
        return type(error).__name__
    return None


async def money(table, here, ex):
    """Currencies, tiers, positions, deposits, withdrawals, transfers."""
    market = here.exchange.get("/api/v1/markets/BTC-PERP").json
    table.same("currencies", list(await ex.fetch_currencies()), ["USDC"])
    tiers = (await ex.fetch_leverage_tiers([BTC]))[BTC]
    table.same("tiers", [(one["maxLeverage"], one["maintenanceMarginRate"], one["maxNotional"])
                         for one in tiers],
               [(one["max_leverage"], one["mmr_ppm"] / 1e6, one["upper_notional"] and
                 float(one["upper_notional"])) for one in market["tiers"]])
    table.same("from one to the next", [one["minNotional"] for one in tiers],
               [0.0] + [one["maxNotional"] for one in tiers[:-1]])
    table.same("no leverage", await thrown(ex.fetch_leverage(BTC)), "ExchangeError")
    here.other.limit(1_000_000, -1000)
    await ex.create_order(BTC, "market", "buy", "0.01")
    held = here.rich.read("/api/v1/positions?market=BTC-PERP").json[0]
    table.same("a position", (await ex.fetch_position(BTC))["contracts"], float(held["size"]))
    table.same("its leverage", (await ex.fetch_leverage(BTC))["longLeverage"], held["leverage"])
    table.same("its rank", (await ex.fetch_adl_rank(BTC))["rank"], held["adl_quantile"])
    rows = here.rich.read("/api/v1/cash/history?subaccount_index=0&portfolio_index=0"
                          "&limit=1000").json["history"]
    table.same("deposits", [one["amount"] for one in await ex.fetch_deposits("USDC")],
               [float(row["amount"]) for row in reversed(rows)
                if row["kind"] in ("deposit", "faucet")])
    gone = await ex.withdraw("USDC", "1.5", ADDRESS)
    table.same("a withdrawal", (gone["status"], await settled(ex.fetch_withdrawals, gone["id"])),
               ("pending", (1.5, None)))
    client.PATHS[CREATE_SUBACCOUNT] = "/api/v1/subaccounts/create"
    sub = here.exchange.ack(CREATE_SUBACCOUNT, struct.pack("<Q", here.rich.id),
                            here.rich.master)["subaccount_index"]
    await ex.transfer("USDC", "2.5", "0", str(sub))
    while not (moved := await ex.fetch_transfers()):
        await asyncio.sleep(0.02)
    table.same("a transfer", (moved[-1]["amount"], moved[-1]["fromAccount"]), (2.5, "0"))
    table.same("refused", [await thrown(one) for one in (
        ex.transfer("BTC", 1, "0", "1"), ex.transfer("USDC", 1, "7", "1"),
        ex.transfer("USDC", 1, "0", ""), ex.transfer("USDC", 1, "0", "-1"),
        ex.withdraw("USDC", "1", ADDRESS, "a tag"),
        ex.withdraw("USDC", "1", ADDRESS, None, {"network": "one"}),
        ex.create_order(BTC, "limit", "sell", "1", "1", {"reduceOnly": "true"}),
        ex.watch_tickers([]), ex.withdraw("USDC", "1", "0x12"), ex.set_margin_mode("isolated", BTC),
        ex.set_position_mode(True), ex.fetch_deposit_address("USDC"))],
        ["BadRequest"] * 9 + ["NotSupported"] * 3)


async def settled(read, row_id):
    while True:  # reads may still lag
        for row in await read():
            if row["id"] == row_id:
                return row["amount"], row["status"]
        await asyncio.sleep(0.02)


async def watches(table, here, ex):
    """Each watch gives what the reads show, each trade once."""
    here.other.cancel_all()
    here.other.limit(1_000_000, -100_000)
    calls = {"book": lambda: ex.watch_order_book(BTC, 10), "trades": lambda: ex.watch_trades(BTC),
             "tops": lambda: ex.watch_bids_asks([BTC]), "ticker": lambda: ex.watch_ticker(BTC),
             "candles": lambda: ex.watch_ohlcv(BTC, "1d"), "orders": lambda: ex.watch_orders(BTC),
             "fills": lambda: ex.watch_my_trades(BTC), "balance": ex.watch_balance,
             "positions": lambda: ex.watch_positions([BTC])}
    waits = {name: asyncio.create_task(call()) for name, call in calls.items()}
    made = []
    while not all(one.done() for one in waits.values()):
        made.append((await ex.create_order(BTC, "market", "buy", "0.001"))["id"])
        await asyncio.sleep(0.1)
    got = {name: one.result() for name, one in waits.items()}
    table.same("the book", (got["book"]["asks"][0][0], got["book"]["bids"]), (100_000.0, []))
    table.same("a trade", [got["trades"][0][name] for name in ("side", "price", "amount")],
               ["buy", 100_000.0, 0.001])
    table.same("best prices", (got["tops"][BTC]["ask"], got["tops"][BTC]["bid"]), (100_000.0, None))
    table.same("a ticker", (got["ticker"]["symbol"], got["ticker"]["ask"]), (BTC, 100_000.0))
    table.same("a candle", (len(got["candles"][-1]), got["candles"][-1][4]), (6, 100_000.0))
    table.true("an order", got["orders"][0]["id"] in made, got["orders"])
    table.true("a fill", got["fills"][0]["order"] in made, got["fills"])
    table.true("cash", got["balance"]["USDC"]["total"] > 0)
    table.same("a position", (got["positions"][0]["symbol"], got["positions"][0]["side"]),
               (BTC, "long"))
    await ex.un_watch_trades(BTC)
    first = asyncio.create_task(ex.watch_trades(BTC))
    while not first.done():
        await ex.create_order(BTC, "market", "buy", "0.001")
        await asyncio.sleep(0.05)
    both = [asyncio.create_task(ex.watch_trades(BTC)) for _ in range(2)]
    await asyncio.sleep(0)
    for size in ("0.002", "0.003", "0.004"):
        await ex.create_order(BTC, "market", "buy", size)
    sizes = [(await both[0])[0]["amount"]]
    table.same("two that wait get the same", await both[1], await both[0])
    while sizes[-1] != 0.004:
        sizes.append((await ex.watch_trades(BTC))[0]["amount"])
    table.same("each once", sizes[-3:], [0.002, 0.003, 0.004])
    waits = asyncio.create_task(ex.watch_trades(BTC))
    await asyncio.sleep(0.05)
    await ex.un_watch_trades(BTC)
    table.same("not watched any more", await thrown(waits), "NetworkError")
    await closes(table, ex)
    await deeper(table, ex)
    await owed(table, ex)
    await newest(table)
    await liquidations(table, here)


async def closes(table, ex):
    """A position that is closed is told with nothing left."""
    wait, other = (asyncio.create_task(ex.watch_positions(*of)) for of in ([[BTC]], []))
    await asyncio.sleep(0.1)
    await ex.create_order(BTC, "limit", "buy", "0.001", "99999.9")
    await ex.cancel_all_orders(BTC)
    await ex.create_order(BTC, "market", "buy", "0.001")
    rows = await wait
    table.true("it grew", rows[0]["contracts"] > 0, rows)
    table.same("to who watches all too", (await other)[0]["symbol"], BTC)


async def deeper(table, ex):
    """A book that is watched with a greater limit has more; who waits for less is not ended."""
    prices = [str(90_000 + number) for number in range(12)]
    rows = await ex.create_orders([{"symbol": BTC, "type": "limit", "side": "buy",
                                    "amount": "0.001", "price": price} for price in prices])
    await ex.un_watch_order_book(BTC)
    while len((await ex.watch_order_book(BTC, 10))["bids"]) < 10:
        pass
    waits = asyncio.create_task(ex.watch_order_book(BTC, 10))
    await asyncio.sleep(0)
    while len((await ex.watch_order_book(BTC, 50))["bids"]) < 12:
        pass
    table.same("of ten", len((await waits)["bids"]), 10)
    await ex.cancel_orders([row["id"] for row in rows])


async def owed(table, ex):
    """What has changed is read by the next call when the read behind it fails."""
    session = (await ex._client()).session
    real, failed = session.get, []

    async def get(path, *words, **named):
        if path == "/portfolio/balance" and not failed:
            failed.append(path)
            raise perpd.Lost("planted", True)
        return await real(path, *words, **named)
    session.get = get
    waits = asyncio.create_task(ex.watch_balance())
    await asyncio.sleep(0)
    while not waits.done():
        await ex.create_order(BTC, "market", "buy", "0.001")
        await asyncio.sleep(0.05)
    table.same("a read that fails", await thrown(waits), "NetworkError")
    table.same("it stays owed", list(ex._owed), [("balance",)])
    table.true("it is read", (await ex.watch_balance())["USDC"]["total"] > 0)
    table.same("then not owed", list(ex._owed), [])
    session.get = real


async def newest(table):
    """Of what comes faster than it is taken the newest is given."""
    from perpd import ccxt_failure, ccxt_watch  # behind the stand-in of ccxt

    async def values():
        for one in range(20_000):
            yield one
        await asyncio.Event().wait()
    taken = ccxt_watch._newest(values())
    table.same("the newest", [await anext(taken)], [19_999])
    await taken.aclose()

    async def overrun():
        ccxt_failure.raise_failure(perpd.Overrun("planted"))
    table.same("an overrun", await thrown(overrun()), "NetworkError")


async def liquidations(table, here):
    """Each that comes, and an end where some may be missing."""
    row = {"side": "LONG", "price": "9", "size": "1", "level": 1, "sequence": 7, "index": 0,
           "time": 1, "time_ns": 1}

    async def play(peer):
        await peer.asked()
        head = {"channel": "liquidations", "market": "BTC-PERP", "engine_seq": 1, "time_ns": 1}
        await peer.send(**head, type="snapshot", seq=5, prev_seq=5, data={})
        await peer.send(**head, type="update", seq=6, prev_seq=5, data=row)
    async with perpd.connect(here.url) as ex, FakeStream(play) as fake:
        ex.stream = Stream(Origin(fake.url))
        values = ex.watch_liquidations(await ex.market("BTC-PERP"))
        table.same("a liquidation", await anext(values), row)
        table.same("then a break", await thrown(anext(values)), "Overrun")
        await ex.stream.close()


async def orders(table, here, ex):
    """A batch, an order with exits, and orders over the stream."""
    rows = await ex.create_orders([
        {"symbol": BTC, "type": "limit", "side": "buy", "amount": "0.01", "price": price,
         "params": {"postOnly": True}} for price in ("98000", "9800000", "98000.1")])
    table.same("a batch", [row["status"] for row in rows], ["open", "rejected", "open"])
    made = await ex.create_order_with_take_profit_and_stop_loss(
        BTC, "limit", "buy", "0.01", "97000", "120000", "80000")
    waiting = here.rich.read("/api/v1/orders?status=UNTRIGGERED").json
    table.same("exits", sorted((row["order_type"], row["trigger_price"], row["side"],
                                row["reduce_only"]) for row in waiting),
               [("STOP_MARKET", "80000", "SHORT", True),
                ("TAKE_PROFIT_MARKET", "120000", "SHORT", True)])
    await ex.cancel_orders([row["id"] for row in (*waiting, made, rows[0], rows[2])])
    await ex._ws().load_markets()
    http, paths = (await ex._ws()._client()).session.http, []
    real = http.request

    async def request(method, target, *words, **named):
        paths.append(target)
        return await real(method, target, *words, **named)
    http.request = request
    one = await ex.create_order_ws(BTC, "limit", "buy", "0.01", "98000", {"postOnly": True})
    moved = await ex.edit_order_ws(one["id"], BTC, "limit", "buy", "0.02", "98000.1")
    table.same("over the stream", (moved["id"], moved["price"], moved["remaining"],
                                   [path for path in paths if "trading" in path]),
               (one["id"], 98000.1, 0.02, []))
    ended = await ex.cancel_order_ws(one["id"])
    table.same("canceled", (ended["status"], (await ex.fetch_order(one["id"]))["status"]),
               ("canceled", "canceled"))
