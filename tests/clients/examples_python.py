"""examples_python.py - the examples of the Python library as programs, on the wheel, installed.
"""
import asyncio
import signal
import sys

from peers import followed, quotes_follow
from python_library import PYTHON, ROOT, installed

import client
import client_wheel
import world


async def until(look):
    while not look():
        await asyncio.sleep(0.01)


async def example(here, name, *words):
    """A script of clients/python/examples that runs on the wheel, installed."""
    target = here.folder / "installed"
    if not target.exists():
        installed(client_wheel.pack(PYTHON, ROOT / "LICENSE", here.folder), target)
    return await asyncio.create_subprocess_exec(
        sys.executable, PYTHON / f"examples/{name}.py", here.url, *words,
        env={"PYTHONPATH": str(target), "PATH": "/usr/bin:/bin"},
        stdout=asyncio.subprocess.PIPE)


async def examples(table, here):
    """Each example does what it says; the maker follows the mark and leaves nothing behind."""
    here.rich.cancel_all()
    here.other.cancel_all()
    maker = await example(here, "quickstart_maker", *here.secrets.values())
    await until(lambda: quotes_follow(here, 100_000))
    await followed(here)
    here.btc(1_010_000)
    await until(lambda: quotes_follow(here, 101_000))
    # Somebody has traded with it: it ends without an order and without a position.
    here.other.limit(1_013_000, -2_000_000)
    here.other.limit(1_007_000, 2_000_000)
    here.other.limit(1_011_100, 500, expiry=client.IOC)
    maker.send_signal(signal.SIGINT)
    await maker.communicate()
    table.same("nothing is left", here.rich.read("/api/v1/orders?status=OPEN").json, [])
    table.same("flat", here.rich.read("/api/v1/positions?market=BTC-PERP").json, [])
    here.other.cancel_all()
    here.rich.limit(900_000, 200)  # what it has armed ends two seconds after its connection
    await until(lambda: here.rich.read("/api/v1/orders?status=OPEN").json == [])
    here.btc(world.BTC_PRICE)
    watcher = await example(here, "watch_book", "BTC-PERP", "2")
    first = (await watcher.stdout.readline()).split()
    table.same("an empty book", first[1:], [b"None"] * 3)
    here.rich.limit(1_000_000, -100_000)
    table.same("an ask", (await watcher.stdout.readline()).split()[1:],
               [b"None", b"100000", b"100000"])
    table.same("it ended", await watcher.wait(), 0)
    tape = await example(here, "resume_after_kill", "BTC-PERP", "2")
    table.same("its first line", await tape.stdout.readline(), b"# live trades BTC-PERP \n")
    for price in (999_990, 999_980):
        here.rich.limit(price, -20)
        here.other.limit(price, 20, expiry=client.IOC)
    said = (await tape.communicate())[0].decode().splitlines()
    table.same("the tape", [line.split()[1:] for line in said],
               [["LONG", "0.0002", "99999"], ["LONG", "0.0002", "99998"]])
    here.rich.cancel_all()
    done = await (await example(here, "notebook", *here.secrets.values())).communicate()
    (status, price), (mark,), *last = map(str.split, done[0].decode().splitlines())
    table.same("without asyncio", (status, last), ("OPEN", [["CANCELED", "1"]]))
    table.true("5 % below", abs(float(mark) * 0.95 - float(price)) < 2, (price, mark))
    table.true("the mark", abs(float(mark) - 100_000) <= 250, mark)
    done = await (await example(here, "latency", *here.secrets.values(), "3")).communicate()
    table.same("stages", [line.rsplit(maxsplit=1)[0] for line in done[0].decode().splitlines()],
               ["round trip", "verified", "sequenced", "matched", "ack"])
    scratch = here.folder / "scratch"
    scratch.mkdir()
    done = await (await example(here, "account_from_scratch", scratch)).communicate()
    table.same("from scratch", done[0].split()[1:], [b"OPEN"])
    (scratch / "master.key").unlink()
    again = await example(here, "account_from_scratch", scratch)
    await again.communicate()
    table.same("a second time", (again.returncode != 0, (scratch / "master.key").exists()),
               (True, False))
