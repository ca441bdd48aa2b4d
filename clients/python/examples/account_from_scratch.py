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
    path.touch(0o600, exist_ok=False)  # nobody else may read it
    path.write_text(text + "\n")


async def main(url: str, name: str) -> None:
    files = [pathlib.Path(name, file) for file in ("master.key", "session.key", "reads.api")]
    if there := [str(file) for file in files if file.exists()]:
        sys.exit(f"{there[0]} is there already, and may own money: nothing was made")
    async with perpd.connect(url) as ex:
        exchange_id = (await ex.exchange())["exchange_id"]
    secrets = [os.urandom(32), os.urandom(32)]
    for file, secret in zip(files, secrets):
        keep(file, base64.b64encode(secret).decode())  # before it owns anything
    master, session = perpd.MasterKey(secrets[0], exchange_id), perpd.SessionKey(secrets[1])
    opened = await perpd.open_account(url, master, session, label="from scratch")
    keep(files[2], opened.api_key)
    async with perpd.connect(url, key=session, api_key=str(files[2])) as ex:
        await ex.faucet("10000")
        market = await ex.market("BTC-PERP")
        price = market.round_price((await ex.mark(market)).price.times_bps(-500), "down")
        order = await ex.place(market, "buy", "0.01", price, post_only=True)
        print(opened.account_id, order.status)
        await order.cancel()


asyncio.run(main(*sys.argv[1:]))
