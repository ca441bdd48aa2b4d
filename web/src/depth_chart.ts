/* The depth of a book as lines: sizes from the best price outwards, as steps. */
import type { Level } from './book';
import type { Line } from './line_chart';
import type { Market } from './market';

/** Lines for the screen; only here do sizes become doubles. */
export function depthLines(market: Market, bids: Level[], asks: Level[]): Line[] {
  const priceUnit = 10 ** market.record.price_decimals;
  const sizeUnit = 10 ** market.record.size_decimals;
  const sums = (levels: Level[]) => {
    let total = 0n;
    return levels.map((level) => [Number(level.price) / priceUnit, Number((total += level.size)) / sizeUnit] as const);
  };
  return [
    { tone: 'buy', points: sums(bids).reverse(), step: 'before', isFilled: true },
    { tone: 'sell', points: sums(asks), step: 'after', isFilled: true },
  ];
}
