"""websockets_python.py - the WebSocket of clients/python with python3-websockets as its server.
"""
import asyncio
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
