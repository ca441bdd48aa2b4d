"""account_python.py - the account of the Python library beside REST, through breaks, kill -9 and a
start; orders over the stream; cancel-on-disconnect (json.md J9, wire.md W9).
"""
import asyncio
import contextlib
import json
from random import Random

import client
from peers import Arms, FakeStream, Proxy, move
from ws_client import CLOSE

import perpd
from perpd import _wire_gen as wire
from perpd.errors import Lost
from perpd.http import Answer, Origin
from perpd.sinks import Newest
from perpd.stream import Arm, Stream

HELD = ("id", "market", "side", "size", "average_entry_price", "net_funding")
BINARY = ("id", "market", "order_status", "side", "remaining_size", "filled_size", "price")
PLACE = "subaccount_index=0&portfolio_index=0"


def of_rest(here):
    """Orders by id, positions by market, cash."""
    orders = {row["id"]: row for status in ("OPEN", "PARTIALLY_FILLED", "UNTRIGGERED")
              for row in here.rich.read(f"/api/v1/orders?{PLACE}&limit=1000&status={status}").json}
    held = {row["market"]: {name: row[name] for name in HELD}
            for row in here.rich.read(f"/api/v1/positions?{PLACE}").json}
    newest = here.rich.read(f"/api/v1/cash/history?{PLACE}&limit=1").json["history"]
    return orders, held, newest[0]["balance_after"] if newest else "0"


async def as_rest(table, here, view, is_binary):
    """Waits until the view is what REST shows, which it must be once both stand still."""
    rest = None
    while view.engine_seq == 0 or not view.is_live or rest != (rest := of_rest(here)):
        await asyncio.sleep(0.05)
    for _ in range(200):
        if (len(view.orders), str(view.cash)) == (len(rest[0]), rest[2]):
            break
        await asyncio.sleep(0.02)
        rest = of_rest(here)
    members = BINARY if is_binary else next(iter(rest[0].values()), {}).keys()

    def part(rows):
        return {key: {name: row[name] for name in members} for key, row in rows.items()}
    table.same("orders", part(view.orders), part(rest[0]))
    table.same("positions", view.positions, rest[1])
    table.same("cash", str(view.cash), rest[2])


async def follows(table, here, until, is_binary):
    """The view equals REST after each of many breaks; no event is missing or comes twice."""
    here.rich.cancel_all()
    here.other.cancel_all()
    async with perpd.connect(here.url, **here.secrets, binary=is_binary) as ex:
        ex.stream._first_wait_s = 0.01
        market = await ex.market("BTC-PERP")
        view = await ex.follow_account()
        seqs = []

        async def hear():
            async for event in ex.watch_private():
                seqs.append(event.seq)
        task = asyncio.create_task(hear())
        await as_rest(table, here, view, is_binary)
        first = view.seq
        for number in range(6):
            await move(here, Random(number), 30)
            if number == 3:
                here.restart()
            else:
                ex.stream._socket._writer.transport.abort()
            await move(here, Random(-number), 10)
            await until(lambda: ex.stream.reconnections > number and view.is_live)
            await as_rest(table, here, view, is_binary)
        table.same("each event once", seqs, list(range(first + 1, view.seq + 1)))
        ours = await ex.place(market, "buy", "0.001", "98000", post_only=True)
        await until(lambda: str(ours.id) in view.orders)
        await ours.replace("98000.5", "0.002")
        await until(lambda: view.orders[str(ours.id)]["price"] == "98000.5")
        done = asyncio.create_task(ours.done())
        await asyncio.sleep(0)
        here.rich.cancel_all()
        table.same("it ended", (await done).status, "CANCELED")
        await until(lambda: str(ours.id) not in view.orders)  # done() may know it by REST
        here.other.cancel_all()
        here.other.limit(1_000_000, -200)
        taken = await ex.place(market, "buy", "0.002", "100000", tif="IOC")
        await taken.done()
        table.same("taken", (taken.status, str(taken.filled)), ("FILLED", "0.002"))
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
    here.rich.cancel_all()
    here.other.cancel_all()


