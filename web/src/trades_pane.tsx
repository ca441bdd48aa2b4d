/* The tape: trades as they happen, newest on top; a click shows all of one. */
import { useCallback, useEffect, useState } from 'preact/hooks';
import type { Desk } from './app';
import { shownText } from './decimal';
import type { Exchange } from './exchange';
import { big } from './json';
import type { Market } from './market';
import { unlessSame, useModel } from './model';
import { Loading, Nothing, Pane } from './pane';
import type { Trade } from './tape';

const ROWS = 50;

const clock = new Intl.DateTimeFormat([], { timeStyle: 'medium', hour12: false }); // made once: that takes longer than a frame's rows

const Row = unlessSame(({ trade, market, onOpen }: { trade: Trade; market: Market; onOpen: (trade: Trade) => void }) => {
  const isBuy = trade.taker_side === 'LONG';
  const { price_decimals, size_decimals } = market.record;
  return (
    <tr>
      <td class={isBuy ? 'buy' : 'sell'}>
        <button type="button" onClick={() => onOpen(trade)}>
          <span aria-hidden="true">{isBuy ? '▲' : '▼'}</span>
          <span class="visually-hidden">{isBuy ? 'bought' : 'sold'} at</span> {shownText(trade.price, price_decimals)}
        </button>
      </td>
      <td>{shownText(trade.size, size_decimals)}{trade.liquidation && <abbr class="badge warn" title="liquidation">L</abbr>}</td>
      <td class="dim" title={`${big(trade.time_ns)} ns`}>{clock.format(trade.time)}</td>
    </tr>
  );
});

function Details({ trade }: { trade: Trade }) {
  return (
    <dl class="details">
      {Object.entries(trade).map(([name, value]) => (
        <div key={name}><dt>{name}</dt><dd>{String(value)}</dd></div>
      ))}
    </dl>
  );
}

export function TradesPane({ exchange, desk }: { exchange: Exchange; desk: Desk | null }) {
  const { market, tape } = useModel(exchange);
  useModel(tape);
  const [held, setHeld] = useState<Trade[] | null>(null);
  useEffect(() => setHeld(null), [market]);
  const rows = held ?? tape?.trades.slice(0, ROWS) ?? [];
  const [open, setOpen] = useState<Trade | null>(null);
  const toggle = useCallback((trade: Trade) => setOpen((open) => (open?.trade_seq === trade.trade_seq ? null : trade)), []);
  return (
    <Pane name="trades" title="Trades" source={{ exchange, channel: 'trades', market: market?.name }}>
      {(market === null || tape === null || !tape.isLoaded) && <Loading what="trades" />}
      {open !== null && <Details trade={open} />}
      {market !== null && tape?.isLoaded && (rows.length === 0 ? <Nothing>no trades yet</Nothing> : <>
        <table>
          <caption class="visually-hidden">Trades of {market.name}, newest first</caption>
          <thead><tr><th scope="col">Price</th><th scope="col">Size</th><th scope="col">Time</th></tr></thead>
          <tbody>{rows.map((trade) => <Row key={String(trade.trade_seq)} trade={trade} market={market} onOpen={toggle} />)}</tbody>
        </table>
        {desk !== null && <desk.OlderTrades market={market} rows={rows} isHeld={held !== null} onRows={setHeld} />}
      </>)}
    </Pane>
  );
}
