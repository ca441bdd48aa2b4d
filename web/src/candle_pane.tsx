/* Candles and volume: drawn, with the exact figures of one candle in words, or as a table. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Line } from './candle_chart';
import { type Candle, Candles, INTERVALS, type Interval } from './candles';
import { useDrawing } from './drawing';
import type { Exchange } from './exchange';
import { useModel } from './model';
import { Loading, Nothing, Pane } from './pane';
import type { Trader } from './trader';

const PAINT_MS = 200;
const TABLE_ROWS = 100;

type Props = { exchange: Exchange; trader: Trader | null };

/** When a candle began, in UTC. */
function startText(candle: Candle, interval: Interval): string {
  const text = new Date(candle.start).toISOString();
  return interval === '1d' ? text.slice(0, 10) : text.slice(5, 16).replace('T', ' ');
}

function useCandles(exchange: Exchange, interval: Interval): Candles | null {
  const { market, tape } = exchange;
  const [candles, setCandles] = useState<Candles | null>(null);
  useEffect(() => {
    if (market === null || tape === null) return;
    const made = new Candles(market, interval, tape);
    const ends = tape.follow(made);
    setCandles(made);
    return () => {
      ends();
      made.end();
      setCandles(null);
    };
  }, [market, tape, interval]);
  return candles;
}

/** The mark, and at which price the position of the account would be liquidated. */
function linesOf(exchange: Exchange, trader: Trader | null): Line[] {
  const lines: Line[] = [];
  const mark = exchange.market?.mark?.mark_price;
  if (mark != null) lines.push({ title: 'mark', price: mark, tone: 'accent' });
  const own = trader?.account?.positions.find((one) => one.market === exchange.market?.name);
  if (own?.liquidation_price != null) lines.push({ title: 'liquidation', price: own.liquidation_price, tone: 'warn' });
  return lines;
}

function useChart(props: Props, candles: Candles | null, isShown: boolean, onHover: (index: number | null) => void) {
  const latest = useRef(props);
  latest.current = props;
  return useDrawing(candles !== null && isShown ? async (place) => {
    const { makeCandleChart } = await import('./candle_chart');
    return () => {
      const drawing = makeCandleChart(place, candles, { onHover, onOlder: () => void candles.older() });
      let drawn = -1;
      const draw = () => {
        if (!candles.isLoaded || candles.rows.length === 0) return;
        if (candles.version !== drawn) drawing.draw(candles);
        drawn = candles.version;
        const { exchange, trader } = latest.current;
        drawing.lines(linesOf(exchange, trader));
        drawing.marks(candles.marks((trader?.account?.fills ?? []).filter((fill) => fill.market === candles.market.name)));
      };
      return { drawing, draw };
    };
  } : null, PAINT_MS, [candles, isShown]);
}

function Figures({ candles, candle }: { candles: Candles; candle: Candle }) {
  const { market } = candles;
  const rises = candle.close >= candle.open;
  const figures = [
    ['UTC', startText(candle, candles.interval)], ['O', market.shownPrice(candle.open)], ['H', market.shownPrice(candle.high)], ['L', market.shownPrice(candle.low)],
    ['C', market.shownPrice(candle.close)], ['volume', market.shownSize(candle.volume)], ['trades', String(candle.trades)],
  ];
  return (
    <dl class="candle-figures">
      {figures.map(([name, value]) => <div key={name}><dt>{name}</dt><dd class={name.length > 1 ? '' : rises ? 'buy' : 'sell'}>{value}</dd></div>)}
    </dl>
  );
}

function Table({ candles }: { candles: Candles }) {
  useModel(candles);
  const { market, interval } = candles;
  const rows = candles.rows.slice(-TABLE_ROWS).reverse();
  return (
    <div class="scroll">
      <table>
        <caption class="visually-hidden">Candles of {market.name}, {interval} each, newest first</caption>
        <thead><tr>{['Start, UTC', 'Open', 'High', 'Low', 'Close', 'Volume', 'Trades'].map((name) => <th key={name} scope="col">{name}</th>)}</tr></thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.start}>
              <td>{startText(row, interval)}</td>
              {[row.open, row.high, row.low, row.close].map((value, at) => <td key={at}>{market.shownPrice(value)}</td>)}
              <td>{market.shownSize(row.volume)}</td><td>{String(row.trades)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function CandlePane(props: Props) {
  const { exchange, trader } = props;
  const { market } = useModel(exchange);
  useModel(trader);
  const [interval, setInterval] = useState<Interval>('1m');
  const [isTable, setTable] = useState(false);
  const [hovered, setHovered] = useState<number | null>(null);
  const candles = useModel(useCandles(exchange, interval));
  const isEmpty = candles?.isLoaded === true && candles.rows.length === 0;
  const place = useChart(props, candles, !isTable && !isEmpty, setHovered);
  const candle = candles?.rows[hovered ?? candles.rows.length - 1] ?? candles?.rows.at(-1);
  const tools = (
    <>
      <button type="button" aria-pressed={isTable} onClick={() => setTable(!isTable)}>table</button>
      <select aria-label="Length of a candle" value={interval} onChange={(event) => setInterval(event.currentTarget.value as Interval)}>
        {Object.keys(INTERVALS).map((name) => <option key={name} value={name}>{name}</option>)}
      </select>
    </>
  );
  const summary = candle === undefined || candles === null ? 'no candle' :
    `opened at ${candles.price(candle.open)}, now ${candles.price(candle.close)}`;
  return (
    <Pane name="candles" title="Chart" source={{ exchange, channel: 'trades', market: market?.name }} tools={tools}>
      {candles?.isLoaded || candles?.rows.length ? null : candles?.problem == null ? <Loading what="candles" /> : <Nothing>no candles: {candles.problem}</Nothing>}
      {isEmpty && <Nothing>no trades yet</Nothing>}
      {candles !== null && candle !== undefined && !isTable && <Figures candles={candles} candle={candle} />}
      {candles !== null && isTable && <Table candles={candles} />}
      {!isTable && !isEmpty && <div class="chart" ref={place} role="img" aria-label={`Candles of ${market?.name ?? 'no market'}, ${interval}: ${summary}; the button "table" shows the figures.`} />}
      {!isTable && (
        <p class="charts-by">Charts by <a href="https://www.tradingview.com/" target="_blank" rel="noopener noreferrer">TradingView Lightweight Charts</a></p>
      )}
    </Pane>
  );
}
