/* The order book as a ladder: asks above, bids below, bars for the sizes from the best price on. */
import { useState } from 'preact/hooks';
import { type Book, type Rung, type Side, ladder, stepOf } from './book';
import { apiText, shown } from './decimal';
import type { Exchange } from './exchange';
import type { Market } from './market';
import { unlessSame, useModel } from './model';
import { Loading, Nothing, Pane } from './pane';

const ROWS = 14;
const STEPS = [1n, 10n, 100n, 1000n];
const BAR_PARTS = 1000n;

export type Pick = (field: 'price' | 'size', text: string) => void;

/** Own orders in a step of the ladder: their size, and what is ahead of the first of them. */
type Own = { size: bigint; ahead: bigint | null };

/** Own resting orders by the prices of the ladder's steps. */
function ownBySteps(exchange: Exchange, market: Market, side: Side, step: bigint): Map<bigint, Own> {
  const found = new Map<bigint, Own>();
  const queue = exchange.queues.get(market.name);
  for (const order of exchange.trader?.account?.orders ?? []) {
    if (order.market !== market.name || order.book_handle === null || (order.side === 'LONG') !== (side === 'bids')) continue;
    const at = stepOf(market.price(order.price), side, step);
    const ahead = queue?.ahead(order.book_handle) ?? null;
    const before = found.get(at);
    found.set(at, {
      size: market.size(order.remaining_size) + (before?.size ?? 0n),
      ahead: before?.ahead == null || (ahead !== null && ahead < before.ahead) ? ahead : before.ahead,
    });
  }
  return found;
}

function ownText({ size, ahead }: Own, market: Market): string {
  return `${market.shownSize(size)} yours${ahead === null ? '' : `, ${market.shownSize(ahead)} ahead of you`}`;
}

type RowProps = Rung & { own: string | undefined; share: number; market: Market; side: Side; onPick: Pick };

const Row = unlessSame(({ price, size, total, own, share, market, side, onPick }: RowProps) => {
  const { price_decimals, size_decimals } = market.record;
  return (
    <tr class={own && 'own'} title={own}>
      <td class={side === 'bids' ? 'buy' : 'sell'}>
        <span class="bar" style={{ transform: `scaleX(${share})` }} />
        <button type="button" tabIndex={-1} onClick={() => onPick('price', apiText(price, price_decimals))}>{market.shownPrice(price)}</button>
        {own && <span class="mine"><span aria-hidden="true">◂</span><span class="visually-hidden">{own}</span></span>}
      </td>
      <td><button type="button" tabIndex={-1} onClick={() => onPick('size', apiText(size, size_decimals))}>{market.shownSize(size)}</button></td>
      <td class="dim">{market.shownSize(total)}</td>
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

function Ladder({ exchange, book, market, step, onPick }: { exchange: Exchange; book: Book; market: Market; step: bigint; onPick: Pick }) {
  useModel(book);
  useModel(exchange.trader);
  useModel(exchange.queues.get(market.name));
  const size = step * market.tick;
  const bids = ladder(book.bids, 'bids', size, ROWS);
  const asks = ladder(book.asks, 'asks', size, ROWS);
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
      return <Row key={index} {...rung} own={own && ownText(own, market)} share={share} market={market} side={side} onPick={onPick} />;
    });
  };
  if (!book.isLoaded) return <Loading what="book" />;
  return (
    <table class={`ladder ${book.isCrossed ? 'crossed' : ''}`}>
      <caption class="visually-hidden">Order book of {market.name}{step > 1n ? ', grouped' : ''}</caption>
      <thead><tr><th scope="col">Price</th><th scope="col">Size, {market.record.base}</th><th scope="col">Sum</th></tr></thead>
      <tbody class="asks">{rows(asks, 'asks')}</tbody>
      <tbody><tr class="spread"><td colSpan={3}><Spread book={book} market={market} /></td></tr></tbody>
      <tbody class="bids">{rows(bids, 'bids')}</tbody>
    </table>
  );
}

export function BookPane({ exchange, onPick }: { exchange: Exchange; onPick: Pick }) {
  const { market, book } = useModel(exchange);
  const [step, setStep] = useState(1n);
  const tools = market !== null && (
    <label>
      <span class="visually-hidden">Group prices by</span>
      <select value={step.toString()} onChange={(event) => setStep(BigInt(event.currentTarget.value))}>
        {STEPS.map((one) => <option key={one} value={one.toString()}>{apiText(one * market.tick, market.record.price_decimals)}</option>)}
      </select>
      {step > 1n && <span class="dim"> grouped</span>}
    </label>
  );
  return (
    <Pane name="book" title="Order book" tools={tools} source={{ exchange, channel: 'book', market: market?.name }}>
      {market === null || book === null ? <Nothing>no market chosen</Nothing> : <Ladder exchange={exchange} book={book} market={market} step={step} onPick={onPick} />}
    </Pane>
  );
}
