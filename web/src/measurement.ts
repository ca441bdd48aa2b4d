/* A measurement of a test exchange: orders that nobody meets, each placed and cancelled. */
import { uuidBytes } from './bytes';
import { parseRaw } from './decimal';
import type { Exchange } from './exchange';
import type { Market } from './market';
import { portfolioBytes } from './payload';
import { statusText } from './code_text';
import type { Trader } from './trader';

const MICRO = 6;
const GTC = 0xffffffffffffffffn;
/** Of the writes that the exchange allows an account, what a measurement uses. */
const SHARE = 0.4;
const RATE_MAX = 50;

/** A buy order 20 % below the mark of the least size; null without a mark. */
function farOrder(market: Market): { price: bigint; quantity: bigint } | null {
  const text = market.mark?.mark_price;
  if (text == null) return null;
  const below = (market.price(text) * 4n) / 5n;
  const price = below - (below % market.tick);
  if (price === 0n) return null;
  const worth = (parseRaw(market.record.min_notional, MICRO)! + price - 1n) / price;
  const least = market.size(market.record.min_size);
  const size = worth > least ? worth : least;
  return { price, quantity: ((size + market.lot - 1n) / market.lot) * market.lot };
}

/** Places and cancels `count` orders, one after another. Gives what ended it early, or null. */
export async function measure(exchange: Exchange, trader: Trader, count: number, goesOn: () => boolean): Promise<string | null> {
  const market = exchange.market!;
  const account = trader.credentials!.account;
  const asset = BigInt(market.record.asset_id);
  const pause = 1000 / (SHARE * Math.min(RATE_MAX, exchange.record!.limits.write_rate));
  for (let turn = 0; turn < count && goesOn(); turn++) {
    const order = farOrder(market);
    if (order === null) return 'the market has no price';
    const begun = performance.now();
    const placed = await trader.sign('place_limit_order', {
      portfolio_id: portfolioBytes(account), asset, ...order, expiry: GTC, post_only: true, reduce_only: false, stp: 0n,
    });
    await placed.send();
    if (!placed.isDone) return statusText(placed.status);
    const ended = await trader.sign('order_cancel', { portfolio_id: portfolioBytes(account), order_id: uuidBytes(placed.payload.id), asset });
    await ended.send();
    if (!ended.isDone) return statusText(ended.status);
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, 2 * pause - (performance.now() - begun))));
  }
  return null;
}
