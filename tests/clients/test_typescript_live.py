"""test_typescript_live.py BUILD - clients/ts with a running perpd, with a proxy that loses requests
and answers, and with a stream that errs (typescript_live.mjs). J: json.md, W: wire.md. Skipped
where tools/setup --browser was not called.
"""
import asyncio
import collections
import json
import pathlib
import signal
import sys
from random import Random

import typescript_library
from python_library import ROOT
from harness import Suite, Table  # noqa: E402  (python_library finds the folders)
from peers import BTC, FATES, Arms, BinaryPeer, BookFaults, FakeStream, Proxy  # noqa: E402
from peers import followed, move, quotes_follow, refuse, run_live, trade  # noqa: E402
import account_python  # noqa: E402
import crowd  # noqa: E402
import restored  # noqa: E402
import client  # noqa: E402
import world  # noqa: E402

suite = Suite("client typescript live")
PAST_MS = 3_000  # the window of ids: what is lost for good is known soon
SCRIPT = ROOT / "tests/clients/typescript_live.mjs"
FOLDER = []  # where the library was compiled into


def case(function):
    """A case that is a coroutine; one that hangs fails."""
    def run(here):
        table = Table()
        asyncio.run(asyncio.wait_for(function(table, here), client.PATIENCE_S))
        return table.wrong
    run.__name__, run.__doc__ = function.__name__, function.__doc__
    return suite.case(run)


async def begun(*words):
    """A node that runs these words; it ends with this one."""
    return await asyncio.create_subprocess_exec(
        "node", *map(str, words), env=typescript_library.ENVIRONMENT,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)


async def said(name, *words):
    """The lines of one case of typescript_live.mjs."""
    process = await begun(SCRIPT, FOLDER[0], name, *words)
    try:
        output, _ = await process.communicate()
        assert process.returncode == 0, output
        return [json.loads(line) for line in output.splitlines()]
    finally:
        if process.returncode is None:
            process.kill()


@case
async def trading(table, here):
    """Each request of the library does what GET /orders says it did (J2, J4)."""
    lines = await said("trading", here.url, *here.secrets.values())
    for line, want in zip(lines, (
            ["placed", ["OPEN", "99000", "0.01"]],
            ["replaced", ["OPEN", "99000.5", "0.02"], "99000.5", "0.02"],
            ["compare and set", "rejected_size_not_equal"],
            ["reduced", ["OPEN", "99000.5", "0.015"]],
            ["waits", ["UNTRIGGERED", None, "0.01"]],
            ["cancelled", "CANCELED"],
            ["of a batch", "OPEN", "rejected_invalid_price", "CANCELED"],
            ["nothing to take", "CANCELED"],
            ["all", "CANCELED"],
            ["99000.05", "NotOnGrid", "99000", "99000.1"],
            ["0.01", "NotOnGrid", "0", "0.1"],
            ["a number", "TypeError"],
            ["leverage", 10],
            ["lists", [], [], True],
            ["no secret", False]), strict=True):
        table.same(want[0], line, want)


@case
async def of_another_exchange(table, here):
    """A key that is bound to another exchange signs nothing here; nor does a stranger's."""
    open_file = here.folder / "open.key"
    open_file.touch(mode=0o644)
    bound, unknown, plain, readable = await said("another", here.url, *here.secrets.values(),
                                                 open_file)
    table.same("bound", bound, ["bound", "WrongExchange"])
    table.true("unknown", "unauthorized" in unknown[1], unknown)
    table.same("plain http", plain, ["plain", "PerpdError"])
    table.same("readable by others", readable, ["a file for all", "PerpdError"])


@case
async def master_key(table, here):
    """What a master key signs is what the exchange reads (W4); it signs no order."""
    words = (bytes(here.rich.master._secret).hex(),
             here.exchange.get("/api/v1/exchange").json["exchange_id"], here.secrets["api_key"])
    table.same("withdraws", await said("master", here.url, *words),
               [["request_completed", "RangeError", False]])


