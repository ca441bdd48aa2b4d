"""test_python_live.py BUILD - clients/python with a running perpd, with a proxy that loses requests
and answers, and with a stream that errs. J: json.md, W: wire.md.
"""
import asyncio
import collections
import json
import signal
import sys
import threading
import time
from random import Random

import python_library  # noqa: F401  (it finds the folders)
from harness import Suite, Table  # noqa: E402
from peers import BTC, FATES, BookFaults, FakeStream, Proxy, changed, move  # noqa: E402
from peers import refuse, run_live, trade  # noqa: E402
import account_python  # noqa: E402
import binary_python  # noqa: E402
import breaks_python  # noqa: E402
import ccxt_python  # noqa: E402
import crowd  # noqa: E402
import examples_python  # noqa: E402
import restored_python  # noqa: E402
import client  # noqa: E402
import websockets_python  # noqa: E402

import perpd  # noqa: E402
import perpd.sync  # noqa: E402
from perpd.http import Origin  # noqa: E402
from perpd.stream import Stream  # noqa: E402
from perpd.ws import Closed, WebSocket  # noqa: E402

suite = Suite("client python live")
PAST_MS = 3_000  # the window of ids: what is lost for good is known soon


def case(function):
    """A case that is a coroutine; one that hangs fails."""
    def run(here):
        table = Table()
        asyncio.run(asyncio.wait_for(function(table, here), client.PATIENCE_S))
        return table.wrong
    run.__name__, run.__doc__ = function.__name__, function.__doc__
    return suite.case(run)


async def raised(kind, awaitable):
    try:
        await awaitable
    except kind as error:
        return error
    return None


async def until(look):
    while not look():
        await asyncio.sleep(0.01)


@case
async def trading(table, here):
    """Each request of the library does what a client of its own says it did (J2, J4)."""
    async with perpd.connect(here.url, **here.secrets) as ex:
        market = await ex.market("BTC-PERP")

        def rest(order):
            shown = here.rich.order(order.id.bytes).json
            return shown["order_status"], shown["price"], shown["remaining_size"]
        order = await ex.place(market, "buy", "0.01", "99000", post_only=True)
        table.same("placed", rest(order), ("OPEN", "99000", "0.01"))
        await order.replace("99000.5", "0.02", expected_remaining=order.remaining)
        table.same("replaced", rest(order), ("OPEN", "99000.5", "0.02"))
        table.same("it knows", (str(order.price), str(order.remaining)), ("99000.5", "0.02"))
        wrong = await raised(perpd.Rejected, order.reduce("0.01", expected_remaining="0.01"))
        table.same("compare and set", wrong and wrong.status, "rejected_size_not_equal")
        await order.reduce("0.005")
        table.same("reduced", rest(order), ("OPEN", "99000.5", "0.015"))
        trigger = await ex.place_trigger(market, "sell", "0.01", "90000", "STOP_MARKET")
        table.same("waits", rest(trigger), ("UNTRIGGERED", None, "0.01"))
        await trigger.cancel()
        table.same("cancelled", rest(trigger)[0], "CANCELED")
        one, two, gone = await ex.batch([
            perpd.Placement(market, "buy", "0.01", "98000", post_only=True),
            perpd.Placement(market, "buy", "0.01", "9800000"), order])
        table.same("of a batch", (rest(one)[0], gone.status), ("OPEN", "CANCELED"))
        table.same("refused", isinstance(two, perpd.Rejected) and two.status,
                   "rejected_invalid_price")
        taken = await ex.place(market, "buy", "0.01", None)
        table.same("nothing to take", taken.status, "CANCELED")
        await ex.cancel_all(market)
        table.same("all", rest(one)[0], "CANCELED")
        for price, lower, upper in (("99000.05", "99000", "99000.1"), ("0.01", "0", "0.1")):
            off = await raised(perpd.NotOnGrid, ex.place(market, "buy", "1", price))
            table.same(price, off and (str(off.lower), str(off.upper)), (lower, upper))
        table.true("a float", await raised(TypeError, ex.place(market, "buy", 0.01, "99000")))
        table.same("leverage", (await ex.set_leverage(market, 10))["leverage"], 10)
        table.same("fills", await ex.fills(), [])
        table.same("positions", await ex.positions(market), [])
        table.same("newest", (await ex.orders(limit=1))[0]["id"], str(taken.id))


