"""account_from_scratch.py URL FOLDER - makes a master key and a session key in FOLDER, opens an
account with them on a test exchange, takes test money, places an order and cancels it.
"""
import asyncio
import base64
import os
import pathlib
import sys

import perpd


def keep(path: pathlib.Path, text: str) -> None:
    """A new file that nobody else may read; FileExistsError: there is one, which may own money."""
    path.touch(0o600, exist_ok=False)
    path.write_text(text + "\n")


async def main(url: str, name: str) -> None:
    folder = pathlib.Path(name)
    async with perpd.connect(url) as ex:
        exchange_id = (await ex.exchange())["exchange_id"]
    secrets = {"master.key": os.urandom(32), "session.key": os.urandom(32)}
    for file, secret in secrets.items():
        keep(folder / file, base64.b64encode(secret).decode())  # before it owns anything
    master = perpd.MasterKey(secrets["master.key"], exchange_id)
    session = perpd.SessionKey(secrets["session.key"])
    opened = await perpd.open_account(url, master, session, label="from scratch")
    keep(folder / "reads.api", opened.api_key)
    async with perpd.connect(url, key=session, api_key=str(folder / "reads.api")) as ex:
        await ex.faucet("10000")
        market = await ex.market("BTC-PERP")
        price = market.round_price((await ex.mark(market)).price.times_bps(-500), "down")
        order = await ex.place(market, "buy", "0.01", price, post_only=True)
        print(opened.account_id, order.status)
        await order.cancel()


asyncio.run(main(*sys.argv[1:]))
