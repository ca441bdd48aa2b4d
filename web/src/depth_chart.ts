/* The depth of a book drawn by uPlot: sizes from the best price outwards, as steps. */
import uPlot from 'uplot';
import type { Level } from './book';
import { type Drawing, pageColour } from './drawing';
import type { Market } from './market';

type Points = [number[], (number | null)[], (number | null)[]];

/** Points for the screen; only here do sizes become doubles. */
export function depthPoints(market: Market, bids: Level[], asks: Level[]): Points {
  const priceUnit = 10 ** market.record.price_decimals;
  const sizeUnit = 10 ** market.record.size_decimals;
  const sums = (levels: Level[]) => {
    let total = 0n;
    return levels.map((level) => [Number(level.price) / priceUnit, Number((total += level.size)) / sizeUnit] as const);
  };
  const left = sums(bids).reverse();
  const right = sums(asks);
  return [
    [...left.map((point) => point[0]), ...right.map((point) => point[0])],
    [...left.map((point) => point[1]), ...right.map(() => null)],
    [...left.map(() => null), ...right.map((point) => point[1])],
  ];
}

export type DepthChart = Drawing & { draw(points: Points): void };

export function makeDepthChart(place: HTMLElement, onPrice: (price: number) => void): DepthChart {
  const colour = pageColour();
  const axis = { stroke: colour('dim'), grid: { stroke: colour('line'), width: 1 }, ticks: { stroke: colour('line') } };
  const series = (name: string, tone: string, align: 1 | -1): uPlot.Series => ({
    label: name, stroke: colour(tone), fill: colour(`${tone}-soft`), width: 1.5,
    paths: uPlot.paths.stepped!({ align }), points: { show: false },
  });
  const plot = new uPlot({
    width: place.clientWidth, height: place.clientHeight, legend: { show: false },
    cursor: { drag: { x: false, y: false } }, scales: { x: { time: false } },
    axes: [{ ...axis, size: 32 }, { ...axis, size: 64 }],
    series: [{ label: 'Price' }, series('Bids', 'buy', -1), series('Asks', 'sell', 1)],
  }, [[], [], []], place);
  plot.over.addEventListener('click', () => {
    if (plot.cursor.left != null && plot.cursor.left >= 0) onPrice(plot.posToVal(plot.cursor.left, 'x'));
  });
  return {
    draw: (points) => plot.setData(points as uPlot.AlignedData),
    resize: (width, height) => plot.setSize({ width, height }),
    end: () => plot.destroy(),
  };
}