@case
async def of_another_exchange(table, here):
    """A key that is bound to another exchange signs nothing here."""
    seed = open(here.secrets["key"]).read() + f"exchange = {'ab' * 32}\n"
    wrong = perpd.connect(here.url, key=lambda: seed, api_key=here.secrets["api_key"])
    table.true("bound", await raised(perpd.WrongExchange, wrong.__aenter__()))
    foreign = perpd.SessionKey.generate()
    async with perpd.connect(here.url, key=foreign, api_key=here.secrets["api_key"]) as ex:
        refused = await raised(perpd.PerpdError, ex.cancel_all())
        table.true("an unknown key", refused and "unauthorized" in str(refused), refused)


@case
async def master_key(table, here):
    """What a master key signs is what the exchange reads (W4); it signs no order."""
    key = perpd.MasterKey(bytes(here.rich.master._secret),
                          here.exchange.get("/api/v1/exchange").json["exchange_id"])
    async with perpd.connect(here.url, key=key, api_key=here.secrets["api_key"]) as ex:
        done = await ex.withdraw("1", bytes(range(20)))
        table.same("withdraws", done.status, "request_completed")
        table.true("no order", await raised(ValueError, ex.cancel_all()))


@case
async def executed_once(table, here):
    """B3: behind a proxy that loses requests and answers each intent is executed at most once, and
    what the library says of it is what GET /requests/{id} says."""
    random, count = Random(40), 40

    def fate(_):
        return random.choice(FATES)
    async with Proxy(here.exchange.port, fate) as proxy, \
            perpd.connect(proxy.url, **here.secrets, timeout_s=2) as ex:
        market = await ex.market("BTC-PERP")
        sizes = [perpd.Amount(100 + number, 5) for number in range(count)]

        async def intend(size):
            try:
                return await ex.place(market, "buy", size, "98000", post_only=True)
            except perpd.NotExecuted as error:
                return error
        made = await asyncio.gather(*map(intend, sizes))
    fates = collections.Counter(fate for path, fate in proxy.seen if "place" in path)
    table.same("every fate was met", set(fates), set(FATES))
    table.true("some were sent again", sum(fates.values()) > count, fates)
    rows = here.rich.read("/api/v1/orders?status=OPEN&limit=1000").json
    shown = collections.Counter(row["initial_size"] for row in rows)
    for size, one in zip(sizes, made):
        is_order = isinstance(one, perpd.Order)
        table.same(f"orders of {size}", shown[str(size)], int(is_order))
        record = here.rich.read(f"/api/v1/requests/{one.id if is_order else one.request_id}")
        table.same(f"the request of {size}", record.status, 200 if is_order else 404)
    here.rich.cancel_all()


@case
async def not_executed(table, here):
    """B3.5: a request that never arrived is NotExecuted only when no admission is possible any
    more; one whose answer never came is found, also by another process."""
    heard, fates = [], {"place": "lost_before"}

    def fate(message):
        return fates["place"] if b"place" in message.split(b"\r\n")[0] else "pass"
    async with Proxy(here.exchange.port, fate) as proxy, perpd.connect(
            proxy.url, **here.secrets, on_intent=lambda made, sent: heard.append(made)) as ex:
        market = await ex.market("BTC-PERP")
        pending = await raised(perpd.OutcomePending, ex.place(market, "buy", "0.01", "98000",
                                                              deadline_s=0.5))
        table.same("before it is sent", heard, [pending and pending.request_id])
        lost = await raised(perpd.NotExecuted, pending.request)
        table.true("not executed", lost)
        id_ms = pending.request_id.int >> 80
        shown = here.exchange.get("/api/v1/markets/BTC-PERP/mark").json
        table.true("with proof", shown["time_ns"] > (id_ms + PAST_MS + 5_000) * 1_000_000, shown)
        fates["place"] = "lost_after"
        pending = await raised(perpd.OutcomePending, ex.place(market, "buy", "0.01", "98000",
                                                              deadline_s=0.2))
        async with perpd.connect(here.url, **here.secrets) as other:
            found = await other.outcome(pending.request_id)
            table.same("found", (found.status, found.is_first), ("request_completed", False))
            again = await other.place(market, "buy", "0.01", "98000",
                                      request_id=pending.request_id)
            table.same("the same order", (again.id, again.status), (pending.request_id, "OPEN"))
            table.same("one", len(await other.orders(status="OPEN")), 1)
        table.same("in the end", (await pending.request).status, "request_completed")
        await ex.cancel_all()


