/* The depth of a book as lines: sizes from the best price outwards, as steps. */
import type { Level } from './book';
import type { Line } from './line_chart';
import type { Market } from './market';

/** Of a side's levels, those whose farthest the chart still shows: one order far away would press the rest together. */
const SHOWN_OF_TEN = 9;
/** How much more is shown than the farthest of them: one part in so many. */
const EDGE_PART = 16n;

const distance = (one: bigint, other: bigint) => (one > other ? one - other : other - one);

/** The prices that are shown, as far below the middle as above it, and a part more: there each line has its last step. */
function pricesShown(bids: Level[], asks: Level[]): { low: bigint; high: bigint } {
  const best = [bids[0], asks[0]].filter((level) => level !== undefined).map((level) => level.price);
  const middle = best.reduce((sum, price) => sum + price, 0n) / BigInt(Math.max(1, best.length));
  const far = [bids, asks].map((levels) => levels[Math.ceil((levels.length * SHOWN_OF_TEN) / 10) - 1])
    .map((level) => (level === undefined ? 0n : distance(level.price, middle)));
  const most = (far[0] > far[1] ? far[0] : far[1]) || middle / 1000n;
  const half = most + most / EDGE_PART + 1n;
  return { low: middle - half, high: middle + half };
}

/** Lines for the screen, up to its edges; only here do sizes become doubles. */
export function depthLines(market: Market, bids: Level[], asks: Level[]): Line[] {
  const priceUnit = 10 ** market.record.price_decimals;
  const sizeUnit = 10 ** market.record.size_decimals;
  const { low, high } = pricesShown(bids, asks);
  const sums = (levels: Level[], edge: bigint) => {
    let total = 0n;
    const shown = levels.filter((level) => level.price >= low && level.price <= high);
    const points = shown.map((level) => [Number(level.price) / priceUnit, Number((total += level.size)) / sizeUnit] as const);
    if (shown.length > 0 && shown.at(-1)!.price !== edge) points.push([Number(edge) / priceUnit, Number(total) / sizeUnit]);
    return points;
  };
  return [
    { tone: 'buy', points: sums(bids, low).reverse(), step: 'before', isFilled: true },
    { tone: 'sell', points: sums(asks, high), step: 'after', isFilled: true },
  ];
}
