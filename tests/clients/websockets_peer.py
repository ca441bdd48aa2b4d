"""websockets_peer.py - a server of python3-websockets, another implementation of RFC 6455: says its
port, and to each connection a message in fragments with a ping between, then echoes until "end".
"""
import asyncio

import websockets


async def serve(peer, path=None):
    async def parts():
        yield "a"
        await peer.ping(b"between")
        yield "é"
    await peer.send(parts())
    await asyncio.wait_for(await peer.ping(b"after"), 200)  # its pong has come
    async for text in peer:
        if text == "end":
            await peer.close(4008, "slow")
            return
        await peer.send(text)


async def main():
    async with websockets.serve(serve, "127.0.0.1", 0, compression=None,
                                max_size=1 << 24, ping_timeout=None) as server:
        print(server.sockets[0].getsockname()[1], flush=True)
        await asyncio.Future()


asyncio.run(main())
