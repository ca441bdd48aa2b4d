"""ws_client.py - a WebSocket client (RFC 6455) that also sends what no library would."""
import base64
import hashlib
import json
import os
import pathlib
import socket
import struct

from client import PATIENCE_S, request_bytes
from schema import faults

GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
DOCUMENT = json.loads((pathlib.Path(__file__).resolve().parents[2] / "docs/asyncapi.json")
                      .read_text())


def schema_of(message):
    """The schema of a reply or a frame, by its op, or its channel and type."""
    if "problem" in message:
        name = "Refusal"
    elif message.get("op") == "signed":
        name = "SignedSuccessAnswer" if "success" in message else "SignedRequestAck"
    elif "op" in message:
        name = message["op"].title().replace("_", "") + "Reply"
    else:
        name = (message["channel"] + "_" + message["type"]).title().replace("_", "")
    return {"$ref": f"#/components/schemas/{name}"}


def frame(opcode, data=b"", fin=True, masked=True, rsv=0):
    mask = os.urandom(4) if masked else b""
    head = bytes([fin << 7 | rsv << 4 | opcode])
    if len(data) < 126:
        head += bytes([masked << 7 | len(data)])
    elif len(data) < 65536:
        head += bytes([masked << 7 | 126]) + struct.pack(">H", len(data))
    else:
        head += bytes([masked << 7 | 127]) + struct.pack(">Q", len(data))
    if masked:
        data = bytes(byte ^ mask[at % 4] for at, byte in enumerate(data))
    return head + mask + data


def long_head(length):
    """The head of a text whose length stands in eight bytes."""
    return b"\x81\xff" + struct.pack(">Q", length) + bytes(4)


# RFC 7.4: close codes that a client may send, and those that are nobody's to send or reserved.
CODES = (1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999)
NO_CODES = (0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535)
# What ends a stream: its name, the bytes, and perpd's close code (RFC 5 to 7; wire.md W9).
ENDS = (
    ("no mask", frame(TEXT, b"{}", masked=False), 1002),
    ("a ping without a mask", frame(PING, masked=False), 1002),
    ("RSV1: compression was not agreed", frame(TEXT, b"{}", rsv=4), 1002),
    ("RSV2", frame(TEXT, b"{}", rsv=2), 1002), ("RSV3", frame(TEXT, b"{}", rsv=1), 1002),
    ("RSV3 of a ping", frame(PING, rsv=1), 1002),
    *((f"opcode {opcode}", frame(opcode), 1002) for opcode in (*range(3, 8), *range(11, 16))),
    ("all 64 bits of a length", long_head(2 ** 64 - 1), 1002),
    ("the top bit of a length alone", long_head(2 ** 63), 1002),
    ("the 63 others", long_head(2 ** 63 - 1) + b"x", 1009),
    ("9 bytes in a length of 64 bits", long_head(9), 1002),
    ("9 bytes in a length of 16 bits", b"\x81\xfe\0\x09" + bytes(4), 1002),
    ("a long ping", frame(PING, b"x" * 126), 1002),
    ("a fragmented ping", frame(PING, b"x", fin=False), 1002),
    ("a continuation of nothing", frame(0, b"{}"), 1002),
    ("text within a message", frame(TEXT, b"{", fin=False) + frame(TEXT, b"{}"), 1002),
    ("close of one byte", frame(CLOSE, b"\x03"), 1002),
    *((f"close code {code}", frame(CLOSE, struct.pack(">H", code)), 1002) for code in NO_CODES),
    *((f"close code {code}", frame(CLOSE, struct.pack(">H", code)), code) for code in CODES),
    ("close without a code", frame(CLOSE), None),
    ("bad UTF-8", frame(TEXT, b"\xc3\x28"), 1007),
    ("UTF-8 cut off", frame(TEXT, b"\xe2\x82"), 1007),
    ("UTF-8 of a surrogate", frame(TEXT, b"\xed\xa0\x80"), 1007),
    ("UTF-8 above U+10FFFF", frame(TEXT, b"\xf4\x90\x80\x80"), 1007),
    ("bad UTF-8 in a close reason", frame(CLOSE, b"\x03\xe8\xff"), 1007),
    ("binary", frame(BINARY, b"x"), 1003),
    ("16,897 bytes", frame(TEXT, b" " * 16897), 1009),
    ("16,897 bytes in two", frame(TEXT, b" " * 16896, fin=False) + frame(0, b" "), 1009),
)


def handshake(key=None, **changes):
    headers = {"Upgrade": "websocket", "Connection": "keep-alive, Upgrade",
               "Sec-WebSocket-Key": key or base64.b64encode(os.urandom(16)).decode(),
               "Sec-WebSocket-Version": "13"}
    headers.update({name.replace("_", "-"): value for name, value in changes.items()})
    return request_bytes("GET", "/api/v1/stream",
                         headers=[(n, v) for n, v in headers.items() if v is not None])


def narrowed(wide):
    """The same connection made again, with short segments and little room for what is not read."""
    narrow = socket.socket()
    narrow.settimeout(PATIENCE_S)
    narrow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    narrow.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)
    narrow.connect(wide.getpeername())
    wide.close()
    return narrow


