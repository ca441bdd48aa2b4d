"""peers.py - between a client library and perpd: a proxy that loses what passes, a WebSocket server
that sends what it is told, and a perpd with an account that the libraries may use.
"""
import asyncio
import base64
import contextlib
import hashlib
import json
import os
import pathlib
import struct
import subprocess
import tempfile

import client
import world
from ws_client import CLOSE, GUID, TEXT, crc32c, frame

ACTIVE = 0  # of a market (rules.md)
FATES = ("pass", "lost_before", "lost_after", "refused", "refused_after", "late")


class LiveWorld(world.World):
    """A rich account and its secrets as files, which the libraries read, and another account.
    `restart` is kill -9 and a start on the same port."""

    def __init__(self, process, folder):
        super().__init__(process.exchange)
        self.process, exchange = process, process.exchange
        self.url = f"http://127.0.0.1:{exchange.port}"
        self.folder = pathlib.Path(folder)
        self.secrets = self.secrets_of("maker", self.rich)
        self.other = self.account(1_000_000)

    def secrets_of(self, name, account):
        """{"key": file, "api_key": file} of an account; the API key may write."""
        made = self.exchange.ack(client.CREATE_API_KEY, client.api_key_body(account.id, scope=1),
                                 account.session)["api_key"]
        seed = base64.b64encode(account.session._secret[:32]).decode()
        texts = {"key": f"curve = ed25519\nsecret = {seed}\n", "api_key": made + "\n"}
        for kind, text in texts.items():
            path = self.folder / f"{name}.{kind}"
            path.touch(mode=0o600)
            path.write_text(text)
            texts[kind] = str(path)
        return texts

    def restart(self):
        port = self.exchange.port
        self.process.stop(9)
        self.process.options.append(f"--net.listen=127.0.0.1:{port}")
        self.process.start()
        self.btc(world.BTC_PRICE)

    def restore(self, sequence):
        """Stopped, taken back to that sequence by perp restore (another epoch), and started on the
        same port; the operator opens its markets again."""
        port, perpd = self.exchange.port, self.process
        perpd.stop()
        former = [word for word in perpd.arguments() if word.startswith("--store.data=")][-1][13:]
        data = f"{former}-restored"
        subprocess.run([world.perpd_program().parent / "perp", "restore", former, data, "--to",
                        str(sequence)], check=True, stdout=subprocess.DEVNULL)
        perpd.options += [f"--net.listen=127.0.0.1:{port}", f"--store.data={data}"]
        perpd.start()
        self.btc(world.BTC_PRICE)
        for asset in range(1, 1 + len(self.exchange.get("/api/v1/markets").json)):
            self.exchange.ack(client.MARKET_STATE, client.state_body(asset, ACTIVE),
                              self.exchange.operator)


@contextlib.contextmanager
def live_world(*options, program="perpd"):
    """A LiveWorld of a perpd of its own, or of another program of the build folder."""
    process = client.Perpd(world.perpd_program().parent / program, "--exchange.oracle_max_age_ms=0",
                           "--exchange.testnet=on", *options, *client.SMALL_TABLES)
    with process, tempfile.TemporaryDirectory() as folder:
        yield LiveWorld(process, folder)


def run_live(suite, past_ms):
    """Runs the suite on a perpd of its own whose ids live that long."""
    with live_world(f"--exchange.clock_past_ms={past_ms}", "--limits.total_rate=1000") as here:
        return suite.run(here, world.only())


async def followed(here):
    """The index moves each second for PERPD_QUICKSTART_S seconds, and comes back; the maker of the
    examples is there then."""
    for step in range(int(os.environ.get("PERPD_QUICKSTART_S", "0"))):
        here.btc(1_000_000 + 2_000 * (step % 5))
        await asyncio.sleep(1)
    here.btc(1_000_000)
    while not quotes_follow(here, 100_000):
        await asyncio.sleep(0.02)


def quotes_follow(here, index):
    """Whether the maker of the examples quotes 10 bps around the mark, and the mark is at `index`
    or as near as books of before let it be (R5). It moves an order by more than 5 ticks alone."""
    mark = float(here.exchange.get("/api/v1/markets/BTC-PERP/mark").json["mark_price"])
    rows = here.rich.read("/api/v1/orders?status=OPEN").json
    shown = {row["side"]: float(row["price"]) for row in rows}
    return len(rows) == 2 and abs(mark - index) <= index * 0.0025 and all(
        abs(shown.get(side, 0) - mark * part) < 0.7
        for side, part in (("LONG", 0.999), ("SHORT", 1.001)))


