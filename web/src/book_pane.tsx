/* The order book as a ladder: asks above, bids below, bars for the sizes from the best price on. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Book, type Rung, type Side, ladder, stepOf } from './book';
import { apiText, shown } from './decimal';
import type { Exchange } from './exchange';
import type { Market } from './market';
import { unlessSame, useModel } from './model';
import { Loading, Nothing, Pane } from './pane';

/** Rows of a side, at places that do not move. */
const ROWS = 25;
const STEPS = [1n, 10n, 100n, 1000n];
const BAR_PARTS = 1000n;

export type Pick = (field: 'price' | 'size', text: string) => void;

/** Called with the id of an own order that was chosen in the ladder. */
export type OnOwn = (id: string) => void;

/** Own orders in a step of the ladder: their size, what is ahead of the first of them, and its id. */
type Own = { size: bigint; ahead: bigint | null; id: string };

/** Own resting orders by the prices of the ladder's steps. */
function ownBySteps(exchange: Exchange, market: Market, side: Side, step: bigint): Map<bigint, Own> {
  const found = new Map<bigint, Own>();
  const queue = exchange.queues.get(market.name);
  for (const order of exchange.trader?.account?.orders ?? []) {
    if (order.market !== market.name || order.book_handle === null || (order.side === 'LONG') !== (side === 'bids')) continue;
    const at = stepOf(market.price(order.price), side, step);
    const ahead = queue?.ahead(order.book_handle) ?? null;
    const before = found.get(at);
    const isFirst = before?.ahead == null || (ahead !== null && ahead < before.ahead);
    found.set(at, {
      size: market.size(order.remaining_size) + (before?.size ?? 0n),
      ahead: isFirst ? ahead : before.ahead,
      id: isFirst ? order.id : before.id,
    });
  }
  return found;
}

function ownText({ size, ahead }: Own, market: Market): string {
  return `${market.shownSize(size)} yours${ahead === null ? '' : `, ${market.shownSize(ahead)} ahead of you`}`;
}

/** The same in few characters: as the interface writes sizes. */
function ownMark({ size, ahead }: Own, { record }: Market): string {
  return `▸ ${apiText(size, record.size_decimals)}${ahead === null ? '' : ` (${apiText(ahead, record.size_decimals)} ahead)`}`;
}

type RowProps = Rung & { own: string | undefined; mark: string | undefined; id: string | undefined; share: number; market: Market; side: Side; onPick: Pick; onOwn: OnOwn };

const Row = unlessSame(({ price, size, total, isPart, own, mark, id, share, market, side, onPick, onOwn }: RowProps) => {
  const { price_decimals, size_decimals } = market.record;
  const least = isPart ? '≥ ' : '';
  return (
    <tr class={own && 'own'} title={own}>
      <td class={side === 'bids' ? 'buy' : 'sell'}>
        <span class="bar" style={{ transform: `scaleX(${share})` }} />
        <button type="button" tabIndex={-1} onClick={() => onPick('price', apiText(price, price_decimals))}>{market.shownPrice(price)}</button>
      </td>
      <td><button type="button" tabIndex={-1} onClick={() => onPick('size', apiText(size, size_decimals))}>{least}{market.shownSize(size)}</button></td>
      {own === undefined ? <td class="dim">{least}{market.shownSize(total)}</td> : (
        <td class="mine"><span class="visually-hidden">{least}{market.shownSize(total)}</span><button type="button" tabIndex={-1} title={`${own}: to the order`} onClick={() => onOwn(id!)}>{mark}</button></td>
      )}
    </tr>
  );
});

const EmptyRow = unlessSame(() => <tr class="empty"><td>{'\u00a0'}</td><td /><td /></tr>);

function Spread({ book, market }: { book: Book; market: Market }) {
  const bid = book.bids[0];
  const ask = book.asks[0];
  if (bid === undefined || ask === undefined)
    return <>{bid === undefined && ask === undefined ? 'no orders' : bid === undefined ? 'no bids' : 'no asks'}</>;
  const spread = ask.price - bid.price;
  return <>spread {shown(spread, market.record.price_decimals)} <span class="dim">({hundredthsOfBasisPoints(spread, bid.price + ask.price)} bp)</span></>;
}

