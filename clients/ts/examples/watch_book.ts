// watch_book.js URL MARKET COUNT - prints the best levels and the cost of buying 1, COUNT times.
import process from "node:process";
import { Amount, connect } from "perpd";
import { WebSocket } from "ws"; // Node 22 has its own

const [url = "", name = "", count = ""] = process.argv.slice(2);
const ex = await connect(url, { WebSocket });
let left = Number(count);
for await (const book of ex.watchBook(await ex.market(name))) {
  if (!book.isLive) {
    console.log("the book is away");
    continue;
  }
  const [bid, ask] = book.best();
  console.log(`${book.seq} ${bid} ${ask} ${book.cost("buy", Amount.of("1"))}`);
  left -= 1;
  if (left === 0) break;
}
ex.close();
