/* The command of `perp` that sends the same request as a button of this page, but for its id. */
import { apiText } from './decimal';
import { uuidText } from './bytes';
import type { Market } from './market';
import type { Value } from './payload';
import { STP } from './ticket';

const GTC = 0xffffffffffffffffn;
const NO_ID = '00000000-0000-0000-0000-000000000000';

/** How long an order is in force, as `perp` is told it. */
function inForce(expiry: bigint): string {
  if (expiry <= 1n) return expiry === 0n ? 'IOC' : 'FOK';
  return expiry === GTC ? 'GTC' : `GTT:${new Date(Number(expiry / 1_000_000n)).toISOString()}`;
}

/** The command of an order's request, whose name and values these are; none if its time has parts of a millisecond. */
export function orderCommand(name: string, values: Record<string, Value>, market: Market, account: bigint): string | undefined {
  const { price_decimals, size_decimals } = market.record;
  const number = (one: string) => values[one] as bigint;
  const price = (one: string) => apiText(number(one), price_decimals);
  const size = (raw: bigint) => apiText(raw < 0n ? -raw : raw, size_decimals);
  if (number('expiry') > 1n && number('expiry') < GTC && number('expiry') % 1_000_000n) return undefined;
  const side = number('quantity') < 0n ? 'sell' : 'buy';
  const words: string[] = [];
  if (name === 'place_limit_order') words.push('order', market.name, side, size(number('quantity')), price('price'), '--tif', inForce(number('expiry')));
  else if (name === 'place_market_order') words.push('order', market.name, side, size(number('quantity')), '--market');
  else if (name === 'order_replacement') {
    words.push('amend', market.name, uuidText(values.order_id as Uint8Array), '--side', side, '--size', size(number('quantity')), '--price', price('price'),
      '--tif', inForce(number('expiry')), '--expected-remaining', size(number('expected_remaining')));
  } else {
    const kind = number('order_type');
    words.push(kind <= 3n ? 'stop' : 'take-profit', market.name, side, size(number('quantity')), price('trigger_price'));
    if (kind % 2n === 0n) words.push(price('price'), '--tif', ['IOC', 'FOK', 'GTC'][Number(number('live_tif'))]);
    const group = uuidText(values.oco_group as Uint8Array);
    if (group !== NO_ID) words.push('--oco', group);
  }
  if (values.max_slippage_ppm !== undefined && number('max_slippage_ppm') > 0n) words.push('--max-slippage', `${number('max_slippage_ppm')}ppm`);
  if (values.post_only === true) words.push('--post-only');
  if (values.reduce_only === true) words.push('--reduce-only');
  if (number('stp') !== 0n) words.push('--stp', STP[Number(number('stp'))]);
  return ['perp', ...words, '--account', account, '--subaccount 0 --portfolio 0 --url', location.origin].join(' ');
}
