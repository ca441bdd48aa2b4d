/* The headline: which market, its prices, and whether what the page shows is live. */
import { clockOffset } from './clock';
import { percentText, shownText } from './decimal';
import type { Exchange } from './exchange';
import { faults } from './fault';
import { big } from './json';
import type { Market } from './market';
import { useModel, useTick } from './model';
import { CHIP, MARKET_STATE } from './text';
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { settings } from './settings';

function Figure({ name, children, title, kind = '' }: { name: string; children: ComponentChildren; title?: string; kind?: string }) {
  return (
    <div class={`figure ${kind}`} title={title}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function untilFunding(): string {
  const left = 3600 - (Math.floor((Date.now() + (clockOffset()?.offset ?? 0)) / 1000) % 3600);
  return `${String(Math.floor(left / 60)).padStart(2, '0')}:${String(left % 60).padStart(2, '0')}`;
}

function Prices({ market, exchange }: { market: Market; exchange: Exchange }) {
  useModel(market);
  const tape = useModel(exchange.tape);
  useTick(1000);
  const { mark } = market;
  const last = tape?.trades[0];
  const decimals = market.record.price_decimals;
  const arrow = last === undefined ? '' : last.taker_side === 'LONG' ? '▲' : '▼';
  return (
    <dl class="figures">
      <div class={`figure last ${last?.taker_side === 'SHORT' ? 'sell' : 'buy'}`}>
        <dt>Last</dt>
        <dd>{shownText(last?.price, decimals)} <span aria-hidden="true">{arrow}</span></dd>
      </div>
      <Figure name="Mark" title={mark?.valid === false ? 'the mark price is stale' : undefined}>
        {shownText(mark?.mark_price, decimals)}{mark?.valid === false && mark.mark_price !== null && <span class="badge warn">stale</span>}
      </Figure>
      <Figure name="Index" kind="roomy">{shownText(mark?.index_price, decimals)}</Figure>
      <Figure name="Funding / countdown" title="the rate that the hour would end with now">
        {mark === null ? '–' : percentText(mark.predicted_funding_rate)} <span class="dim">{untilFunding()}</span>
      </Figure>
      {market.state !== 'ACTIVE' && (
        <Figure name="State"><span class="badge warn">{MARKET_STATE[market.state] ?? market.state}</span></Figure>
      )}
    </dl>
  );
}

function Chip({ exchange, onOpen }: { exchange: Exchange; onOpen: () => void }) {
  const stream = useModel(exchange.stream);
  const state = stream.state;
  const { word, icon, tone } = CHIP[state];
  const offset = clockOffset();
  const wait = Math.max(0, Math.ceil((stream.retryAt - performance.now()) / 1000));
  const more = stream.isOpen || state === 'connecting'
    ? state === 'lagging' ? ` ${Math.round(stream.lagMs)} ms` : ''
    : ` #${stream.attempt}, in ${wait} s`;
  const clock = offset === null ? '' : `; clock ${offset.offset >= 0 ? '+' : '−'}${Math.abs(offset.offset).toFixed(0)} ± ${offset.error.toFixed(0)} ms`;
  return (
    <div class="chips">
      <button type="button" class={`chip tone-${tone}`} onClick={onOpen} title={`Connection: ${word}${clock}. Opens Health.`}>
        <span aria-hidden="true">{icon}</span> {word}{more}
      </button>
      {!stream.isOpen && state !== 'connecting' && (
        <button type="button" class="chip" onClick={() => stream.retry()}>Retry now</button>
      )}
    </div>
  );
}

const SPOKEN_MS = 10_000;

/** The prices for who listens and has asked for them: another text at most each ten seconds. */
function Spoken({ exchange }: { exchange: Exchange }) {
  useModel(settings);
  useTick(SPOKEN_MS);
  const said = useRef({ at: -Infinity, text: '' });
  const { market, tape } = exchange;
  if (settings.get('spoken') === 'off' || market === null) said.current = { at: -Infinity, text: '' };
  else if (performance.now() - said.current.at >= SPOKEN_MS - 100) {
    const price = (text: string | null | undefined) => (text == null ? 'none' : shownText(text, market.record.price_decimals));
    said.current = { at: performance.now(), text: `${market.name}: best bid ${price(market.bbo?.bid_price)}, best ask ${price(market.bbo?.ask_price)}, last ${price(tape?.trades[0]?.price)}` };
  }
  return <p class="visually-hidden" id="spoken" aria-live="polite">{said.current.text}</p>;
}

export function Header({ exchange, onHealth, onHelp, children }: { exchange: Exchange; onHealth: () => void; onHelp: () => void; children?: ComponentChildren }) {
  const { market } = useModel(exchange);
  return (
    <header class="top">
      <h1>perpd<span class="visually-hidden"> console</span></h1>
      {exchange.record?.testnet && <span class="badge warn">test money</span>}
      <label class="pick">
        <span class="visually-hidden">Market</span>
        <select value={market?.name ?? ''} onChange={(event) => (location.hash = `m=${event.currentTarget.value}`)}>
          {market === null && <option value="">…</option>}
          {exchange.markets.map((one) => <option key={one.name} value={one.name}>{one.name}</option>)}
        </select>
      </label>
      <button type="button" class="chip help" aria-label="Keys and look" title="Keys and look (?)" onClick={onHelp}>?</button>
      {market !== null && <Prices market={market} exchange={exchange} />}
      <Spoken exchange={exchange} />
      <div class="top-end">
        {children}
        <Chip exchange={exchange} onOpen={onHealth} />
      </div>
    </header>
  );
}

/** What everybody must see: stops, deficits, reads that lag. */
export function Banner({ exchange }: { exchange: Exchange }) {
  const { status, staleSince, isRefused, subscriptions } = useModel(exchange.stream);
  useModel(exchange);
  const { line: fault } = useModel(faults);
  const lines: string[] = fault === null ? [] : [fault];
  if (exchange.problem !== null) lines.push(`The exchange's records are not there: ${exchange.problem.message}. Trying again.`);
  if (staleSince !== null) lines.push(`What is shown is stale since ${new Date(staleSince).toLocaleTimeString()}.`);
  if (isRefused) lines.push('The exchange answers, but gives this page no stream: too many may be open from this address (limits.stream_connections), or something on the way does not pass WebSockets. Trying again.');
  const refused = [...subscriptions.values()].filter((one) => one.state === 'refused');
  if (refused.length > 0) lines.push(`${refused.length} of ${subscriptions.size} subscriptions are refused; Health says why. What the other panes show is complete.`);
  if (status?.state === 'draining') lines.push('The exchange is stopping.');
  if (status?.maintenance_at_ns !== undefined) lines.push(`Maintenance ${status.state === 'maintenance' ? 'since' : 'begins'} ${new Date(Number(big(status.maintenance_at_ns) / 1000000n)).toLocaleString()}.`);
  if (status?.insurance_fund_deficit) lines.push('The insurance fund is below zero.');
  if (status?.text !== undefined) lines.push(status.text);
  return lines.length === 0 ? null : <div class="banner" role="status">{lines.map((line) => <p key={line}>{line}</p>)}</div>;
}