@case
async def cancels_go_first(table, _):
    """W8: behind a crowd of placements against a bucket of 10 a second, a cancel is sent at once
    and once: it waits for none of them, and its own bucket asks for nothing."""
    await crowd.cancels_first(table)


@case
async def faucet_once(table, here):
    """A lost answer of the faucet is not asked for again: it could credit twice."""
    async with Proxy(here.exchange.port, lambda _: "lost_after") as proxy, \
            perpd.connect(proxy.url, **here.secrets) as ex:
        before = perpd.Amount.of((await ex.balance())["equity"])
        table.true("lost", await raised(perpd.Lost, ex.faucet("7")))
        after = perpd.Amount.of((await ex.balance())["equity"])
        table.same("credited once", str(after - before), "7")
    table.same("sent once", [path for path, _ in proxy.seen].count("/api/v1/faucet"), 1)


@case
async def machine_clock(table, here):
    """The machine's own clock is never asked: ids are of the exchange's time."""
    for wrong_s in (3_600, -3_600):
        await at_a_wrong_clock(table, here, wrong_s)


async def at_a_wrong_clock(table, here, wrong_s):
    kept = time.time, time.time_ns
    time.time = lambda: kept[0]() + wrong_s
    time.time_ns = lambda: kept[1]() + wrong_s * 10**9
    try:
        async with perpd.connect(here.url, **here.secrets) as ex:
            order = await ex.place(await ex.market("BTC-PERP"), "buy", "0.01", "98000")
            table.same("accepted", order.status, "OPEN")
            table.true("the clock", abs(ex.session.clock.now_ns() - kept[1]()) < 10**9)
            # An offset that has become wrong: the first sending is refused and signed again.
            ex.session.clock.forget()
            now = ex.session.clock.monotonic_ns()
            ex.session.clock.add(kept[1]() + 60 * 10**9, now, now)
            again = await ex.place(await ex.market("BTC-PERP"), "buy", "0.02", "98000")
            table.same("signed again", again.status, "OPEN")
            await ex.cancel_all()
    finally:
        time.time, time.time_ns = kept


@case
async def book_and_trades(table, here):
    """The book equals REST's at the same seq; each trade comes once, though it is cut (J9)."""
    await follows(table, here, False)


@case
async def binary_book_and_trades(table, here):
    """The same over perps.bin.v1 (W9)."""
    await follows(table, here, True)


