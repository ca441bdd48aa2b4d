/* What a trader typed, judged as the exchange will: exact, or refused with the values nearest to it. */
import { apiText, parseRaw, shown } from './decimal';
import { uuidBytes } from './bytes';
import { type Int, big } from './json';
import type { Market } from './market';
import type { Value } from './payload';
import { portfolioBytes } from './payload';
import type { Bodies } from './wire.gen';

/** What of a resting order stays when it is changed. */
export type Resting = { id: string; price: string; remaining_size: string; expires_at: Int | null; stp: string };

export type Order = {
  side: 'buy' | 'sell';
  /** `stop` and `take` wait until the mark price has come to their trigger. */
  kind: 'limit' | 'market' | 'stop' | 'take';
  /** Of an order that waits: whether it is then one at a limit. */
  atLimit: boolean;
  trigger: string;
  price: string;
  size: string;
  tif: 'GTC' | 'IOC' | 'FOK';
  postOnly: boolean;
  reduceOnly: boolean;
  /** The order that this one takes the place of; null: a new one. */
  changes: Resting | null;
};

export type Fault = { field: 'trigger' | 'price' | 'size'; text: string; nearest: string[] };

/** A field's raw value, or what is wrong with it. */
type Judged = { raw: bigint } | { fault: Fault };

const EXPIRY = { GTC: 0xffffffffffffffffn, IOC: 0n, FOK: 1n } as const;
const LIVE_TIF = { IOC: 0n, FOK: 1n, GTC: 2n } as const;
const STP = ['EXPIRE_TAKER', 'EXPIRE_MAKER', 'EXPIRE_BOTH', 'DECREMENT'];
const ORDER_TYPE = { stop: { limit: 2n, market: 3n }, take: { limit: 4n, market: 5n } } as const;
const MICRO = 6;

/** Whether an order waits for the mark price. */
export function waits({ kind }: Order): boolean {
  return kind === 'stop' || kind === 'take';
}

/** Whether an order has a limit, now or once it has fired. */
export function hasLimit(order: Order): boolean {
  return order.kind === 'limit' || (waits(order) && order.atLimit);
}

/** Whether the mark price fires an order at or above its trigger, not at or below. */
function firesAbove({ side, kind }: Order): boolean {
  return (side === 'buy') === (kind === 'stop');
}

function nearest(text: string, decimals: number, step: bigint): string[] {
  const [whole, fraction = ''] = text.split('.');
  const below = parseRaw(`${whole}.${fraction.slice(0, decimals)}`.replace(/\.$/, ''), decimals);
  if (below === null) return [];
  const down = below - (below % step);
  return [down, down + step].filter((value) => value > 0n).map((value) => apiText(value, decimals));
}

function judge(field: Fault['field'], text: string, decimals: number, step: bigint): Judged {
  if (!/^\d+(\.\d+)?$/.test(text)) return { fault: { field, text: text === '' ? `a ${field} is missing` : `this is no ${field}`, nearest: [] } };
  const value = parseRaw(text, decimals);
  if (value === 0n) return { fault: { field, text: `the ${field} is zero`, nearest: [apiText(step, decimals)] } };
  if (value !== null && value % step === 0n) return { raw: value };
  return { fault: { field, text: `${field}s come in steps of ${apiText(step, decimals)}`, nearest: nearest(text, decimals, step) } };
}

export type Judgement = { faults: Fault[]; trigger: bigint; price: bigint; size: bigint; notional: bigint | null };

