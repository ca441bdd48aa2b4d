/* All markets with their prices; choosing one changes the address. */
import { useState } from 'preact/hooks';
import { shown, shownText } from './decimal';
import type { Exchange } from './exchange';
import type { Market } from './market';
import { useModel } from './model';
import { Loading, Nothing, Pane } from './pane';
import { MARKET_STATE } from './text';

function Row({ market, chosen }: { market: Market; chosen: boolean }) {
  const { mark, record, change } = useModel(market);
  return (
    <tr class={chosen ? 'chosen' : ''}>
      <th scope="row">
        <a href={`#m=${market.name}`} aria-current={chosen ? 'true' : undefined}>{record.base}</a>
        {market.state !== 'ACTIVE' && <span class="badge warn">{MARKET_STATE[market.state] ?? market.state}</span>}
        {mark?.valid === false && mark.mark_price !== null && <span class="badge warn" title="the mark price is stale">stale</span>}
      </th>
      <td>{shownText(mark?.mark_price, record.price_decimals)}</td>
      <td class={!change ? 'dim' : change < 0n ? 'sell' : 'buy'}>{change === null ? '–' : `${change < 0n ? '▼ ' : change > 0n ? '▲ ' : ''}${shown(change, 2)} %`}</td>
      <td class="dim" title={market.ticker === null ? undefined : `${market.ticker.notional_24h} USDC in 24 hours`}>{market.ticker === null ? '–' : shownText(market.ticker.notional_24h.split('.')[0])}</td>
    </tr>
  );
}

/** What the list can be ordered by: the greatest first, names from A on. */
const ORDERS = {
  name: (a: Market, b: Market) => a.name.localeCompare(b.name),
  change: (a: Market, b: Market) => compare(b.change, a.change),
  volume: (a: Market, b: Market) => compare(notional(b), notional(a)),
} as const;
type By = keyof typeof ORDERS;

function compare(a: bigint | null, b: bigint | null): number {
  return a === b ? 0 : b === null || (a !== null && a > b) ? 1 : -1;
}

function notional({ ticker }: Market): bigint | null {
  return ticker === null ? null : BigInt(ticker.notional_24h.split('.')[0]);
}

export function MarketsPane({ exchange }: { exchange: Exchange }) {
  useModel(exchange);
  const [filter, setFilter] = useState('');
  const [by, setBy] = useState<By | null>(null);
  const found = exchange.markets.filter((market) => market.name.includes(filter.toUpperCase()));
  const rows = by === null ? found : [...found].sort(ORDERS[by]);
  const head = (name: By, text: string) => (
    <th scope="col" aria-sort={by !== name ? undefined : name === 'name' ? 'ascending' : 'descending'}><button type="button" onClick={() => setBy(by === name ? null : name)}>{text}{by === name && (name === 'name' ? ' ▴' : ' ▾')}</button></th>
  );
  const find = (
    <label class="dim">find <input type="search" aria-label="Find a market" value={filter}
      onInput={(event) => setFilter(event.currentTarget.value)} /></label>
  );
  return (
    <Pane name="markets" title="Markets" tools={find}>
      {exchange.markets.length === 0 && (exchange.record === null ? <Loading what="markets" /> : <Nothing>no markets yet</Nothing>)}
      {exchange.markets.length > 0 && (
        <table>
          <caption class="visually-hidden">Markets and their prices</caption>
          <thead><tr>{head('name', 'Market')}<th scope="col">Mark</th>{head('change', '24 h')}{head('volume', 'USDC, 24 h')}</tr></thead>
          <tbody>{rows.map((market) => <Row key={market.name} market={market} chosen={market === exchange.market} />)}</tbody>
        </table>
      )}
      {exchange.unfollowed > 0 && <p class="nothing">{exchange.unfollowed} markets without prices: a connection has {exchange.record!.limits.stream_subscriptions} subscriptions. A market has its prices once you choose it.</p>}
      {exchange.markets.length > 0 && rows.length === 0 && <Nothing>no market has this name</Nothing>}
    </Pane>
  );
}
