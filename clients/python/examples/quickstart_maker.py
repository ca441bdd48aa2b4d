"""quickstart_maker.py URL KEY_FILE API_KEY_FILE - quotes BTC-PERP 10 bps around the mark."""
import asyncio
import sys

import perpd

SIDES: tuple[tuple[perpd.Direction, int, perpd.Rounding], ...] = (("buy", -10, "down"),
                                                                  ("sell", 10, "up"))


async def quote(ex: perpd.Client, market: perpd.Market) -> None:
    await ex.cancel_on_disconnect(grace_ms=2000)  # orders show their events from here on
    quotes: dict[perpd.Direction, perpd.Order] = {}
    async for mark in ex.watch_mark(market):  # the newest value only
        if not mark.valid:
            await ex.cancel_all(market)
            quotes.clear()
            continue
        for side, bps, rounding in SIDES:
            price = market.round_price(mark.price.times_bps(bps), rounding)
            order = quotes.get(side)
            try:
                if order is None or not order.is_open:
                    quotes[side] = await ex.place(market, side, "0.01", price, post_only=True)
                elif order.price is None or abs(order.price - price) > market.tick * 5:
                    await order.replace(price, "0.01", expected_remaining=order.remaining)
            except perpd.Rejected as refused:  # filled in between, or the book has moved
                print(side, price, refused)


async def main(url: str, key: str, api_key: str) -> None:
    async with perpd.connect(url, key=key, api_key=api_key) as ex:
        market = await ex.market("BTC-PERP")
        try:
            await quote(ex, market)
        finally:
            await ex.flatten(market)


asyncio.run(main(*sys.argv[1:]))
