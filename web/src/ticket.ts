/* What a trader typed, judged as the exchange will: exact, or refused with the values nearest to it. */
import { apiText, parseRaw, shown } from './decimal';
import type { Market } from './market';
import type { Value } from './payload';
import { portfolioBytes } from './payload';

export type Order = {
  side: 'buy' | 'sell';
  kind: 'limit' | 'market';
  price: string;
  size: string;
  tif: 'GTC' | 'IOC' | 'FOK';
  postOnly: boolean;
  reduceOnly: boolean;
};

export type Fault = { field: 'price' | 'size'; text: string; nearest: string[] };

/** A field's raw value, or what is wrong with it. */
type Judged = { raw: bigint } | { fault: Fault };

const EXPIRY = { GTC: 0xffffffffffffffffn, IOC: 0n, FOK: 1n } as const;
const MICRO = 6;

function nearest(text: string, decimals: number, step: bigint): string[] {
  const [whole, fraction = ''] = text.split('.');
  const below = parseRaw(`${whole}.${fraction.slice(0, decimals)}`.replace(/\.$/, ''), decimals);
  if (below === null) return [];
  const down = below - (below % step);
  return [down, down + step].filter((value) => value > 0n).map((value) => apiText(value, decimals));
}

function judge(field: 'price' | 'size', text: string, decimals: number, step: bigint): Judged {
  if (!/^\d+(\.\d+)?$/.test(text)) return { fault: { field, text: text === '' ? `a ${field} is missing` : `this is no ${field}`, nearest: [] } };
  const value = parseRaw(text, decimals);
  if (value === 0n) return { fault: { field, text: `the ${field} is zero`, nearest: [apiText(step, decimals)] } };
  if (value !== null && value % step === 0n) return { raw: value };
  return { fault: { field, text: `${field}s come in steps of ${apiText(step, decimals)}`, nearest: nearest(text, decimals, step) } };
}

export type Judgement = { faults: Fault[]; price: bigint; size: bigint; notional: bigint | null };

export function judgeOrder(order: Order, market: Market): Judgement {
  const { price_decimals, size_decimals } = market.record;
  const faults: Fault[] = [];
  const take = (judged: Judged): bigint => ('raw' in judged ? judged.raw : (faults.push(judged.fault), 0n));
  const price = order.kind === 'market' ? 0n : take(judge('price', order.price, price_decimals, market.tick));
  const size = take(judge('size', order.size, size_decimals, market.lot));
  const notional = order.kind === 'limit' && faults.length === 0 ? price * size : null;
  const least = parseRaw(market.record.min_notional, MICRO)!;
  if (notional !== null && notional < least && !order.reduceOnly)
    faults.push({ field: 'size', text: `an order is worth at least ${market.record.min_notional} USDC`, nearest: [] });
  return { faults, price, size, notional };
}

/** What the order says, in words. */
export function sentence(order: Order, market: Market, { price, size, notional }: Judgement): string {
  const verb = order.side === 'buy' ? 'Buy' : 'Sell';
  const ends = { GTC: 'good till cancelled', IOC: 'what does not trade at once is cancelled', FOK: 'all at once or nothing' }[order.tif];
  const terms = [
    order.kind === 'market' ? 'at the market, no worse than its slippage limit' : `at ${market.shownPrice(price)}`,
    ...(order.kind === 'limit' ? [ends] : []),
    ...(order.postOnly && order.kind === 'limit' ? ['only as a maker'] : []),
    ...(order.reduceOnly ? ['only to reduce a position'] : []),
    ...(notional === null ? [] : [`${order.side === 'buy' ? 'at most' : 'at least'} ${shown(notional, MICRO)} USDC`]),
  ];
  return `${verb} ${market.shownSize(size)} ${market.name} ${terms.join(', ')}.`;
}

/** The request of an order without faults: its name in the tables, and the values of its fields. */
export function orderRequest(order: Order, market: Market, { price, size }: Judgement, account: bigint):
    { name: 'place_limit_order' | 'place_market_order'; values: Record<string, Value> } {
  const common = {
    portfolio_id: portfolioBytes(account), asset: BigInt(market.record.asset_id),
    quantity: order.side === 'buy' ? size : -size, reduce_only: order.reduceOnly, stp: 0n,
  };
  if (order.kind === 'market') return { name: 'place_market_order', values: { ...common, max_slippage_ppm: 0n } };
  return {
    name: 'place_limit_order',
    values: { ...common, price, expiry: EXPIRY[order.tif], post_only: order.postOnly },
  };
}