export function judgeOrder(order: Order, market: Market): Judgement {
  const { price_decimals, size_decimals } = market.record;
  const faults: Fault[] = [];
  const take = (judged: Judged): bigint => ('raw' in judged ? judged.raw : (faults.push(judged.fault), 0n));
  const trigger = waits(order) ? take(judge('trigger', order.trigger, price_decimals, market.tick)) : 0n;
  const mark = market.mark?.mark_price;
  if (trigger > 0n && mark != null && (firesAbove(order) ? market.price(mark) >= trigger : market.price(mark) <= trigger))
    faults.push({ field: 'trigger', text: `the mark price, ${mark}, is there already`, nearest: [] });
  const price = hasLimit(order) ? take(judge('price', order.price, price_decimals, market.tick)) : 0n;
  const size = take(judge('size', order.size, size_decimals, market.lot));
  const notional = hasLimit(order) && faults.length === 0 ? price * size : null;
  const least = parseRaw(market.record.min_notional, MICRO)!;
  if (notional !== null && notional < least && !order.reduceOnly)
    faults.push({ field: 'size', text: `an order is worth at least ${market.record.min_notional} USDC`, nearest: [] });
  return { faults, trigger, price, size, notional };
}

/** Whether a changed order stays where it stands among those at its price. */
export function keepsPlace({ changes }: Order, market: Market, { price, size }: Judgement): boolean {
  return changes !== null && market.price(changes.price) === price && size <= market.size(changes.remaining_size);
}

/** What the order says, in words. */
export function sentence(order: Order, market: Market, judged: Judgement): string {
  const { trigger, price, size, notional } = judged;
  const verb = order.side === 'buy' ? 'Buy' : 'Sell';
  const ends = { GTC: 'good till cancelled', IOC: 'what does not trade at once is cancelled', FOK: 'all at once or nothing' }[order.tif];
  const isLimit = hasLimit(order);
  const terms = [
    ...(waits(order) ? [`once the mark price is at ${market.shownPrice(trigger)} or ${firesAbove(order) ? 'above' : 'below'}`] : []),
    isLimit ? `at ${market.shownPrice(price)}` : 'at the market, no worse than its slippage limit',
    ...(isLimit && order.changes === null ? [ends] : []),
    ...(order.postOnly && isLimit ? ['only as a maker'] : []),
    ...(order.reduceOnly ? ['only to reduce a position'] : []),
    ...(notional === null ? [] : [`${order.side === 'buy' ? 'at most' : 'at least'} ${shown(notional, MICRO)} USDC`]),
  ];
  const what = `${verb} ${market.shownSize(size)} ${market.name} ${terms.join(', ')}.`;
  if (order.changes === null) return what;
  return `${what} ${keepsPlace(order, market, judged) ? 'It keeps its place in' : 'It goes to the end of'} the queue at its price.`;
}

/** The request of an order without faults: its name in the tables, and the values of its fields. */
export function orderRequest(order: Order, market: Market, { trigger, price, size }: Judgement, account: bigint): { name: keyof Bodies; values: Record<string, Value> } {
  const { changes } = order;
  const common = {
    portfolio_id: portfolioBytes(account), asset: BigInt(market.record.asset_id),
    quantity: order.side === 'buy' ? size : -size, reduce_only: order.reduceOnly, stp: 0n,
  };
  if (order.kind === 'market') return { name: 'place_market_order', values: { ...common, max_slippage_ppm: 0n } };
  const limit = { ...common, price, post_only: order.postOnly && hasLimit(order) };
  if (waits(order)) {
    const kinds = order.kind === 'stop' ? ORDER_TYPE.stop : ORDER_TYPE.take;
    return { name: 'place_conditional_order', values: {
      ...limit, trigger_price: trigger, expiry: EXPIRY.GTC, order_type: order.atLimit ? kinds.limit : kinds.market, max_slippage_ppm: 0n,
      trigger_source: 0n, live_tif: order.atLimit ? LIVE_TIF[order.tif] : LIVE_TIF.IOC, oco_group: new Uint8Array(16),
    } };
  }
  if (changes === null) return { name: 'place_limit_order', values: { ...limit, expiry: EXPIRY[order.tif] } };
  return { name: 'order_replacement', values: {
    ...limit, order_id: uuidBytes(changes.id), stp: BigInt(STP.indexOf(changes.stp)),
    expiry: changes.expires_at === null ? EXPIRY.GTC : big(changes.expires_at), expected_remaining: market.size(changes.remaining_size),
  } };
}