async def move(here, random, count):
    """Orders and trades of two accounts on BTC-PERP, without the library."""
    for _ in range(count):
        maker, taker = (here.rich, here.other) if random.random() < 0.5 else (here.other,
                                                                              here.rich)
        price = 1_000_000 + random.randrange(-60, 60)
        size = random.randrange(10, 40) * random.choice((-1, 1))
        maker.limit(price, size)
        if random.random() < 0.3:
            taker.limit(price, -size, expiry=client.IOC)
        if random.random() < 0.05:
            maker.cancel_all()
        await asyncio.sleep(0)


async def read_message(reader):
    """One HTTP/1.1 message with its head."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = 0
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return head + (await reader.readexactly(length) if length else b"")


class Proxy:
    """Passes HTTP on to a port. What becomes of a POST is decided by `fate(message)`: one of FATES,
    or "not_leader", as a standby answers whose leader is at that port."""

    def __init__(self, port, fate):
        self._port, self._fate = port, fate
        self.seen = []

    async def __aenter__(self):
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_):
        self._server.close()

    async def _serve(self, reader, writer):
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._port)
            while True:
                message = await read_message(reader)
                fate = self._fate(message) if message.startswith(b"POST") else "pass"
                self.seen.append((message.split(b" ", 2)[1].decode(), fate))
                if fate == "lost_before":
                    break
                if fate not in ("refused", "not_leader"):
                    far_writer.write(message)
                    answer = await read_message(far_reader)
                if fate == "lost_after":
                    break
                if fate in ("refused", "refused_after"):
                    answer = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"
                if fate == "not_leader":
                    body = json.dumps({"status": 421, "code": "not_leader", "detail": "",
                                       "leader": f"127.0.0.1:{self._port}"}).encode()
                    answer = (b"HTTP/1.1 421 Misdirected Request\r\nContent-Length: %d\r\n\r\n"
                              % len(body)) + body
                if fate == "late":
                    await asyncio.sleep(0.3)
                writer.write(answer)
                await writer.drain()
            far_writer.close()
        writer.close()


class FakeStream:
    """A WebSocket server whose `play(peer)` is the script of every connection."""

    def __init__(self, play):
        self._play, self.connections = play, 0

    async def __aenter__(self):
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_):
        self._server.close()

    async def _serve(self, reader, writer):
        self.connections += 1
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            key = next(line.split(b": ")[1] for line in head.split(b"\r\n")
                       if line.lower().startswith(b"sec-websocket-key"))
            proof = base64.b64encode(hashlib.sha1(key + GUID).digest())
            named = [line for line in head.split(b"\r\n")
                     if line.lower().startswith(b"sec-websocket-protocol")]
            writer.write(b"\r\n".join((
                b"HTTP/1.1 101 Switching Protocols", b"Upgrade: websocket", b"Connection: Upgrade",
                b"Sec-WebSocket-Accept: " + proof, *named, b"", b"")))
            await self._play(Peer(reader, writer))
        writer.close()


class Peer:
    """The server's end of a WebSocket."""

    def __init__(self, reader, writer):
        self._reader, self._writer = reader, writer

    async def raw(self, data):
        self._writer.write(data)
        await self._writer.drain()

    async def send(self, **message):
        await self.raw(frame(TEXT, json.dumps(message).encode(), masked=False))

    async def receive(self):
        """(opcode, bytes) of the client's next frame; it must be masked and whole."""
        first, second = await self._reader.readexactly(2)
        assert second & 0x80 and first & 0x80, "a client masks, and sends short messages whole"
        size = second & 0x7F
        if size == 126:
            size, = struct.unpack(">H", await self._reader.readexactly(2))
        mask = await self._reader.readexactly(4)
        data = await self._reader.readexactly(size)
        return first & 15, bytes(byte ^ mask[at % 4] for at, byte in enumerate(data))

    async def asked(self):
        """The next op, answered as perpd does."""
        opcode, data = await self.receive()
        if opcode == CLOSE:
            raise asyncio.IncompleteReadError(b"", 1)
        op = json.loads(data)
        await self.send(op=op["op"], id=op["id"], channel=op["channel"], market=op["market"],
                        epoch=1)
        return op


BTC = {"channel": "book", "market": "BTC-PERP", "engine_seq": 1, "time_ns": 1}


def book_frame(kind, seq, prev, bids=(), asks=(), **more):
    return {**BTC, "type": kind, "seq": seq, "prev_seq": prev,
            "data": {"bids": bids, "asks": asks}, **more}


def crc(*levels):
    return crc32c("".join(f"{price}:{size};" for price, size in levels).encode())


