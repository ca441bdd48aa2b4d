// resume_after_kill.js URL MARKET COUNT - prints COUNT trades without a gap, whatever happens to the
// connection or to perpd in between, and what happened to them.
import process from "node:process";
import { connect } from "perpd";
import { WebSocket } from "ws"; // Node 22 has its own

const [url = "", name = "", count = ""] = process.argv.slice(2);
const ex = await connect(url, { WebSocket });
const stop = new AbortController();
const teller = (async () => {
  for await (const event of ex.watchEvents({ signal: stop.signal })) {
    console.log(`# ${event.kind} ${event.channel} ${event.market} ${event.detail}`);
  }
})();
let left = Number(count);
for await (const trade of ex.watchTrades(await ex.market(name))) {
  console.log(`${trade.tradeSeq} ${trade.takerSide} ${trade.size} ${trade.price}`);
  left -= 1;
  if (left === 0) break;
}
stop.abort();
await teller;
ex.close();
