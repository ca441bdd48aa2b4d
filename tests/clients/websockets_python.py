"""websockets_python.py - the WebSocket of clients/python with python3-websockets as its server, and
with perpd.
"""
import asyncio
import json
import subprocess
import sys

from python_library import ROOT
from perpd.http import Origin
from perpd.ws import Closed, WebSocket


async def echoes(table):
    """Messages of each length of a head come back whole, and so does the close code."""
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-c", "import websockets"], capture_output=True).returncode == 0:
            break
    else:
        print("python3-websockets is not installed (tools/setup --browser): not tried")
        return
    server = await asyncio.create_subprocess_exec(
        python, ROOT / "tests/clients/websockets_peer.py", stdout=asyncio.subprocess.PIPE)
    try:
        port = int(await server.stdout.readline())
        socket = await WebSocket.open(Origin(f"http://127.0.0.1:{port}"), "/")
        table.same("in parts", await socket.receive(), "aé")
        for size in (0, 125, 126, 65_535, 65_536, 1 << 20):
            await socket.send("é" * (size // 2) + "x" * (size % 2))
            got = await socket.receive()
            table.same(f"{size} bytes", (len(got.encode()), set(got) <= {"é", "x"}), (size, True))
        await socket.send("end")
        code = None
        try:
            await socket.receive()
        except Closed as closed:
            code = closed.code
        table.same("closed", code, 4008)
    finally:
        server.kill()
        await server.wait()


async def closed_code(socket):
    try:
        while True:
            await socket.receive()
    except Closed as closed:
        return closed.code


async def with_perpd(table, here):
    """perpd reads what the client masks, of each length of a head; a ping of the client comes back
    before the next answer; each fault ends with its code (W9)."""
    def opened():
        return WebSocket.open(Origin(here.url), "/api/v1/stream")

    async def answer(socket, text):
        await socket.send(text)
        return json.loads(await socket.receive())
    socket = await opened()
    for size in (20, 125, 126, 200, 16_896):
        op = '{"op":"no","id":7}'
        table.same(f"{size} bytes", (await answer(socket, op.ljust(size)))["id"], 7)
    await socket._send(9, "é".encode())
    said = await answer(socket, '{"op":"subscribe","id":8,"channel":"é"}')
    table.same("behind a ping", (said["id"], "problem" in said), (8, True))
    faults = ((1009, 1, b" " * 16_897), (1003, 2, b"x"), (1007, 1, b"\xff"), (1002, 3, b""),
              (1002, 9, b"x" * 126), (1002, 0, b"x"))
    for code, opcode, data in faults:
        peer = await opened()
        await peer._send(opcode, data)
        table.same(f"opcode {opcode}, {len(data)} bytes", await closed_code(peer), code)
    await socket._send(8, (1000).to_bytes(2, "big"))
    table.same("an echoed close", await closed_code(socket), 1000)
