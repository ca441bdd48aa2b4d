/* All markets with their prices; choosing one changes the address. */
import { useState } from 'preact/hooks';
import { percentText, shownText } from './decimal';
import type { Exchange } from './exchange';
import type { Market } from './market';
import { useModel } from './model';
import { Loading, Nothing, Pane } from './pane';
import { MARKET_STATE } from './text';

function Row({ market, chosen }: { market: Market; chosen: boolean }) {
  const { mark, bbo, record } = useModel(market);
  return (
    <tr class={chosen ? 'chosen' : ''}>
      <th scope="row">
        <a href={`#m=${market.name}`} aria-current={chosen ? 'true' : undefined}>{record.base}</a>
        {market.state !== 'ACTIVE' && <span class="badge warn">{MARKET_STATE[market.state] ?? market.state}</span>}
        {mark?.valid === false && mark.mark_price !== null && <span class="badge warn" title="the mark price is stale">stale</span>}
      </th>
      <td>{shownText(mark?.mark_price, record.price_decimals)}</td>
      <td class="buy">{shownText(bbo?.bid_price, record.price_decimals)}</td>
      <td class="sell">{shownText(bbo?.ask_price, record.price_decimals)}</td>
      <td class="dim funding">{mark === null ? '–' : percentText(mark.predicted_funding_rate)}</td>
    </tr>
  );
}

export function MarketsPane({ exchange }: { exchange: Exchange }) {
  useModel(exchange);
  const [filter, setFilter] = useState('');
  const shown = exchange.markets.filter((market) => market.name.includes(filter.toUpperCase()));
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
          <thead><tr><th scope="col">Market</th><th scope="col">Mark</th><th scope="col">Bid</th><th scope="col">Ask</th><th scope="col" class="funding">Funding</th></tr></thead>
          <tbody>{shown.map((market) => <Row key={market.name} market={market} chosen={market === exchange.market} />)}</tbody>
        </table>
      )}
      {exchange.unfollowed > 0 && <p class="nothing">{exchange.unfollowed} markets without prices: a connection has {exchange.record!.limits.stream_subscriptions} subscriptions. A market has its prices once you choose it.</p>}
      {exchange.markets.length > 0 && shown.length === 0 && <Nothing>no market has this name</Nothing>}
    </Pane>
  );
}