async def follows(table, here, is_binary):
    async with perpd.connect(here.url, binary=is_binary) as ex:
        market = await ex.market("BTC-PERP")
        trades, books, events = [], [], []

        async def follow(values, kept):
            async for value in values:
                kept.append(value)
        tasks = [asyncio.create_task(follow(*pair)) for pair in (
            (ex.watch_trades(market), trades), (ex.watch_book(market, 10), books),
            (ex.watch_events(), events))]
        await until(lambda: {one.channel for one in events if one.kind == "live"} ==
                    {"trades", "book"})
        first = (await ex.trades(market, 1))["trades"]
        first = first[0]["trade_seq"] if first else 0
        for round_number in range(4):
            await move(here, Random(round_number), 40)
            if round_number % 2:
                ex.stream._socket._writer.transport.abort()
                await until(lambda: ex.stream.reconnections == (round_number + 1) // 2)
            await until(lambda: books and books[0].is_live)
            while True:  # until REST and the stream show the same state
                shown = await ex.book_snapshot(market, 10)
                if shown["seq"] == books[0].seq:
                    break
                if not await changed(books[0]):
                    break
            table.same("the book", [[[str(price), str(size)] for price, size in side] for side in
                                    (books[0].bids(), books[0].asks())],
                       [shown["bids"], shown["asks"]])
        last = (await ex.trades(market, 1))["trades"][0]["trade_seq"]
        await until(lambda: trades and trades[-1].trade_seq == last)
        table.same("trades", [trade.trade_seq for trade in trades],
                   list(range(first + 1, last + 1)))
        table.same("connections", ex.stream.reconnections, 2)
        table.true("the checksum", books[0].faults == 0)
        bid, ask = books[0].best()
        if ask is not None:
            size = books[0].asks(1)[0][1]
            table.same("cost", books[0].cost("buy", size), ask * size)
        for task in tasks:
            task.cancel()


@case
async def after_a_kill(table, here):
    """kill -9 and a start: subscriptions come back, and trades go on without a gap."""
    async with perpd.connect(here.url) as ex:
        market = await ex.market("BTC-PERP")
        here.rich.cancel_all()
        here.other.cancel_all()
        values = ex.watch_trades(market)
        waiting = asyncio.create_task(anext(values))
        await until(lambda: ex.stream.epoch == 1)
        await asyncio.sleep(0.1)
        here.rich.limit(1_000_100, -10)
        here.other.limit(1_000_100, 10, expiry=client.IOC)
        first = await waiting
        here.restart()
        here.rich.limit(1_000_200, -10)
        here.other.limit(1_000_200, 10, expiry=client.IOC)
        second = await anext(values)
        table.same("the next", second.trade_seq, first.trade_seq + 1)
        table.same("its price", str(second.price), "100020")


@case
async def binary_breaks(table, here):
    """perps.bin.v1: kill -9, trades that a break has kept away, faults of a book, refusals."""
    await binary_python.after_a_kill(table, here, until)
    await binary_python.faults(table, here)
    await binary_python.refusals(table, here, raised)


@case
async def a_hundred_breaks(table, here):
    """20 subscriptions come back after each of 100 breaks; no trade is missing or comes twice."""
    await breaks_python.hundred(table, here)


@case
async def another_epoch(table, here):
    """An exchange that was restored has another epoch: what was known is dropped, once said."""
    await breaks_python.epoch(table, here)
    await restored_python.judge(table, here, until)


@case
async def faults_of_a_book(table, here):
    """A gap, a wrong checksum, a crossed book and a deletion of nothing each bring a new snapshot,
    and the consumer never sees the fault."""
    faults = BookFaults()
    async with perpd.connect(here.url) as ex, FakeStream(faults.play) as fake:
        ex.stream = Stream(Origin(fake.url))
        shown = []
        async for book in ex.watch_book(await ex.market("BTC-PERP"), 10):
            shown.append([book.is_live, *([str(price) for price, _ in side] for side in
                                          (book.bids(), book.asks()))])
            if book.seq == BookFaults.LAST_SEQ:
                break
        faults.judge(table, shown, fake)
        await ex.stream.close()


@case
async def silence(table, here):
    """A stream that stays open and says nothing is dead; a refused channel raises its problem."""
    async def play(peer):
        op = await peer.asked()
        if op["market"] == "ETH-PERP":
            await peer.send(op="subscribe", id=op["id"],
                            problem={"status": 400, "code": "invalid_parameter", "detail": "no"})
        await peer.receive()

    async with perpd.connect(here.url) as ex, FakeStream(play) as fake:
        ex.stream = Stream(Origin(fake.url), silence_s=0.2, first_wait_s=0.01)
        events, values = ex.watch_events(), ex.watch_mark(await ex.market("BTC-PERP"))
        waiting = asyncio.create_task(anext(values))
        while (event := await anext(events)).kind != "stale":
            pass
        table.same("stale", (event.channel, event.market), ("mark", "BTC-PERP"))
        await until(lambda: fake.connections >= 3)
        waiting.cancel()
        await ex.stream.close()

    async with perpd.connect(here.url) as ex, FakeStream(refuse) as fake:
        ex.stream = Stream(Origin(fake.url))
        refused = await raised(perpd.Problem, anext(ex.watch_mark(await ex.market("BTC-PERP"))))
        table.same("refused", refused and refused.code, "invalid_parameter")
        table.same("on one connection", fake.connections, 1)
        await ex.stream.close()


@case
async def overrun(table, here):
    """A consumer of trades that is too slow gets what fits, then Overrun."""
    async def play(peer):
        await peer.asked()
        head = {**BTC, "channel": "trades"}
        await peer.send(**head, type="snapshot", seq=1, prev_seq=1, data={"trades": [trade(5)]})
        for number in range(6, 10):
            await peer.send(**head, type="update", seq=number, prev_seq=max(1, number - 1)
                            if number > 6 else 1, data=trade(number))
        await peer.receive()

    async with perpd.connect(here.url) as ex, FakeStream(play) as fake:
        ex.stream = Stream(Origin(fake.url))
        values = ex.watch_trades(await ex.market("BTC-PERP"), room=3)
        got = [(await anext(values)).trade_seq]
        sink = next(iter(ex.stream._subscriptions.values())).sink
        await until(lambda: sink._last == 9)
        error = None
        while error is None:
            try:
                got.append((await anext(values)).trade_seq)
            except perpd.Overrun as overrun_error:
                error = overrun_error
        table.same("in order", got, list(range(6, 6 + len(got))))
        await ex.stream.close()


@case
async def frames(table, here):
    """RFC 6455: fragments, pings between them, and what closes a connection with which code."""
    from ws_client import BINARY, CLOSE, PING, PONG, TEXT, frame
    whole = [frame(TEXT, b"a\xc3", fin=False, masked=False), frame(PING, b"p", masked=False),
             frame(0, b"", fin=False, masked=False), frame(0, b"\xa9", fin=True, masked=False)]
    def sent(opcode, data, **more):
        return frame(opcode, data, masked=False, **more)
    no_codes = [(number).to_bytes(2, "big") for number in (999, 1004, 1005, 1006, 1015, 2999)]
    wrong = {1002: [frame(TEXT, b"x", masked=True), sent(TEXT, b"x", rsv=4), sent(0, b"x"),
                    sent(3, b""), sent(PING, b"x" * 126), sent(PING, b"", fin=False),
                    sent(CLOSE, b"\x03"), *(sent(CLOSE, data) for data in no_codes),
                    sent(TEXT, b"x", fin=False) + sent(TEXT, b"x")],
             1003: [sent(BINARY, b"x")],
             1007: [sent(TEXT, b"\xff"), sent(TEXT, b"\xed\xa0\x80"),
                    sent(TEXT, b"\xc3", fin=False) + sent(0, b"x"), sent(CLOSE, b"\x03\xe8\xff")],
             1009: [b"\x81\x7f" + (1 << 40).to_bytes(8, "big")]}
    heard = []

    async def play(peer):
        await peer.raw(b"".join(whole) + script)
        while True:
            heard.append(await peer.receive())
            if heard[-1][0] == CLOSE:
                return

    async with FakeStream(play) as fake:
        for code, scripts in [*wrong.items(), (4008, [frame(CLOSE, b"\x0f\xa8slow",
                                                            masked=False)])]:
            for script in scripts:
                heard.clear()
                socket = await WebSocket.open(Origin(fake.url), "/api/v1/stream")
                table.same("in parts", await socket.receive(), "aé")
                closed = await raised(Closed, socket.receive())
                table.same(f"closed for {script[:6]!r}", closed and closed.code, code)
                await until(lambda: heard and heard[-1][0] == CLOSE)
                table.same("pong and close", heard, [(PONG, b"p"),
                                                     (CLOSE, code.to_bytes(2, "big"))])


@case
async def other_implementations(table, here):
    """RFC 6455 with python3-websockets as the server, and with perpd: fragments, control frames
    between them, masks, messages of each length of a head, close codes."""
    await websockets_python.echoes(table)
    await websockets_python.with_perpd(table, here)


@case
async def account(table, here):
    """The account by the channel `private` (J9); orders and arms over the stream (W9)."""
    await account_python.judge(table, here, until)


@suite.case
def waits(here):
    """The facade without a loop: each call waits; iterations that are left leave it in order."""
    table, heard = Table(), []
    here.rich.cancel_all()
    here.other.cancel_all()

    def intent(request_id, _):
        try:
            ex.status()
        except RuntimeError as error:
            heard.append((request_id, str(error)))
    with perpd.sync.connect(here.url, **here.secrets, on_intent=intent) as ex:
        market = ex.market("BTC-PERP")
        order = ex.place(market, "buy", "0.01", "99000", post_only=True)
        table.same("called by itself", [one for one, _ in heard], [order.id])
        order.replace("99000.5", "0.02", expected_remaining=order.remaining).reduce("0.005")
        shown = here.rich.order(order.id.bytes).json
        table.same("changed", (shown["price"], shown["remaining_size"], str(order.price),
                               str(order.remaining), order.is_open),
                   ("99000.5", "0.015", "99000.5", "0.015", True))
        two, refused, one = ex.batch([perpd.Placement(market, "buy", "0.01", "98000"),
                                      perpd.Placement(market, "buy", "0.01", "9800000"), order])
        table.same("of a batch", (two.status, refused.status, one.status, two.cancel().status),
                   ("OPEN", "rejected_invalid_price", "CANCELED", "CANCELED"))
        try:
            ex.place(market, "sell", "1", "100000", deadline_s=0)
            table.true("pending", False, "it was not")
        except perpd.OutcomePending as pending:
            table.same("settled", ex.settle(pending).status, "request_completed")
        books, trades = ex.watch_book(market), ex.watch_trades(market)
        before = next(book for book in books if book.is_live)
        table.same("a book", [str(price) for price, _ in before.asks()], ["100000"])
        seen = threading.Event()

        def take():
            while not seen.wait(0.1):
                here.other.limit(1_000_000, 300, expiry=client.IOC)
        taker = threading.Thread(target=take)
        taker.start()
        table.same("a trade", str(next(trades).size), "0.003")
        seen.set()
        taker.join()
        table.same("the copy stays", str(before.asks()[0][1]), "1")
        rest = here.exchange.get("/api/v1/markets/BTC-PERP/book").json["asks"]
        table.true("as the read", rest != [["100000", "1"]], rest)
        for book in books:
            if [[str(price), str(size)] for price, size in book.asks()] == rest:
                break
        former = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            threading.Timer(0.3, lambda: signal.pthread_kill(
                threading.main_thread().ident, signal.SIGINT)).start()
            for _ in trades:
                pass
        except KeyboardInterrupt:
            table.same("it is over", next(trades, None), None)
        finally:
            signal.signal(signal.SIGINT, former)
        books.close()
        marks = ex.watch_mark(market)
        table.true("a mark", next(marks).valid)
        cash = "/api/v1/cash/history?subaccount_index=0&portfolio_index=0&limit=2"
        rows = None
        while rows != (rows := here.rich.read(cash).json):  # reads may still lag
            newest = ex.cash_history(limit=1)
            older = ex.cash_history(1, newest["next_before_sequence"],
                                    newest["next_before_index"])
        table.same("cash", newest["history"] + older["history"], rows["history"])
        ex.cancel_all(market)
    for act in (ex.status, lambda: next(marks)):
        try:
            act()
            table.true("closed", False, "it answered")
        except RuntimeError as error:
            table.true("closed", "not open" in str(error), error)
    table.same("no thread is left", [one.name for one in threading.enumerate()
                                     if one.name == "perpd"], [])
    return table.wrong


@case
async def ccxt(table, here):
    """The class of ccxt (perpd/ccxt.py)."""
    await ccxt_python.trades(table, here)


@case
async def examples(table, here):
    """Each example does what it says."""
    await examples_python.examples(table, here)


if __name__ == "__main__":
    sys.exit(run_live(suite, PAST_MS))
