/* What a trader typed, judged as the exchange will: exact, or refused with the values nearest to it. */
import { apiText, parseRaw, shown } from './decimal';
import { uuidBytes } from './bytes';
import { serverNow } from './clock';
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
  tif: 'GTC' | 'GTT' | 'IOC' | 'FOK';
  /** Of GTT: the milliseconds that the order may rest. */
  lifeMs: number;
  /** What becomes of it when it meets an own order: a place in STP. */
  stp: number;
  /** How far from the mark an order at the market may trade, in percent; empty: as far as the market allows. */
  slippage: string;
  postOnly: boolean;
  reduceOnly: boolean;
  /** Of an order that waits: the group of which the first that fires cancels the others; empty: it is alone. */
  oco: string;
  /** The order that this one takes the place of; null: a new one. */
  changes: Resting | null;
};

export type Fault = { field: 'trigger' | 'price' | 'size' | 'slippage'; text: string; nearest: string[] };

/** A field's raw value, or what is wrong with it. */
type Judged = { raw: bigint } | { fault: Fault };

const EXPIRY = { GTC: 0xffffffffffffffffn, IOC: 0n, FOK: 1n } as const;
const NS_PER_MS = 1_000_000n;
const LIVE_TIF = { IOC: 0n, FOK: 1n, GTC: 2n } as const;
/** What becomes of an order that meets an own one. */
export const STP = ['EXPIRE_TAKER', 'EXPIRE_MAKER', 'EXPIRE_BOTH', 'DECREMENT'];
const ORDER_TYPE = { stop: { limit: 2n, market: 3n }, take: { limit: 4n, market: 5n } } as const;
const MICRO = 6;
/** A percentage with so many decimals is a whole number of millionths. */
const PERCENT_DECIMALS = 4;
const MILLION = 1_000_000n;
/** How long an order may rest that is good till a time. */
export const LIVES = [['1 minute', 60_000], ['10 minutes', 600_000], ['1 hour', 3_600_000], ['1 day', 86_400_000], ['7 days', 604_800_000]] as const;

/** Whether an order waits for the mark price. */
export function waits({ kind }: Order): boolean {
  return kind === 'stop' || kind === 'take';
}

/** Whether an order has a limit, now or once it has fired. */
export function hasLimit(order: Order): boolean {
  return order.kind === 'limit' || (waits(order) && order.atLimit);
}

/** How long an order is in force once it has fired: it knows no time. */
export function restingTif({ tif }: Order): 'GTC' | 'IOC' | 'FOK' {
  return tif === 'GTT' ? 'GTC' : tif;
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

export type Judgement = { faults: Fault[]; trigger: bigint; price: bigint; size: bigint; slippage: bigint; notional: bigint | null };

/** The millionths that were typed as a percentage; 0: the market's own. */
function judgeSlippage({ slippage }: Order, { record }: Market): Judged {
  if (slippage === '') return { raw: 0n };
  const most = BigInt(record.max_slippage_ppm);
  const value = parseRaw(slippage, PERCENT_DECIMALS);
  if (value !== null && value > 0n && value <= most) return { raw: value };
  const text = apiText(most, PERCENT_DECIMALS);
  return { fault: { field: 'slippage', text: `between 0.0001 and ${text} %`, nearest: value !== null && value > most ? [text] : [] } };
}

/** The worst price that the exchange takes of a side now, on a tick; null while it has no mark. */
function bandEnd({ side }: Order, market: Market): bigint | null {
  const mark = market.mark?.mark_price;
  if (mark == null) return null;
  const band = BigInt(market.record.price_band_ppm);
  if (side === 'buy') {
    const most = (market.price(mark) * (MILLION + band)) / MILLION;
    return most - (most % market.tick);
  }
  const step = MILLION * market.tick;
  return ((market.price(mark) * (MILLION - band) + step - 1n) / step) * market.tick;
}

/** What the exchange would say of an order whose values are right by themselves. */
function judgeBounds(order: Order, market: Market, { price, size }: { price: bigint; size: bigint }): Fault[] {
  const faults: Fault[] = [];
  const { record } = market;
  const most = market.size(record.max_order_size);
  if (size > most) faults.push({ field: 'size', text: `an order has at most ${record.max_order_size}`, nearest: [apiText(most, record.size_decimals)] });
  const end = order.kind === 'limit' ? bandEnd(order, market) : null;
  if (end !== null && (order.side === 'buy' ? price > end : price < end))
    faults.push({ field: 'price', text: `too far from the mark: a ${order.side} is taken ${order.side === 'buy' ? 'up to' : 'from'} ${market.shownPrice(end)} now`, nearest: [apiText(end, record.price_decimals)] });
  return faults;
}

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
  const slippage = hasLimit(order) ? 0n : take(judgeSlippage(order, market));
  if (faults.length === 0) faults.push(...judgeBounds(order, market, { price, size }));
  return { faults, trigger, price, size, slippage, notional };
}

/** Whether a changed order stays where it stands among those at its price. */
export function keepsPlace({ changes }: Order, market: Market, { price, size }: Judgement): boolean {
  return changes !== null && market.price(changes.price) === price && size <= market.size(changes.remaining_size);
}