@case
async def executed_once(table, here):
    """B3: behind a proxy that loses requests and answers each intent is executed at most once, and
    what the library says of it is what GET /requests/{id} says."""
    random, made, met, sent, count = Random(41), [], set(), collections.Counter(), 20

    def fate(message):
        head, _, body = message.partition(b"\r\n\r\n")
        chosen = random.choice(FATES)
        if b"place" in head.split(b"\r\n")[0]:
            met.add(chosen)
            sent[body] += 1
        return chosen
    # On a slow machine ids grow too old before many of their sendings arrive.
    while met != set(FATES) or max(sent.values()) == 1:
        async with Proxy(here.exchange.port, fate) as proxy:
            made += await said("once", proxy.url, *here.secrets.values(), count, len(made))
    rows = here.rich.read("/api/v1/orders?status=OPEN&limit=1000").json
    shown = collections.Counter(row["initial_size"] for row in rows)
    table.same("as many answers", len(made) % count, 0)
    for size, request_id, is_order in made:
        table.true("definite", isinstance(is_order, bool), is_order)
        table.same(f"orders of {size}", shown[size], int(is_order))
        record = here.rich.read(f"/api/v1/requests/{request_id}")
        table.same(f"the request of {size}", record.status, 200 if is_order else 404)
    here.rich.cancel_all()


@case
async def not_executed(table, here):
    """B3.5: a request that never arrived is NotExecuted only when no admission is possible any
    more; one whose answer never came is found, also by another process."""
    fates = ["lost_before"]

    def fate(message):
        return fates[0] if b"place" in message.split(b"\r\n")[0] else "pass"
    async with Proxy(here.exchange.port, fate) as proxy:
        late, end = await said("pending", proxy.url, *here.secrets.values())
        table.same("pending", late, ["OutcomePending", True])
        table.same("not executed", end[0], "NotExecuted")
        id_ms = int(end[1].replace("-", "")[:12], 16)
        shown = here.exchange.get("/api/v1/markets/BTC-PERP/mark").json
        table.true("with proof", shown["time_ns"] > (id_ms + PAST_MS + 5_000) * 1_000_000, shown)
        fates[0] = "lost_after"
        late, end = await said("pending", proxy.url, *here.secrets.values())
        table.same("in the end", end[0], "request_completed")
    found = await said("found", here.url, *here.secrets.values(), end[1])
    table.same("found", found, [["request_completed", False, True, "OPEN", 1]])


@case
async def faucet_once(table, here):
    """A lost answer of the faucet is not asked for again: it could credit twice."""
    async with Proxy(here.exchange.port, lambda _: "lost_after") as proxy:
        lines = await said("faucet", proxy.url, *here.secrets.values())
    table.same("credited once", lines, [["Lost", "7"]])
    table.same("sent once", [path for path, _ in proxy.seen].count("/api/v1/faucet"), 1)


@case
async def cancels_go_first(table, _):
    """W8: behind a crowd of placements against a bucket of 10 a second, a cancel is sent at once
    and once: it waits for none of them, and its own bucket asks for nothing."""
    async with crowd.behind_proxy() as (secrets, url, passed):
        node = await begun(SCRIPT, FOLDER[0], "crowd", url, *secrets.values(), crowd.PLACED,
                           crowd.CANCELS)
        await passed.flows()
        output, _ = await node.communicate(b"\n")
        passed.judge(table)
        table.same("they are gone, most wait", [json.loads(line) for line in output.splitlines()],
                   ["CANCELED"] * crowd.CANCELS + [True])


@case
async def machine_clock(table, here):
    """The machine's own clock is never asked: ids are of the exchange's time."""
    for wrong_ms in (3_600_000, -3_600_000):
        table.same(f"accepted, {wrong_ms} ms off", await said(
            "clock", here.url, *here.secrets.values(), str(wrong_ms)), ["OPEN", "OPEN"])


