"""resume_after_kill.py URL MARKET COUNT - prints COUNT trades without a gap, whatever happens to
the connection or to perpd in between, and what happened to them.
"""
import asyncio
import sys

import perpd


async def tell(ex: perpd.Client) -> None:
    async for event in ex.watch_events():
        print("#", event.kind, event.channel, event.market, event.detail, flush=True)


async def main(url: str, name: str, count: str) -> None:
    async with perpd.connect(url) as ex:
        teller = asyncio.create_task(tell(ex))
        left, last = int(count), None
        async for trade in ex.watch_trades(await ex.market(name)):
            assert last is None or trade.trade_seq == last + 1
            last = trade.trade_seq
            print(trade.trade_seq, trade.taker_side, trade.size, trade.price, flush=True)
            left -= 1
            if left == 0:
                break
        teller.cancel()


asyncio.run(main(*sys.argv[1:]))