class Stream:
    """One WebSocket; `take` gives the next frame as (opcode, bytes), `next` the next message."""

    def __init__(self, exchange, narrow=False, before=b"", subprotocol=None):
        """`narrow`: kernels keep little of what it does not read."""
        key = base64.b64encode(os.urandom(16)).decode()
        self.connection = exchange.open(PATIENCE_S)
        if narrow:
            self.connection.socket = narrowed(self.connection.socket)
        self.connection.send(before + handshake(key, Sec_WebSocket_Protocol=subprotocol))
        for _ in range(before.count(b" HTTP/1.1\r\n")):
            assert self.connection.receive().status == 200
        self.buffer = self.connection.buffer
        head = self._line_end()
        assert head.startswith(b"HTTP/1.1 101 "), head
        wanted = base64.b64encode(hashlib.sha1(key.encode() + GUID).digest())
        assert b"Sec-WebSocket-Accept: " + wanted + b"\r\n" in head, head
        self.subprotocol = next((line.split(b": ", 1)[1].decode() for line in head.split(b"\r\n")
                                 if line.startswith(b"Sec-WebSocket-Protocol: ")), None)

    def _line_end(self):
        while b"\r\n\r\n" not in self.buffer:
            self._more()
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        return head + b"\r\n"

    def _more(self):
        data = self.connection.socket.recv(65536)
        if not data:
            raise EOFError("closed")
        self.buffer += data

    def _bytes(self, count):
        while len(self.buffer) < count:
            self._more()
        data, self.buffer = self.buffer[:count], self.buffer[count:]
        return data

    def raw(self, data):
        self.connection.send(data)

    def ask(self, **op):
        self.raw(frame(TEXT, json.dumps(op).encode()))

    def take(self):
        first, second = self._bytes(2)
        assert first & 0x70 == 0 and second & 0x80 == 0, (first, second)
        count = second & 0x7F
        if count == 126:
            count, = struct.unpack(">H", self._bytes(2))
        elif count == 127:
            count, = struct.unpack(">Q", self._bytes(8))
        return first & 15, self._bytes(count)

    def next(self, beats=False):
        """The next message; heartbeats come at any time and are passed over unless asked for."""
        while True:
            opcode, data = self.take()
            assert opcode == TEXT, (opcode, data)
            message = json.loads(data)
            wrong = faults(DOCUMENT, schema_of(message), message)
            assert not wrong, (wrong, message)
            if beats or message.get("type") != "heartbeat":
                return message

    def closed(self):
        """The code of the close frame that comes next, other frames passed over."""
        while True:
            opcode, data = self.take()
            if opcode == CLOSE:
                return struct.unpack(">H", data[:2])[0] if data else None

    def end(self):
        self.connection.close()


def crc32c(data):
    """CRC-32C, bit by bit (RFC 3720, B.4)."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


class Queue:
    """The single orders of a book as json.md J9 tells a client to keep them: [price, size] by
    handle, which ascends with the place in a level's queue."""

    def __init__(self):
        self.seq, self.sides, self.actions = None, {"LONG": {}, "SHORT": {}}, []

    def apply(self, shown):
        """Takes a frame; it must fit what is there."""
        if shown["type"] == "snapshot":
            assert shown["prev_seq"] == shown["seq"], shown
            self.sides = {side: {} for side in self.sides}
            for order in shown["data"]["orders"]:
                self.sides[order["side"]][order["handle"]] = [order["price"], order["size"]]
        else:
            assert shown["prev_seq"] == self.seq, (self.seq, shown)
        if shown["type"] == "update":
            assert shown["seq"] > self.seq, shown
            self._change(shown["seq"], **shown["data"])
        self.seq = shown["seq"]

    def _change(self, seq, action, handle, side, price, size):
        orders = self.sides[side]
        self.actions.append(action)
        if action == "add":
            assert handle == seq and size != "0", (seq, handle, size)
        else:
            assert handle in orders and orders[handle][0] == price, (action, handle, orders)
            assert float(size) < float(orders[handle][1]), (action, size, orders[handle])
            assert (size == "0") <= (action != "reduce") and (action != "delete" or size == "0")
        orders.pop(handle, None)
        if size != "0":
            orders[handle] = [price, size]

    def shown(self):
        """As GET /book/l3 lists them."""
        return [{"handle": handle, "side": side, "price": price, "size": size}
                for side, sign in (("LONG", -1), ("SHORT", 1))
                for handle, (price, size) in sorted(
                    self.sides[side].items(), key=lambda row: (sign * float(row[1][0]), row[0]))]


class Book:
    """A book as json.md J9 tells a client to keep it: decimals as they came, by price."""

    def __init__(self, depth):
        self.depth, self.seq, self.sides = depth, None, {"bids": {}, "asks": {}}
        self.snapshots = 0

    def apply(self, shown):
        """Takes a frame; what the frame says of the one before must be so."""
        if shown["type"] == "snapshot":
            assert shown["prev_seq"] == shown["seq"], shown
            self.sides = {side: dict(shown["data"][side]) for side in self.sides}
            self.snapshots += 1
        else:
            assert shown["prev_seq"] == self.seq, (self.seq, shown)
        if shown["type"] == "update":
            assert shown["seq"] > self.seq, shown
            for side, levels in self.sides.items():
                for price, size in shown["data"][side]:
                    assert (size != "0") or price in levels, shown
                    levels.pop(price, None)
                    if size != "0":
                        levels[price] = size
        self.seq = shown["seq"]
        if "crc" in shown:
            assert shown["crc"] == self.crc(), shown

    def shown(self):
        return {side: [[price, levels[price]] for price in
                       sorted(levels, key=float, reverse=side == "bids")]
                for side, levels in self.sides.items()}

    def crc(self):
        levels = self.shown()
        return crc32c("".join(f"{price}:{size};" for side in ("bids", "asks")
                              for price, size in levels[side][:25]).encode())