class Follower:
    """A node that keeps the book and the trades of BTC-PERP, and shows them when it is asked."""

    def __init__(self, here, form):
        self.here, self.form = here, form

    async def __aenter__(self):
        self.process = await begun(SCRIPT, FOLDER[0], "follow", self.here.url, self.form)
        assert json.loads(await self.process.stdout.readline()) == "live"
        return self

    async def __aexit__(self, *_):
        if self.process.returncode is None:
            self.process.kill()

    async def look(self):
        self.process.stdin.write(b"\n")
        return json.loads(await self.process.stdout.readline())

    async def as_rest(self):
        """What it shows once its book is at REST's seq. A mark, or an order below its depth, raises
        that alone: then its best bid changes too."""
        while True:
            rest = self.here.exchange.get("/api/v1/markets/BTC-PERP/book?depth=10").json
            for _ in range(20):
                seen = await self.look()
                if seen["isLive"] and seen["seq"] == rest["seq"]:
                    return seen, rest
                await asyncio.sleep(0.02)
            best = rest["bids"][0][0] if rest["bids"] else "99990"
            self.here.rich.limit(round(float(best) * 10), 20)

    async def judge(self, table, first, newest):
        """The trades between, each once; it ends without a gap."""
        while (seen := await self.look())["trades"][-1:] != [newest]:
            await asyncio.sleep(0.02)
        table.same(f"{self.form}: trades", seen["trades"], list(range(first + 1, newest + 1)))
        table.true("it came back", seen["reconnections"] >= 1, seen["reconnections"])
        table.same("the checksum", seen["faults"], 0)
        self.process.stdin.close()
        table.same("no gap", json.loads(await self.process.stdout.readline()),
                   ["the stream is left", False])
        table.same("it ends", await self.process.wait(), 0)


@case
async def book_and_trades(table, here):
    """The book equals REST's at the same seq; no trade is missing or comes twice, through a kill -9
    and a start, as texts (J9) and as binary messages (W9)."""
    def newest():
        rows = here.exchange.get("/api/v1/markets/BTC-PERP/trades?limit=1").json["trades"]
        return rows[0]["trade_seq"] if rows else 0

    here.rich.cancel_all()
    here.other.cancel_all()
    first = newest()
    async with Follower(here, "text") as text, Follower(here, "binary") as binary:
        for number in range(3):
            await move(here, Random(number), 40)
            for follower in (text, binary):
                seen, rest = await follower.as_rest()
                table.same(f"{follower.form}: the book", [seen["bids"], seen["asks"]],
                           [rest["bids"], rest["asks"]])
            if number == 1:
                here.restart()
        for follower in (text, binary):
            await follower.judge(table, first, newest())


@case
async def faults_of_a_book(table, here):
    """A gap, a wrong checksum, a crossed book and a deletion of nothing each bring a new snapshot,
    and the consumer never sees the fault."""
    for form, kind in (("text", lambda peer: peer), ("binary", BinaryPeer)):
        faults = BookFaults()
        async with FakeStream(lambda peer: faults.play(kind(peer))) as fake:
            shown, = await said("faults", here.url, fake.url, form)
        faults.judge(table, shown, fake)
    table.same("no binary messages of it", await said("absent", here.url),
               [["RangeError", True], ["Problem", 400]])


@case
async def silence(table, here):
    """A stream that stays open and says nothing is dead; a refused channel throws its problem; a
    consumer of trades that is too slow gets what fits, then Overrun."""
    async def keep_silent(peer):
        await peer.asked()
        await peer.receive()

    async def hurry(peer):
        await peer.asked()
        head = {**BTC, "channel": "trades"}
        await peer.send(**head, type="snapshot", seq=5, prev_seq=5, data={"trades": [trade(5)]})
        for number in range(6, 11):
            await peer.send(**head, type="update", seq=number, prev_seq=number - 1,
                            data=trade(number))
        await peer.receive()

    async with FakeStream(keep_silent) as fake:
        table.same("stale", await said("silent", here.url, fake.url), [["mark", "BTC-PERP"]])
        table.true("again", fake.connections >= 3, fake.connections)
    async with FakeStream(refuse) as fake:
        table.same("refused", await said("refused", here.url, fake.url),
                   [["Problem", "invalid_parameter"]])
        table.same("on one connection", fake.connections, 1)
    async with FakeStream(hurry) as fake:
        (got, error), = await said("overrun", here.url, fake.url, 2_000)
    table.same("in order", got, list(range(6, 6 + len(got))))
    table.same("overrun", (error, len(got) <= 4), ("Overrun", True))


async def asked(process, line):
    process.stdin.write(line)
    return json.loads(await process.stdout.readline())


