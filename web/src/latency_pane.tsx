/* How long own requests took, by stages, with what the exchange promises in that time. */
import { useRef, useState } from 'preact/hooks';
import type { Exchange } from './exchange';
import { writeJson } from './json';
import { MEASURES, type Measure, QUANTILES, type Sample, latency, measured, percentile } from './latency';
import { measure } from './measurement';
import { useModel } from './model';
import { saveFile } from './save_file';
import { StagesPart } from './stages_part';
import type { Trader } from './trader';

const ROWS = 20;
const COUNTS = [20, 100, 500];

function time(ns: number | null | undefined): string {
  return ns == null ? '–' : (ns / 1e6).toFixed(3);
}

/** The parts of one request, one after another. */
function parts(sample: Sample): [string, number][] {
  const { verified, sequenced, matched, ack } = sample;
  const from = (later: number, earlier: number) => (later === 0 ? 0 : Math.max(0, later - earlier));
  return [
    ['check', verified], ['sequence', from(sequenced, verified)], ['match', from(matched, sequenced)],
    ['keep and answer', from(ack, Math.max(verified, sequenced, matched))], ['network', measured(sample, 'network')],
  ];
}

function Bar({ sample }: { sample: Sample }) {
  const all = parts(sample);
  const whole = all.reduce((sum, [, ns]) => sum + ns, 0) || 1;
  return (
    <div class="stages">
      <div class="stage-bar" aria-hidden="true">{all.map(([name, ns], at) => <span key={name} class={`stage-${at}`} style={{ flexGrow: ns / whole }} />)}</div>
      <ul>{all.map(([name, ns], at) => <li key={name}><span class={`key stage-${at}`} aria-hidden="true" /> {name} {time(ns)}</li>)}</ul>
    </div>
  );
}

function Measuring({ exchange, trader }: { exchange: Exchange; trader: Trader }) {
  const [count, setCount] = useState(COUNTS[0]);
  const [isRunning, setRunning] = useState(false);
  const [wrong, setWrong] = useState<string | null>(null);
  const goesOn = useRef(false);
  const run = async () => {
    goesOn.current = true;
    setRunning(true);
    setWrong(await measure(exchange, trader, count, () => goesOn.current).catch((caught: Error) => caught.message));
    setRunning(false);
    goesOn.current = false;
    await trader.read();
  };
  return (
    <>
      <label>place and cancel <select value={count} disabled={isRunning} onChange={(event) => setCount(Number(event.currentTarget.value))}>
        {COUNTS.map((one) => <option key={one} value={one}>{one}</option>)}
      </select> orders 20 % below the mark</label>{' '}
      <button type="button" class="button" onClick={() => (isRunning ? (goesOn.current = false) : void run())}>{isRunning ? 'stop' : 'measure'}</button>
      {wrong !== null && <span class="tone-bad" role="alert"> {wrong}</span>}
    </>
  );
}

function Table() {
  return (
    <table>
      <caption class="visually-hidden">Times of own requests in milliseconds since the exchange received them</caption>
      <thead><tr><th scope="col">ms until</th><th scope="col" class="roomy">last</th>{QUANTILES.map((one) => <th key={one} scope="col" class={one > 0.99 ? 'opt' : ''}>p{one * 100}</th>)}<th scope="col">max</th></tr></thead>
      <tbody>
        {(Object.keys(MEASURES) as Measure[]).map((name) => {
          const sorted = latency.sorted(name);
          const last = latency.samples.at(-1);
          return <tr key={name}>
            <th scope="row">{MEASURES[name]}</th><td class="roomy">{time(last && measured(last, name))}</td>
            {QUANTILES.map((one) => <td key={one} class={one > 0.99 ? 'opt' : ''}>{time(percentile(sorted, one))}</td>)}<td>{time(sorted.at(-1))}</td>
          </tr>;
        })}
      </tbody>
    </table>
  );
}

function Newest() {
  return (
    <details class="bytes">
      <summary>the newest {Math.min(ROWS, latency.samples.length)} requests</summary>
      <table>
        <caption class="visually-hidden">The newest requests</caption>
        <thead><tr><th scope="col">Request</th><th scope="col">Time</th><th scope="col">ack, ms</th><th scope="col">round trip, ms</th></tr></thead>
        <tbody>{latency.samples.slice(-ROWS).reverse().map((one) => (
          <tr key={one.id + one.request} title={one.id}><th scope="row">{one.request.replaceAll('_', ' ')}</th><td class="dim">{new Date(one.at).toLocaleTimeString([], { hour12: false })}</td><td>{time(one.ack)}</td><td>{time(one.roundTrip)}</td></tr>
        ))}</tbody>
      </table>
    </details>
  );
}

export function LatencyPane({ exchange, trader }: { exchange: Exchange; trader: Trader }) {
  useModel(latency);
  useModel(trader);
  const { record } = exchange;
  const last = latency.samples.at(-1);
  const can = record?.testnet === true && trader.credentials !== null && exchange.market?.state === 'ACTIVE';
  return (
    <div class="pane-latency">
      <p class="dim health-line">
        {latency.samples.length} own requests since this page was loaded; an acknowledgement means {record === null ? '…' : `durability ${record.durability}`}{record?.testnet && ', on a test exchange'}. A percentile of too few is –.
      </p>
      {can && <p class="health-line"><Measuring exchange={exchange} trader={trader} /></p>}
      {last !== undefined && <Bar sample={last} />}
      <div class="scroll"><Table /></div>
      {last !== undefined && <Newest />}
      {last !== undefined && <p class="health-line">
        <button type="button" class="button" onClick={() => saveFile('latency.csv', 'text/csv', latency.csv)}>save as CSV</button>{' '}
        <button type="button" class="button" onClick={() => saveFile('latency.json', 'application/json', writeJson({ durability: record?.durability, testnet: record?.testnet, unit: 'ns', samples: latency.samples }))}>save as JSON</button>
      </p>}
      <StagesPart exchange={exchange} />
    </div>
  );
}