class BookFaults:
    """The script of a book with a gap, a wrong checksum, a crossed book, a deletion of nothing and
    a heartbeat of another seq, each of which must bring a new subscription, and an end."""

    FAULTS = (book_frame("update", 3, 2, [["99", "1"]]), book_frame("update", 2, 1, [["101", "1"]]),
              book_frame("update", 2, 1, [["98", "0"]]), book_frame("heartbeat", 1, 1, crc=7),
              {**BTC, "type": "heartbeat", "seq": 9, "prev_seq": 9, "data": {}})
    LAST_SEQ = 5

    def __init__(self):
        self.asked = []

    async def play(self, peer):
        for fault in [*self.FAULTS, None]:
            self.asked.append(await peer.asked())
            await peer.send(**book_frame("update", 70, 69, [["1", "1"]]))  # of the one before
            good = crc(("99", "2"), ("100", "3"))
            await peer.send(**book_frame("snapshot", 1, 1, [["99", "2"]], [["100", "3"]],
                                         crc=good))
            if fault is not None:
                await peer.send(**fault)
        await peer.send(**book_frame("update", self.LAST_SEQ, 1, [["98.5", "1"]], [["100", "0"]]))
        await peer.receive()

    def judge(self, table, shown, fake):
        """What a client asked for and showed, a row a state: is_live, bids, asks."""
        table.same("asked", [op["op"] for op in self.asked],
                   ["subscribe"] * (len(self.FAULTS) + 1))
        table.same("depth", self.asked[-1]["depth"], 10)
        table.true("only whole states", all(
            one in ([True, ["99"], ["100"]], [True, ["99", "98.5"], []], [False, [], []])
            for one in shown), shown)
        table.same("the last", shown[-1], [True, ["99", "98.5"], []])
        table.same("one connection", fake.connections, 1)


TYPES = {"snapshot": 1, "update": 2, "heartbeat": 3, "gap": 4}


def raw(text, decimals):
    """A decimal text in units of 10 ** -decimals."""
    whole, _, digits = text.partition(".")
    return int(whole + digits.ljust(decimals, "0"))


def book_message(frame):
    """A frame of BTC-PERP's book by W9's table: the frame of template 16, then its levels."""
    def head(template, count, flags=0):
        return struct.pack("<HHHHQQ", template, count, 1, flags, frame["seq"], frame["time_ns"])
    has_crc = "crc" in frame
    parts = [head(16, 48, int(has_crc)), struct.pack(
        "<QQBBHI", frame["prev_seq"], frame["engine_seq"], 1, TYPES[frame["type"]], 0,
        frame.get("crc", 0))]
    for side, levels in enumerate((frame["data"].get("bids", ()), frame["data"].get("asks", ()))):
        for price, size in levels:
            parts += [head(1, 48), struct.pack("<QQB7x", raw(price, 1), raw(size, 5), side)]
    return b"".join(parts)


class BinaryPeer:
    """Sends the frames of a script as binary messages, and its replies as texts."""

    def __init__(self, peer):
        self.peer = peer

    def __getattr__(self, name):
        return getattr(self.peer, name)

    async def send(self, **message):
        if "op" in message:
            await self.peer.send(**message)
            return
        data = book_message(message)
        size = bytes([len(data)]) if len(data) < 126 else b"\x7e" + struct.pack(">H", len(data))
        await self.peer.raw(b"\x82" + size + data)


def trade(number):
    """A row of the channel trades."""
    return {"price": "1", "size": "1", "taker_side": "LONG", "liquidation": False,
            "trade_seq": number, "sequence": number, "index": 0, "time": 1, "time_ns": 1}


async def refuse(peer):
    """A stream that has no token for what it is first asked for, and then refuses it."""
    for problem in ({"status": 429, "code": "rate_limited", "detail": "", "retry_after_ms": 20},
                    {"status": 400, "code": "invalid_parameter", "detail": "no"}):
        _, data = await peer.receive()
        await peer.send(op="subscribe", id=json.loads(data)["id"], problem=problem)
    await peer.receive()


class Arms:
    """A stream that grants a login and every subscription, and answers arms by `statuses`."""

    def __init__(self):
        self.statuses = [429, 503, 200, 429, 503, 200, 421]

    async def play(self, peer):
        while True:
            opcode, data = await peer.receive()
            if opcode == CLOSE:
                return
            op = json.loads(data)
            status = self.statuses.pop(0) if op["op"] == "cancel_on_disconnect" else 200
            code = {421: "not_leader", 429: "rate_limited"}.get(status, "not_ready")
            await peer.send(op=op["op"], id=op["id"], epoch=1, **({} if status == 200 else {
                "problem": {"status": status, "code": code, "detail": "", "retry_after_ms": 20}}))


async def changed(book):
    """Whether the stream moves on within a moment: REST may show a seq of another channel."""
    seq = book.seq
    for _ in range(20):
        await asyncio.sleep(0.01)
        if book.seq != seq:
            return True
    return False