@case
async def account(table, here):
    """The account by the channel `private` equals REST after each break and a kill -9, as texts and
    as binary messages; orders and arms over the stream (J9, W9)."""
    here.rich.cancel_all()
    here.other.cancel_all()
    for form in ("text", "binary"):
        process = await begun(SCRIPT, FOLDER[0], "account", here.url, *here.secrets.values(), form)
        first = json.loads(await process.stdout.readline())
        for number in range(4):
            await move(here, Random(number), 30)
            if number == 2:
                here.restart()
            else:
                await asked(process, b"break\n")
            await move(here, Random(-number), 10)
            rest = None
            while (seen := await asked(process, b"look\n"))["breaks"] <= number or not \
                    seen["isLive"] or rest != (rest := account_python.of_rest(here)) or \
                    (sorted(seen["orders"]), seen["cash"]) != (sorted(rest[0]), rest[2]):
                await asyncio.sleep(0.05)
            for row, want in rest[0].items():
                members = want if form == "text" else account_python.BINARY
                table.same(row, {name: seen["orders"][row][name] for name in members},
                           {name: want[name] for name in members})
            table.same("positions", seen["positions"], rest[1])
        table.same("each event once", seen["seqs"], list(range(first + 1, seen["seq"] + 1)))
        process.stdin.close()
        table.same("an order", json.loads(await process.stdout.readline()),
                   ["it ended", "CANCELED"])
        table.same("it ends", await process.wait(), 0)
    *lines, last = await said("streamOrders", here.url, *here.secrets.values())
    table.same("orders", lines, [
        ["over the stream", "OPEN", "rejected_invalid_price", "CANCELED", 1],
        ["once", False, 1], ["over HTTP", "CANCELED", 2], ["elsewhere", True, 1],
        ["in doubt", False, 2]])
    table.same("armed again", last[:2], ["still there", "OPEN"])
    while here.rich.order(bytes.fromhex(last[2].replace("-", ""))).json["order_status"] == "OPEN":
        await asyncio.sleep(0.02)
    reader = here.exchange.ack(client.CREATE_API_KEY, client.api_key_body(here.rich.id, scope=0),
                               here.rich.session)["api_key"]
    script = Arms()
    async with FakeStream(script.play) as fake:
        table.same("after 429, 503 and 421", (await said("arms", fake.url), script.statuses),
                   ([[2, "not_leader"]], []))
    table.same("a reader arms nothing", await said("reader", here.url, reader), [[True]])


@case
async def nodes(table, here):
    """What is signed goes to the leader that a standby tells; an address where nobody listens is
    passed over; no read goes back behind another (replication.md)."""
    async with Proxy(here.exchange.port, lambda _: "not_leader") as standby:
        table.same("orders", await said("nodes", standby.url, here.url, *here.secrets.values()),
                   [["OPEN", "OPEN", True], ["OPEN", here.url, True]])
        asked_of_it = [fate for path, fate in standby.seen if "place" in path]
        table.true("asked", asked_of_it[:2] == ["not_leader"] * 2 and len(asked_of_it) <= 4,
                   asked_of_it)  # fetch itself repeats what is answered 421, once


@case
async def another_epoch(table, here):
    """perp restore over a real exchange: another epoch is told once, what was known is dropped, the
    account and the book are read anew, and of both histories every trade comes once (W9)."""
    state, raised, processes = restored.Restored(here), [], []
    for form in ("text", "binary"):
        processes.append(await begun(SCRIPT, FOLDER[0], "restored", here.url,
                                     *here.secrets.values(), form))

    async def shown(process, is_there):
        while not is_there(seen := await asked(process, b"look\n")):
            await asyncio.sleep(0.05)
        return seen

    def as_rest(seen):
        return (seen["isLive"] and seen["orders"] == state.resting() and
                seen["cash"] == account_python.of_rest(here)[2])

    def told(seen, kind):
        return {channel for name, channel, _ in seen["events"] if name == kind}
    first = [await shown(one, lambda seen: as_rest(seen) and
                         told(seen, "live") >= {"trades", "book"}) for one in processes]
    state.go_on(restored.GIVEN_UP)
    before = [list(row) for row in state.trades()]
    former = [await shown(one, lambda seen: seen["trades"] == before and as_rest(seen))
              for one in processes]
    here.restore(state.kept_to)
    for one, had in zip(processes, former):
        seen = await shown(one, lambda seen: seen["epoch"] == 2 and as_rest(seen) and
                           told(seen, "resumed") >= {"trades", "book", "private"})
        table.true("its events begin again", seen["seq"] < had["seq"], seen["seq"])
        table.same("what was given up", (seen["orders"], seen["bids"]), ([restored.KEPT],) * 2)
        raised.append(seen["ended"])
    state.go_on(restored.ANEW)
    after = [list(row) for row in state.trades()]
    for one, begin, had in zip(processes, first, former):
        seen = await shown(one, lambda seen: seen["trades"][-2:] == after and as_rest(seen) and
                           len(seen["bids"]) == 2)
        table.same("each trade once", seen["trades"], before + after)
        table.same("the book", seen["bids"], [restored.ANEW, restored.KEPT])
        table.same("each event once", seen["seqs"], list(range(begin["seq"] + 1, had["seq"] + 1)))
        table.same("said once", [detail for kind, _, detail in seen["events"]
                                 if kind == "epoch_changed"], ["1 to 2"])
        one.stdin.close()
        table.same("it ends", await one.wait(), 0)
    table.same("and the end is told", [(name, text.split(":")[0]) for name, text in raised],
               [("Overrun", "another epoch")] * 2)


