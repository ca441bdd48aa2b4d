"""ws.py - a WebSocket client (RFC 6455): masking, fragments, ping, close; no extension. Without a
subprotocol its messages are texts, with one also bytes.
"""
from __future__ import annotations

import asyncio
import base64
import hashlib
import os
import struct

from .errors import Lost
from .http import Connection, Origin, read_head

_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_CONTINUED, _TEXT, _BINARY, _CLOSE, _PING, _PONG = 0, 1, 2, 8, 9, 10
_MESSAGE_MAX = 16 << 20
_NO_CODE = 1005
_NEVER_SENT = (1004, _NO_CODE, 1006)


class Closed(Lost):
    """The peer has closed, or was closed because of what it sent; `code` is RFC 6455's."""

    def __init__(self, code: int, reason: str) -> None:
        self.code = code
        super().__init__(f"the stream ended: {code} {reason}".rstrip(), True)


class WebSocket:
    """One connection; `send` and `receive` whole text messages, `send_bytes` and `receive_any`
    those of a subprotocol."""

    def __init__(self, connection: Connection, has_bytes: bool = False) -> None:
        self._reader, self._writer = connection
        self._is_closing = False
        self._has_bytes = has_bytes

    @classmethod
    async def open(cls, origin: Origin, target: str, subprotocol: str = "") -> WebSocket:
        """The handshake; Lost when there is no connection, or it or the subprotocol is refused."""
        connection = await origin.open()
        key = base64.b64encode(os.urandom(16))
        asked = f"Sec-WebSocket-Protocol: {subprotocol}\r\n" if subprotocol else ""
        connection[1].write((f"GET {target} HTTP/1.1\r\nHost: {origin.authority}\r\n"
                             "Upgrade: websocket\r\nConnection: Upgrade\r\n"
                             f"Sec-WebSocket-Version: 13\r\n{asked}"
                             f"Sec-WebSocket-Key: {key.decode()}\r\n\r\n").encode("latin-1"))
        try:
            status, headers = await read_head(connection[0])
        except (OSError, ValueError, asyncio.IncompleteReadError,
                asyncio.LimitOverrunError) as error:
            connection[1].close()
            raise Lost(f"no handshake: {error}", True) from error
        proof = base64.b64encode(hashlib.sha1(key + _GUID).digest()).decode()
        if (status != 101 or headers.get("sec-websocket-accept") != proof
                or headers.get("upgrade", "").lower() != "websocket"
                or headers.get("sec-websocket-protocol", "") != subprotocol
                or "sec-websocket-extensions" in headers):
            connection[1].close()
            raise Lost(f"the stream was refused: {status}", True)
        return cls(connection, bool(subprotocol))

    async def send(self, text: str) -> None:
        await self._send(_TEXT, text.encode())

    async def send_bytes(self, data: bytes) -> None:
        await self._send(_BINARY, data)

    async def _send(self, opcode: int, data: bytes) -> None:
        mask = os.urandom(4)
        head = bytes([0x80 | opcode])
        if len(data) < 126:
            head += bytes([0x80 | len(data)])
        elif len(data) < 65536:
            head += struct.pack(">BH", 0x80 | 126, len(data))
        else:
            head += struct.pack(">BQ", 0x80 | 127, len(data))
        pad = int.from_bytes((mask * (len(data) // 4 + 1))[:len(data)], "big")
        masked = (int.from_bytes(data, "big") ^ pad).to_bytes(len(data), "big")
        try:
            self._writer.write(head + mask + masked)
            await self._writer.drain()
        except OSError as error:
            raise Closed(1006, str(error)) from error

    async def receive(self) -> str:
        """The next message, a text; pings in between are answered. Closed when there is none any
        more."""
        message = await self.receive_any()
        return message if isinstance(message, str) else await self._fail(1003, "bytes")

    async def receive_any(self) -> str | bytes:
        """The next message, of a subprotocol a text or bytes."""
        parts: list[bytes] = []
        size, is_text = 0, True
        while True:
            is_last, opcode, data = await self._frame()
            if opcode == _PING:
                await self._send(_PONG, data)
            elif opcode == _CLOSE:
                await self._end_by(data)
            elif opcode in (_TEXT, _CONTINUED) or opcode == _BINARY and self._has_bytes:
                if (opcode != _CONTINUED) == bool(parts):
                    await self._fail(1002, "a fragment out of order")
                is_text = opcode == _TEXT or opcode == _CONTINUED and is_text
                size += len(data)
                if size > _MESSAGE_MAX:
                    await self._fail(1009, "a message too large")
                parts.append(data)
                if is_last:
                    whole = b"".join(parts)
                    return await self._text(whole) if is_text else whole
            elif opcode == _BINARY:
                await self._fail(1003, "a binary message")
            elif opcode != _PONG:
                await self._fail(1002, f"the opcode {opcode}")

    async def _frame(self) -> tuple[bool, int, bytes]:
        try:
            first, second = await self._reader.readexactly(2)
            if first & 0x70 or second & 0x80:
                await self._fail(1002, "a reserved bit or a mask")
            size, is_control = second & 0x7F, first & 8
            if is_control and (size > 125 or not first & 0x80):
                await self._fail(1002, "a control frame in parts or too long")
            if size == 126:
                size, = struct.unpack(">H", await self._reader.readexactly(2))
            elif size == 127:
                size, = struct.unpack(">Q", await self._reader.readexactly(8))
            if size > _MESSAGE_MAX:
                await self._fail(1009, "a frame too large")
            return bool(first & 0x80), first & 15, await self._reader.readexactly(size)
        except (OSError, asyncio.IncompleteReadError) as error:
            raise Closed(1006, type(error).__name__) from error

    async def _text(self, data: bytes) -> str:
        try:
            return data.decode()
        except UnicodeDecodeError:
            return await self._fail(1007, "no UTF-8")

    async def _end_by(self, data: bytes) -> None:
        code = struct.unpack(">H", data[:2])[0] if len(data) >= 2 else _NO_CODE
        if len(data) == 1 or data and not (
                1000 <= code <= 1014 and code not in _NEVER_SENT or 3000 <= code <= 4999):
            await self._fail(1002, "a close frame of another form")
        reason = await self._text(data[2:])
        await self.close(1000 if code == _NO_CODE else code)
        raise Closed(code, reason)

    async def _fail(self, code: int, what: str) -> str:
        await self.close(code)
        raise Closed(code, f"the peer sent {what}")

    async def close(self, code: int = 1000) -> None:
        """Says goodbye and closes; nothing when that was done before."""
        if not self._is_closing:
            self._is_closing = True
            try:
                await self._send(_CLOSE, struct.pack(">H", code))
            except Closed:
                pass
            self._writer.close()
