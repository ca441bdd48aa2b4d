"""watch_book.py URL MARKET COUNT - prints the best levels and the cost of buying 1, COUNT times."""
import asyncio
import sys

import perpd


async def main(url: str, name: str, count: str) -> None:
    async with perpd.connect(url) as ex:
        left = int(count)
        async for book in ex.watch_book(await ex.market(name), depth=50):
            if not book.is_live:
                print("the book is away")
                continue
            bid, ask = book.best()
            print(book.seq, bid, ask, book.cost("buy", perpd.Amount.of("1")), flush=True)
            left -= 1
            if left == 0:
                return


asyncio.run(main(*sys.argv[1:]))