def package(here):
    """The folder where the tarball is installed."""
    target = here.folder / "tarball"
    return target if target.exists() else typescript_library.installed(FOLDER[0], target)


@case
async def ccxt(table, here):
    """The class of ccxt trades; what it gives has ccxt's shapes, what it throws ccxt's classes."""
    if typescript_library.packages.lacking("ccxt"):
        print("ccxt is not installed (tools/setup --browser installs it): its class is not run")
        return
    here.rich.cancel_all()
    here.other.cancel_all()
    for row in here.rich.read("/api/v1/positions").json:  # what other cases have traded
        size = round(float(row["size"]) * 100_000) * (-1 if row["side"] == "SHORT" else 1)
        here.other.limit(1_000_000, size)
        here.rich.limit(1_000_000, -size)
    here.other.limit(1_000_000, -100_000)
    module = typescript_library.packages.FOLDER / "node_modules/ccxt/js/ccxt.js"
    process = await begun(ROOT / "tests/clients/ccxt.mjs", package(here), module, here.url,
                          *here.secrets.values())
    output, _ = await process.communicate()
    lines = [json.loads(line, parse_int=float) for line in output.splitlines()]
    for line, want in zip(lines, (
            ["has", True, ["setMarginMode", "setPositionMode", "fetchDepositAddress",
                           "cancelAllOrdersAfter"]],
            ["time", True, "ok"],
            ["market", "BTC-PERP", "swap", "USDC", {"price": 0.1, "amount": 1e-5}, True, 5.0],
            ["placed", "open", "buy", 99000.5, 0.01, 0.01, "BTC/USDC:USDC"],
            ["read", True, "open", 99000.5, "PO", "limit"],
            ["edited", True, 99000.0, 0.02],
            ["open", [[True, 99000.0, 0.02]]],
            ["off the grid", "InvalidOrder", True],
            ["refusals", "OrderImmediatelyFillable", "BadRequest", "BadRequest", "OrderNotFound",
             "AuthenticationError"],
            ["canceled", "canceled", "canceled"],
            ["taken", "closed", 0.01, 100000.0, "market"],
            ["fill", True, "buy", "taker", 0.01, 100000.0, 1000.0, "USDC"],
            ["position", "long", 0.01, 100000.0, "cross"],
            ["balance", True, True],
            ["book", "BTC/USDC:USDC", [100000.0, 0.99], True],
            ["ticker", "BTC/USDC:USDC", 100000.0, 100000.0, True],
            ["trade", "buy", 100000.0, 0.01, 1000.0],
            ["candle", 6.0, 100000.0],
            ["rate", 100000.0, True, True, True],
            ["closed", True, True, True, 10.0],
            ["asks", 100000.0, 100000.0, True],
            ["one by one", [100000.0, 0.99], "string", ["0"], True],
            ["ledger", True, "USDC", True],
            ["they wait", "STOP_MARKET", "STOP_LIMIT", "TAKE_PROFIT"],
            ["no trigger, or two", *["BadRequest"] * 4],
            ["but one", "OrderNotFound", "open", "canceled", "canceled"],
            ["of them", "canceled"],
            ["dead-man", "request_completed", "request_completed"],
            ["post only", True, "canceled", "InvalidOrder"],
            ["tiers", True, ["USDC"]],
            ["held", True, 0.01, True],
            ["money", 1.5, "pending", "not known", True, 0.0],
            ["refused", *["BadRequest"] * 9, "InvalidOrder", *["NotSupported"] * 3,
             "ExchangeError"],
            ["batch and exits", ["open", "rejected", "open"],
             [["STOP_MARKET", "80000", "SHORT"], ["TAKE_PROFIT_MARKET", "120000", "SHORT"]]],
            ["watched", 100000.0, [], "buy", 100000.0, 100000.0, 100000.0, 100000.0],
            ["own", True, True, True, "BTC/USDC:USDC", "long"],
            ["each once", True, [0.002, 0.003, 0.004], "NetworkError"],
            ["left and deeper", True, 10.0],
            ["over the stream", True, 98000.1, 0.02, "canceled", "canceled"],
            ["late", "RequestTimeout", True, 1.0],
            ["none", []],
            ["each once more", ["RequestTimeout"] * 2, [True], 2.0],
            ["exits once", "InvalidOrder", True, True,
             ["LIMIT", "STOP_MARKET", "TAKE_PROFIT_MARKET"]]), strict=False):
        table.same(want[0], line, want)
    table.same("steps", (len(lines), process.returncode), (43, 0))
    here.other.cancel_all()