async def over_stream(table, here, until):
    """A signed request goes over the stream while it is there, else over HTTP; the same bytes after
    a lost answer execute once; refusals are the same."""
    async with perpd.connect(here.url, **here.secrets, stream_orders=True) as ex:
        market, posts, real = await ex.market("BTC-PERP"), [], ex.session.http.request

        async def request(method, target, *words, **named):
            posts.append(method)
            return await real(method, target, *words, **named)
        ex.session.http.request = request
        order = await ex.place(market, "buy", "0.001", "98000", post_only=True)
        table.same("placed", here.rich.order(order.id.bytes).json["order_status"], "OPEN")
        try:
            await ex.place(market, "buy", "0.001", "9800000", post_only=True)
            table.true("refused", False, "it was not")
        except perpd.Rejected as refused:
            table.same("refused", refused.status, "rejected_invalid_price")
        await order.cancel()
        table.same("over HTTP the cancel alone", posts.count("POST"), 1)

        async def lose(envelope, timeout_s):
            ex.session.over_stream = ex.stream.signed
            await ex.stream.signed(envelope, timeout_s)
            raise Lost("planted", True)
        ex.session.over_stream = lose
        again = await ex.place(market, "buy", "0.001", "98000", post_only=True)
        table.same("once", (again.outcome.is_first, len(await ex.orders(market, "OPEN"))),
                   (False, 1))
        ex.stream._first_wait_s = 0.5
        ex.stream._socket._writer.transport.abort()
        await until(lambda: ex.stream._socket is None)
        await again.cancel()
        table.same("over HTTP", (again.status, posts.count("POST")), ("CANCELED", 2))
        await elsewhere(table, ex, market, posts)


async def elsewhere(table, ex, market, posts):
    """What the node of the stream does not do goes on over HTTP in the same turn; what it may have
    done is not made again."""
    await ex.follow_account()

    async def standby(envelope, timeout_s):
        return Answer(421, {}, b'{"code": "not_leader"}', 0, 0)

    async def doubtful(envelope, timeout_s):
        await ex.session.nodes.post(wire.PlaceLimitOrder.PATH, envelope, False, timeout_s)
        return Answer(503, {}, b'{"code": "outcome_unknown"}', 0, 0)
    for over_stream, want in ((standby, (True, 1)), (doubtful, (False, 2))):
        ex.session.over_stream, before = over_stream, posts.count("POST")
        order = await ex.place(market, "buy", "0.001", "98000", post_only=True)
        table.same(over_stream.__name__, (order.outcome.is_first, posts.count("POST") - before),
                   want)
    table.same("one each", len(await ex.orders(market, "OPEN")), 2)
    await ex.cancel_all(market)


async def arms(table, here, until):
    """An order outlives a break that is shorter than the grace, and no longer one; a key that may
    only read arms nothing."""
    async with perpd.connect(here.url, **here.secrets) as ex:
        ex.stream._first_wait_s = 0.01
        market, events = await ex.market("BTC-PERP"), []

        async def hear():
            async for event in ex.watch_events():
                events.append(event.kind)
        task = asyncio.create_task(hear())
        arm = await ex.cancel_on_disconnect(grace_ms=10_000)
        order = await ex.place(market, "buy", "0.001", "98000", post_only=True)
        ex.stream._socket._writer.transport.abort()
        await until(lambda: "armed" in events)
        await ex.keep_on_disconnect(arm)
        await ex.cancel_on_disconnect(grace_ms=0)
        table.same("still there", (await order.refresh()).status, "OPEN")
        task.cancel()
    await until(lambda: here.rich.order(order.id.bytes).json["order_status"] == "CANCELED")
    reader = here.exchange.ack(client.CREATE_API_KEY, client.api_key_body(here.rich.id, scope=0),
                               here.rich.session)["api_key"]
    async with perpd.connect(here.url, api_key=lambda: reader) as ex:
        try:
            await ex.cancel_on_disconnect()
            table.true("refused", False, "it was not")
        except perpd.Problem as refused:
            table.true("refused", refused.http in (401, 403), refused)
    async with perpd.connect(here.url, api_key=lambda: reader) as ex:
        ex.stream._api_key = "x" * 44
        try:
            await ex.follow_account()
            table.true("a key that is none", False, "it was taken")
        except perpd.Problem as refused:
            table.same("a key that is none", refused.code, "invalid_api_key")


