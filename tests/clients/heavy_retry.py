"""heavy_retry.py BUILD - 2,000 intents of each client library behind a proxy that loses requests
and answers, refuses before and after the exchange, delays and closes, while the journal's disk
stands still for 10 s, longer than an id is good for: each intent is executed at most once, and what
the library says of it is what GET /requests/{id} says (console.md B3). The library of TypeScript
only where tools/setup --browser was called.
"""
import asyncio
import collections
import os
import pathlib
import sys
import tempfile
from random import Random

import python_library  # noqa: F401  (finds the folders)
from harness import Suite, Table
from peers import FATES, Proxy, live_world
import packages
import client

import perpd

INTENTS, AT_ONCE, STALL_S, BEFORE = 2_000, 64, 10, 300
PAST_MS = 3_000  # with the 5 s of the engine less than the disk stands still
suite = Suite("client retry")


async def stalls(done, file):
    """The disk stands still once so many intents have ended."""
    while len(done) < BEFORE:
        await asyncio.sleep(0.01)
    file.touch()
    await asyncio.sleep(STALL_S)
    file.unlink()


def records_are(table, here, said):
    """`said`: size, id and status of each intent, None for one that was not executed."""
    shown, page = collections.Counter(), []
    while not shown or page:
        after = f"&before_sequence={page[-1]['sequence']}&before_index={page[-1]['index']}" \
            if page else ""
        page = here.rich.read(f"/api/v1/orders?status=OPEN&limit=1000{after}").json
        shown.update(row["initial_size"] for row in page)
    for size, request_id, status in said:
        table.same(f"orders of {size}", shown[size], int(status == "request_completed"))
        record = here.rich.read(f"/api/v1/requests/{request_id}")
        table.same(f"the request of {size}", (record.status, record.json.get("status")),
                   (200, status) if status else (404, record.json.get("status")))
    counts = collections.Counter(status for _, _, status in said)
    print(f"{sum(counts.values())} intents: {dict(counts)}")
    table.same("intents", sum(counts.values()), INTENTS)
    table.true("both outcomes were met", len(counts) > 1, counts)


def fate_of(random):
    return lambda _: random.choice(FATES + ("pass",) * len(FATES))


@suite.case
def python(file):
    """The library of Python."""
    table = Table()

    async def work(here):
        said, room = [], asyncio.Semaphore(AT_ONCE)
        async with Proxy(here.exchange.port, fate_of(Random(40))) as proxy, \
                perpd.connect(proxy.url, **here.secrets, timeout_s=2) as ex:
            market = await ex.market("BTC-PERP")

            async def intend(number):
                size = perpd.Amount(100 + number, 5)
                async with room:
                    try:
                        order = await ex.place(market, "buy", size, "98000", post_only=True)
                        said.append((str(size), order.id, "request_completed"))
                    except perpd.NotExecuted as error:
                        said.append((str(size), error.request_id, None))
                    except perpd.Rejected as error:
                        said.append((str(size), error.request_id, error.status))
            await asyncio.gather(stalls(said, file), *map(intend, range(INTENTS)))
        records_are(table, here, said)
    run(work)
    return table.wrong


@suite.case
def typescript(file):
    """The library of TypeScript."""
    table = Table()
    if packages.lacking("typescript", "ws"):
        print("node's packages are not installed (tools/setup --browser): not tried")
        return []
    import typescript_library
    script = pathlib.Path(__file__).with_name("typescript_live.mjs")

    async def work(here):
        said = []
        async with Proxy(here.exchange.port, fate_of(Random(41))) as proxy:
            node = await asyncio.create_subprocess_exec(
                "node", script, folder, "retry", proxy.url, *here.secrets.values(), str(INTENTS),
                str(AT_ONCE), env=typescript_library.ENVIRONMENT, stdout=asyncio.subprocess.PIPE)
            stalling = asyncio.create_task(stalls(said, file))
            async for line in node.stdout:
                said.append(tuple(client.json.loads(line)))
            await asyncio.gather(stalling, node.wait())
        records_are(table, here, said)
    with typescript_library.library() as folder:
        run(work)
    return table.wrong


def run(work):
    with live_world(f"--exchange.clock_past_ms={PAST_MS}", "--limits.total_rate=1000",
                    f"--limits.open_orders={2 * INTENTS}", program="tests/perpd_stalled") as here:
        asyncio.run(work(here))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        file_of_stalls = pathlib.Path(name, "stalls")
        os.environ["DISK_STALLS"] = str(file_of_stalls)
        sys.exit(suite.run(file_of_stalls, sys.argv[2:]))
