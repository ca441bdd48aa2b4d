"""notebook.py URL KEY_FILE API_KEY_FILE - without asyncio: an order, two marks, the account."""
import sys
from itertools import islice

import perpd.sync


def main(url: str, key: str, api_key: str) -> None:
    with perpd.sync.connect(url, key=key, api_key=api_key) as ex:
        market = ex.market("BTC-PERP")
        price = market.round_price(ex.mark(market).price.times_bps(-500), "down")
        order = ex.place(market, "buy", "0.01", price, post_only=True)
        print(order.status, order.price)
        for mark in islice(ex.watch_mark(market), 1):
            print(mark.price)
        print(order.cancel().status, len(ex.positions(market)))


main(*sys.argv[1:])