@case
async def examples(table, here):
    """Each example, beside the installed tarball, does what it says; the maker follows the mark and
    leaves nothing behind."""
    here.rich.cancel_all()
    here.other.cancel_all()
    folder = package(here) / "examples"

    async def until(look):
        while not look():
            await asyncio.sleep(0.02)

    maker = await begun(folder / "quickstart_maker.js", here.url, *here.secrets.values())
    await until(lambda: quotes_follow(here, 100_000))
    await followed(here)
    here.btc(1_010_000)
    await until(lambda: quotes_follow(here, 101_000))
    # Somebody has traded with it: it ends without an order and without a position.
    here.other.limit(1_013_000, -2_000_000)
    here.other.limit(1_007_000, 2_000_000)
    here.other.limit(1_011_100, 500, expiry=client.IOC)
    maker.send_signal(signal.SIGINT)
    here.btc(world.BTC_PRICE)
    await maker.communicate()
    table.same("nothing is left", (maker.returncode,
                                   here.rich.read("/api/v1/orders?status=OPEN").json), (0, []))
    table.same("flat", here.rich.read("/api/v1/positions?market=BTC-PERP").json, [])
    here.other.cancel_all()
    here.rich.limit(900_000, 200)  # what it has armed ends two seconds after its connection
    await until(lambda: here.rich.read("/api/v1/orders?status=OPEN").json == [])
    watcher = await begun(folder / "watch_book.js", here.url, "BTC-PERP", 2)
    first = (await watcher.stdout.readline()).split()
    table.same("an empty book", first[1:], [b"null"] * 3)
    here.rich.limit(1_000_000, -100_000)
    table.same("an ask", (await watcher.stdout.readline()).split()[1:],
               [b"null", b"100000", b"100000"])
    table.same("it ended", await watcher.wait(), 0)
    tape = await begun(folder / "resume_after_kill.js", here.url, "BTC-PERP", 2)
    table.same("its first line", await tape.stdout.readline(), b"# live trades BTC-PERP \n")
    for price in (999_990, 999_980):
        here.rich.limit(price, -20)
        here.other.limit(price, 20, expiry=client.IOC)
    lines = (await tape.communicate())[0].decode().splitlines()
    table.same("the tape", [line.split()[1:] for line in lines],
               [["LONG", "0.0002", "99999"], ["LONG", "0.0002", "99998"]])
    here.rich.cancel_all()
    done = await (await begun(folder / "latency.js", here.url, *here.secrets.values(), 3)
                  ).communicate()
    table.same("stages", [line.rsplit(maxsplit=1)[0] for line in done[0].decode().splitlines()],
               ["round trip", "verified", "sequenced", "matched", "ack"])
    scratch = here.folder / "scratch_ts"
    scratch.mkdir()
    done = await (await begun(folder / "account_from_scratch.js", here.url, scratch)).communicate()
    table.same("from scratch", done[0].split()[1:], [b"OPEN"])
    (scratch / "master.key").unlink()
    again = await begun(folder / "account_from_scratch.js", here.url, scratch)
    await again.communicate()
    table.same("a second time", (again.returncode != 0, (scratch / "master.key").exists()),
               (True, False))


if __name__ == "__main__":
    with typescript_library.library() as compiled:
        FOLDER.append(pathlib.Path(compiled))
        sys.exit(run_live(suite, PAST_MS))