/** Why the market takes no such order now, and what it takes; null if it may. `stateText`: the state in words. */
export function marketObstacle(order: Order, { state }: Market, stateText: string): string | null {
  if (state === 'ACTIVE' || (state === 'POST_ONLY' && order.postOnly && hasLimit(order)) || (state === 'REDUCE_ONLY' && order.reduceOnly)) return null;
  if (state === 'POST_ONLY') return 'The market takes post-only limit orders alone now: choose post only.';
  if (state === 'REDUCE_ONLY') return 'The market takes only what makes a position smaller now: choose reduce only.';
  return `The market is ${stateText}.`;
}

/** The leverage of a market for which nothing was chosen. */
export function usualLeverage({ record }: Market): number {
  return Math.min(20, record.max_leverage);
}

/** The size whose margin and fee as a taker are a part of the free margin, on a lot below it; null: there is no price to count with, or it is
 *  less than a lot. */
export function sizeOfFree(order: Order, market: Market, free: string, leverage: number, percent: bigint): string | null {
  const text = hasLimit(order) ? order.price : market.mark?.mark_price;
  const price = text == null ? null : parseRaw(text, market.record.price_decimals);
  if (price === null || price <= 0n) return null;
  const fee = parseRaw(market.record.fees[0].taker_fee_rate, MICRO)!;
  const share = (MILLION + BigInt(leverage) - 1n) / BigInt(leverage) + fee;
  const size = (parseRaw(free, MICRO)! * percent * MILLION) / (100n * price * share);
  return size < market.lot ? null : apiText(size - (size % market.lot), market.record.size_decimals);
}

/** What the order says, in words. */
export function sentence(order: Order, market: Market, judged: Judgement): string {
  const { trigger, price, size, slippage, notional } = judged;
  const verb = order.side === 'buy' ? 'Buy' : 'Sell';
  const life = LIVES.find(([, ms]) => ms === order.lifeMs)?.[0];
  const ends = { GTC: 'good till cancelled', GTT: `for ${life}`, IOC: 'what does not trade at once is cancelled', FOK: 'all at once or nothing' }[waits(order) ? restingTif(order) : order.tif];
  const isLimit = hasLimit(order);
  const terms = [
    ...(waits(order) ? [`once the mark price is at ${market.shownPrice(trigger)} or ${firesAbove(order) ? 'above' : 'below'}`] : []),
    isLimit ? `at ${market.shownPrice(price)}` : `at the market, at most ${apiText(slippage === 0n ? BigInt(market.record.max_slippage_ppm) : slippage, PERCENT_DECIMALS)} % from the mark`,
    ...(isLimit && order.changes === null ? [ends] : []),
    ...(order.postOnly && isLimit ? ['only as a maker'] : []),
    ...(order.reduceOnly ? ['only to reduce a position'] : []),
    ...(waits(order) && order.oco !== '' ? ['one of a group of which the first that fires cancels the others'] : []),
    ...(notional === null ? [] : [`${order.side === 'buy' ? 'at most' : 'at least'} ${shown(notional, MICRO)} USDC`]),
  ];
  const what = `${verb} ${market.shownSize(size)} ${market.name} ${terms.join(', ')}.`;
  if (order.changes === null) return what;
  return `${what} ${keepsPlace(order, market, judged) ? 'It keeps its place in' : 'It goes to the end of'} the queue at its price.`;
}

/** The request of an order without faults, which is sent `now`: its name in the tables, and the values of its fields. */
export function orderRequest(order: Order, market: Market, { trigger, price, size, slippage }: Judgement, account: bigint, now = serverNow()): { name: keyof Bodies; values: Record<string, Value> } {
  const { changes } = order;
  const common = {
    portfolio_id: portfolioBytes(account), asset: BigInt(market.record.asset_id),
    quantity: order.side === 'buy' ? size : -size, reduce_only: order.reduceOnly, stp: BigInt(order.stp),
  };
  if (order.kind === 'market') return { name: 'place_market_order', values: { ...common, max_slippage_ppm: slippage } };
  const limit = { ...common, price, post_only: order.postOnly && hasLimit(order) };
  if (waits(order)) {
    const kinds = order.kind === 'stop' ? ORDER_TYPE.stop : ORDER_TYPE.take;
    return { name: 'place_conditional_order', values: {
      ...limit, trigger_price: trigger, expiry: EXPIRY.GTC, order_type: order.atLimit ? kinds.limit : kinds.market, max_slippage_ppm: slippage,
      trigger_source: 0n, live_tif: order.atLimit ? LIVE_TIF[restingTif(order)] : LIVE_TIF.IOC, oco_group: order.oco === '' ? new Uint8Array(16) : uuidBytes(order.oco),
    } };
  }
  if (changes === null) return { name: 'place_limit_order', values: { ...limit, expiry: order.tif === 'GTT' ? BigInt(Math.floor(now) + order.lifeMs) * NS_PER_MS : EXPIRY[order.tif] } };
  return { name: 'order_replacement', values: {
    ...limit, order_id: uuidBytes(changes.id), stp: BigInt(STP.indexOf(changes.stp)),
    expiry: changes.expires_at === null ? EXPIRY.GTC : big(changes.expires_at), expected_remaining: market.size(changes.remaining_size),
  } };
}