async def arms_again(table, _, until):
    """Arms are tried again after 429 and 503 on the same connection, also after a break; a 421 of
    one address is raised."""
    script = Arms()
    async with FakeStream(script.play) as fake:
        stream = Stream(Origin(fake.url), first_wait_s=0.01, api_key="a key")
        await stream.subscribe("mark", "BTC-PERP", Newest)
        await until(lambda: stream._is_ready)
        await stream.arm(Arm(0, 1000))
        table.same("armed", (len(script.statuses), fake.connections), (4, 1))
        stream._socket._writer.transport.abort()
        await until(lambda: any(event.kind == "armed" for event in stream._events))
        table.same("armed again", (len(script.statuses), fake.connections), (1, 2))
        try:
            await stream.arm(Arm(0, 1000))
            table.true("refused", False, "it was not")
        except perpd.Problem as refused:
            table.same("refused", refused.code, "not_leader")
        await stream.close()


async def epochs(table, _, until):
    """Another epoch that the reply to another subscription tells: the account is not resumed."""
    asked = []

    async def play(peer):
        now = fake.connections
        while True:
            opcode, data = await peer.receive()
            if opcode == CLOSE:
                return
            op = json.loads(data)
            await peer.send(op=op["op"], id=op["id"], epoch=now, from_seq=op.get("from_seq", 0))
            if "channel" in op:
                asked.append((now, op["op"], op["channel"]))
            if op["op"] == "subscribe":
                await peer.send(channel=op["channel"], market=op.get("market", ""), type="snapshot",
                                seq=now, prev_seq=now, engine_seq=1, time_ns=1, data={})
    async with FakeStream(play) as fake:
        stream, called = Stream(Origin(fake.url), first_wait_s=0.01), []
        stream.on_epoch = lambda: called.append(stream.reconnections)
        await stream.subscribe("mark", "BTC-PERP", Newest)
        own = await stream.subscribe("private", "", Newest, None, lambda: None)
        await until(lambda: own.last == 1)
        stream._socket._writer.transport.abort()
        await until(lambda: own.last == 2)
        table.same("asked", [one[1:] for one in asked if one[0] == 2],
                   [("subscribe", "mark"), ("resume", "private"), ("subscribe", "private")])
        table.same("told", called, [1])
        await stream.close()


async def nodes(table, here, _):
    """What is signed goes to the leader that a standby tells, the same bytes (replication.md); an
    address where nobody listens is passed over; no read goes back behind another."""
    def sent(proxy):
        return [fate for path, fate in proxy.seen if "place" in path]
    async with Proxy(here.exchange.port, lambda _: "not_leader") as standby:
        async with perpd.connect(standby.url, **here.secrets) as ex:
            market = await ex.market("BTC-PERP")
            one = await ex.place(market, "buy", "0.001", "98000", post_only=True)
            two = await ex.place(market, "buy", "0.001", "98000", post_only=True)
            table.same("at the leader told",
                       (one.status, two.status, one.outcome.is_first, sent(standby)),
                       ("OPEN", "OPEN", True, ["not_leader"]))
            table.true("reads stay", "/api/v1/account" in [path for path, _ in standby.seen])
        nobody = "http://127.0.0.1:1"
        async with perpd.connect([nobody, standby.url, here.url], **here.secrets) as ex:
            three = await ex.place(market, "buy", "0.001", "98000", post_only=True)
            table.same("one of the list",
                       (three.status, sent(standby), ex.session.http.origin.port),
                       ("OPEN", ["not_leader"] * 2, here.exchange.port))
            table.true("not behind", ex.session.nodes.least(None) >= one.outcome.sequence)
            await ex.cancel_all(market)


async def judge(table, here, until):
    """All of them; the view by texts and by binary messages."""
    for is_binary in (False, True):
        await follows(table, here, until, is_binary)
    await over_stream(table, here, until)
    await arms(table, here, until)
    await arms_again(table, here, until)
    await epochs(table, here, until)
    await nodes(table, here, until)
