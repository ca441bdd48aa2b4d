/* The depth chart with its summary in words: the stream's book, beyond it 1,000 levels by REST. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { get } from './api';
import { Book, type Level } from './book';
import { apiText } from './decimal';
import { depthLines } from './depth_chart';
import { useDrawing } from './drawing';
import type { Exchange } from './exchange';
import { makeLineChart } from './line_chart';
import { useModel } from './model';
import { Nothing, Pane } from './pane';

const PAINT_MS = 250;
const DEEP_MS = 5000;

/** The newest levels near the best price, and those beyond them as REST told them last. */
function joined(near: Level[], deep: Level[]): Level[] {
  const last = near.at(-1);
  if (last === undefined) return deep;
  const rising = deep.length > 1 && deep[1].price > deep[0].price;
  return [...near, ...deep.filter((level) => (rising ? level.price > last.price : level.price < last.price))];
}

/** Reads the deep book while the pane is shown. */
function useDeepBook(book: Book | null): { deep: Book | null; problem: string | null } {
  const [deep, setDeep] = useState<Book | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    if (book === null) return;
    let ended = false;
    const load = async () => {
      if (document.hidden) return;
      const answer = await get(`/markets/${book.market.name}/book?depth=1000`).catch((caught: Error) => (setProblem(caught.message), null));
      if (ended || answer === null) return;
      const read = new Book(book.market);
      read.load(answer);
      setDeep(read);
      setProblem(null);
    };
    void load();
    const timer = setInterval(() => void load(), DEEP_MS);
    return () => {
      ended = true;
      clearInterval(timer);
      setDeep(null);
    };
  }, [book]);
  return { deep, problem };
}

function useChart(book: Book | null, deep: Book | null, onPick: (price: string) => void) {
  const latest = useRef<{ book: Book | null; deep: Book | null }>({ book, deep });
  latest.current = { book, deep };
  return useDrawing(book && (async (place) => {
    const { market } = book;
    const text = (decimals: number) => (value: number) => value.toLocaleString('en-US', { maximumFractionDigits: decimals });
    const axes = { x: text(market.record.price_decimals), y: text(market.record.size_decimals) };
    return () => {
      const drawing = makeLineChart(place, axes, (price) => {
        const ticks = BigInt(Math.round((price * 10 ** market.record.price_decimals) / Number(market.tick)));
        onPick(apiText(ticks * market.tick, market.record.price_decimals));
      });
      const draw = () => {
        const { book: near, deep: far } = latest.current;
        if (near === null || !near.isLoaded) return;
        drawing.draw(depthLines(market, joined(near.bids, far?.bids ?? []), joined(near.asks, far?.asks ?? [])));
      };
      return { drawing, draw };
    };
  }), PAINT_MS, [book]);
}

export function DepthPane({ exchange, onPick }: { exchange: Exchange; onPick: (price: string) => void }) {
  const { market, book } = useModel(exchange);
  const { deep, problem } = useDeepBook(book);
  const place = useChart(book, deep, onPick);
  const levels = problem ?? (deep === null ? 'loading' : `${deep.bids.length} bid and ${deep.asks.length} ask levels`);
  return (
    <Pane name="depth" title="Depth" source={{ exchange, channel: 'book', market: market?.name }} tools={<span class="dim">{levels}</span>}>
      {book === null ? <Nothing>no market chosen</Nothing> : deep !== null && deep.bids.length + deep.asks.length === 0 && <Nothing>no orders</Nothing>}
      <div class="chart" ref={place} role="img" aria-label={`Depth of ${market?.name ?? 'no market'}: ${levels}; the table of the order book has the figures.`} />
    </Pane>
  );
}