/** The spread in basis points of the middle, with two decimals, rounded down. */
function hundredthsOfBasisPoints(spread: bigint, sum: bigint): string {
  return shown((spread * 2_000_000n) / sum, 2);
}

/** Keeps the row of the spread in the middle of what scrolls, until somebody scrolls. */
function useMiddle(isLoaded: boolean) {
  const row = useRef<HTMLTableRowElement>(null);
  useEffect(() => {
    const body = row.current?.closest<HTMLElement>('.pane-body');
    if (body == null) return;
    const sizes = new ResizeObserver(() => {
      const spread = row.current; // null: another market's book is on its way
      if (spread !== null) body.scrollTop = spread.offsetTop + (spread.offsetHeight - body.clientHeight) / 2;
    });
    sizes.observe(body);
    return () => sizes.disconnect();
  }, [isLoaded]);
  return row;
}

type LadderProps = { exchange: Exchange; book: Book; market: Market; step: bigint; onPick: Pick; onOwn: OnOwn };

function Ladder({ exchange, book, market, step, onPick, onOwn }: LadderProps) {
  useModel(book);
  useModel(exchange.trader);
  useModel(exchange.queues.get(market.name));
  const middle = useMiddle(book.isLoaded);
  const size = step * market.tick;
  const bids = ladder(book, 'bids', size, ROWS);
  const asks = ladder(book, 'asks', size, ROWS);
  const ends = [bids.at(-1)?.total ?? 0n, asks.at(-1)?.total ?? 0n];
  const most = ends[0] > ends[1] ? ends[0] : ends[1];
  const rows = (rungs: Rung[], side: Side) => {
    const owns = ownBySteps(exchange, market, side, size);
    return Array.from({ length: ROWS }, (_, at) => {
      const index = side === 'asks' ? ROWS - 1 - at : at;
      const rung = rungs[index];
      if (rung === undefined) return <EmptyRow key={index} />;
      const own = owns.get(rung.price);
      const share = most === 0n ? 0 : Number((rung.total * BAR_PARTS) / most) / Number(BAR_PARTS);
      return <Row key={index} {...rung} own={own && ownText(own, market)} mark={own && ownMark(own, market)} id={own?.id} share={share} market={market} side={side} onPick={onPick} onOwn={onOwn} />;
    });
  };
  if (!book.isLoaded) return <Loading what="book" />;
  return (
    <table class={`ladder ${book.isCrossed ? 'crossed' : ''}`}>
      <caption class="visually-hidden">Order book of {market.name}{step > 1n ? ', grouped' : ''}</caption>
      <thead><tr><th scope="col">Price</th><th scope="col">Size, {market.record.base}</th><th scope="col">Sum</th></tr></thead>
      <tbody class="asks">{rows(asks, 'asks')}</tbody>
      <tbody><tr class="spread" ref={middle}><td colSpan={3}><Spread book={book} market={market} /></td></tr></tbody>
      <tbody class="bids">{rows(bids, 'bids')}</tbody>
    </table>
  );
}

export function BookPane({ exchange, onPick, onOwn }: { exchange: Exchange; onPick: Pick; onOwn: OnOwn }) {
  const { market, book } = useModel(exchange);
  const [step, setStep] = useState(1n);
  const group = (text: string) => {
    setStep(BigInt(text));
    exchange.join(text !== '1');
  };
  const tools = market !== null && (
    <label>
      <span class="visually-hidden">Group prices by</span>
      <select value={step.toString()} onChange={(event) => group(event.currentTarget.value)}>
        {STEPS.map((one) => <option key={one} value={one.toString()}>{apiText(one * market.tick, market.record.price_decimals)}</option>)}
      </select>
      {step > 1n && <span class="dim"> grouped</span>}
    </label>
  );
  return (
    <Pane name="book" title="Order book" isLong tools={tools} source={{ exchange, channel: 'book', market: market?.name }}>
      {market === null || book === null ? <Nothing>no market chosen</Nothing> : <Ladder exchange={exchange} book={book} market={market} step={step} onPick={onPick} onOwn={onOwn} />}
    </Pane>
  );
}
