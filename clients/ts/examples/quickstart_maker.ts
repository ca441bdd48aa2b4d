// quickstart_maker.js URL KEY_FILE API_KEY_FILE - quotes BTC-PERP 10 bps around the mark.
import process from "node:process";
import { connect, Rejected } from "perpd";
import type { Client, Market, Order } from "perpd";
import { readKey, readSecret } from "perpd/node";
import { WebSocket } from "ws"; // Node 22 has its own

const SIDES = [["buy", -10n, "down"], ["sell", 10n, "up"]] as const;

async function quote(ex: Client, market: Market, signal: AbortSignal): Promise<void> {
  await ex.cancelOnDisconnect(2000); // orders show their events from here on
  const quotes = new Map<string, Order>();
  for await (const mark of ex.watchMark(market, { signal })) { // the newest value only
    if (!mark.valid) {
      await ex.cancelAll(market);
      quotes.clear();
      continue;
    }
    for (const [side, bps, rounding] of SIDES) {
      const price = market.roundPrice(mark.price.timesBps(bps), rounding);
      const order = quotes.get(side);
      try {
        if (order?.isOpen !== true) {
          quotes.set(side, await ex.place(market, side, "0.01", price, { postOnly: true }));
        } else if (order.price?.equals(price) !== true) {
          await order.replace(price, "0.01", { expectedRemaining: order.remaining });
        }
      } catch (error) { // filled in between, or the book has moved
        if (!(error instanceof Rejected)) throw error;
      }
    }
  }
}

const [url = "", key = "", apiKey = ""] = process.argv.slice(2);
const stop = new AbortController();
process.on("SIGINT", () => stop.abort());
const ex = await connect(url, { key: await readKey(key), apiKey: await readSecret(apiKey), WebSocket });
const market = await ex.market("BTC-PERP");
await quote(ex, market, stop.signal).finally(() => ex.flatten(market)).finally(() => ex.close());
