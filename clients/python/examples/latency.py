"""latency.py URL KEY_FILE API_KEY_FILE COUNT - places and cancels far from the market, and prints
the median of each stage in microseconds, as acknowledgements tell it, and of the round trip.
"""
import asyncio
import statistics
import sys
import time

import perpd


async def main(url: str, key: str, api_key: str, count: str) -> None:
    stages: dict[str, list[int]] = {}
    async with perpd.connect(url, key=key, api_key=api_key) as ex:
        market = await ex.market("BTC-PERP")
        price = market.round_price((await ex.mark(market)).price.times_bps(-500), "down")
        for _ in range(int(count)):
            begun = time.monotonic_ns()
            order = await ex.place(market, "buy", "0.01", price, post_only=True)
            stages.setdefault("round trip", []).append(time.monotonic_ns() - begun)
            assert order.outcome is not None
            for stage, value in order.outcome.answer["timing_ns"].items():
                stages.setdefault(stage, []).append(value)
            await order.cancel()
    for stage, values in stages.items():
        print(f"{stage:12} {statistics.median(values) / 1000:10.1f}")


asyncio.run(main(*sys.argv[1:]))
