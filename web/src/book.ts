/* The order book of a market as the stream tells it: levels in raw units, best first. */
import { crc32c } from './crc32c';
import { apiText } from './decimal';
import type { Market } from './market';
import { Model } from './model';

export type Level = { price: bigint; size: bigint };
export type Side = 'bids' | 'asks';

const CRC_LEVELS = 25;

/** A level of a ladder: `total` is the size from the best price to here. `isPart`: more may belong to it than is known. */
export type Rung = { price: bigint; size: bigint; total: bigint; isPart: boolean };

export class Book extends Model {
  bids: Level[] = [];
  asks: Level[] = [];
  isLoaded = false;
  /** How many levels of a side it has at most. */
  depth = Infinity;

  constructor(readonly market: Market) {
    super();
  }

  #level([price, size]: [string, string]): Level {
    return { price: this.market.price(price), size: this.market.size(size) };
  }

  load(data: { bids: [string, string][]; asks: [string, string][] }, depth = Infinity): void {
    this.depth = depth;
    this.bids = data.bids.map((pair) => this.#level(pair));
    this.asks = data.asks.map((pair) => this.#level(pair));
    this.isLoaded = true;
    this.changed();
  }

  update(data: { bids: [string, string][]; asks: [string, string][] }): void {
    for (const pair of data.bids) change(this.bids, this.#level(pair), 1n);
    for (const pair of data.asks) change(this.asks, this.#level(pair), -1n);
    this.changed();
  }

  unload(): void {
    this.bids = [];
    this.asks = [];
    this.isLoaded = false;
    this.changed();
  }

  /** The checksum of the best levels, as heartbeats carry it. */
  crc(): number {
    const { price_decimals, size_decimals } = this.market.record;
    const text = (level: Level) =>
      `${apiText(level.price, price_decimals)}:${apiText(level.size, size_decimals)};`;
    const levels = [...this.bids.slice(0, CRC_LEVELS), ...this.asks.slice(0, CRC_LEVELS)];
    return crc32c(levels.map(text).join(''));
  }

  /** Whether bids reach asks, which no book that matches does. */
  get isCrossed(): boolean {
    return this.bids.length > 0 && this.asks.length > 0 && this.bids[0].price >= this.asks[0].price;
  }
}

/** Sets one level of a side whose best price comes first; `rising` is 1 for bids, -1 for asks. */
function change(levels: Level[], level: Level, rising: bigint): void {
  let low = 0;
  let high = levels.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((levels[middle].price - level.price) * rising > 0n) low = middle + 1;
    else high = middle;
  }
  const found = low < levels.length && levels[low].price === level.price;
  if (level.size === 0n) {
    if (found) levels.splice(low, 1);
  } else if (found) levels[low] = level;
  else levels.splice(low, 0, level);
}

/** The price of the step of a ladder to which a price belongs: bids downwards, asks upwards. */
export function stepOf(price: bigint, side: Side, step: bigint): bigint {
  const down = price - (price % step);
  return side === 'asks' && down !== price ? down + step : down;
}

/** The ladder of a side: levels joined into steps of `step`, bids downwards and asks upwards, with
 *  exact sums. At most `rows`. */
export function ladder(book: Book, side: Side, step: bigint, rows: number): Rung[] {
  const rungs: Rung[] = [];
  let total = 0n;
  for (const [index, { price, size }] of book[side].entries()) {
    const at = stepOf(price, side, step);
    const isPart = index + 1 >= book.depth && at !== price;
    total += size;
    const last = rungs.at(-1);
    if (last?.price === at) Object.assign(last, { size: last.size + size, total, isPart });
    else if (rungs.length === rows) break;
    else rungs.push({ price: at, size, total, isPart });
  }
  return rungs;
}
