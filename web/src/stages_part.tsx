/* The part of the latency pane that is not of own requests: every request's stages, as a table and as lines over two minutes. */
import { useEffect, useState } from 'preact/hooks';
import { useDrawing } from './drawing';
import type { Exchange } from './exchange';
import { makeLineChart } from './line_chart';
import { useModel } from './model';
import { STAGE_TEXT, Stages, WINDOWS, type Window } from './stages';

const SHARES = [500, 900, 990, 999];
/** The lines: each stage's colour is that of its part of a request's bar. */
const LINES = { verified: 'accent', sequenced: 'buy', matched: 'warn', released: 'sell', sent: 'dim' };
const LINE_WINDOW = 10;

const milli = (ns: number | null) => (ns === null ? '–' : (ns / 1e6).toFixed(3));
const shareText = (thousandths: number) => `p${thousandths / 10}`;
const windowText = (window: Window) => (window === 0 ? 'since it started' : `${window} s`);

function Lines({ stages, share }: { stages: Stages; share: number }) {
  const place = useDrawing(async (element) => () => {
    const axes = { isLog: true, x: (s: number) => (s === 0 ? 'now' : `\u2212${Math.round(-s)} s`), y: (ms: number) => `${ms >= 1 ? ms : ms.toPrecision(1)} ms` };
    const drawing = makeLineChart(element, axes);
    const draw = () => {
      const end = performance.now();
      drawing.draw(Object.entries(LINES).map(([stage, tone]) => ({
        tone,
        points: stages.readings.flatMap((one) => {
          const ns = stages.quantile(stage, LINE_WINDOW, share, one);
          return ns === null ? [] : [[(one.at - end) / 1000, ns / 1e6] as const];
        }),
      })));
    };
    return { drawing, draw };
  }, 1000, [stages, share]);
  const last = stages.quantile('sent', LINE_WINDOW, share);
  return (
    <figure class="stage-lines">
      <figcaption class="dim">{shareText(share)} of {LINE_WINDOW} s, ms, over two minutes: {Object.keys(LINES).map((stage, at) => <span key={stage}><span class={`key stage-${at}`} aria-hidden="true" /> {STAGE_TEXT[stage]} </span>)}</figcaption>
      <div class="stage-chart"><div class="chart" ref={place} role="img" aria-label={`${shareText(share)} of each stage over two minutes; answers are sent after ${milli(last)} ms now.`} /></div>
    </figure>
  );
}

export function StagesPart({ exchange }: { exchange: Exchange }) {
  const [stages] = useState(() => new Stages());
  const [window, setWindow] = useState<Window>(10);
  const [share, setShare] = useState(500);
  useEffect(() => stages.start(), [stages]);
  useModel(stages);
  const { record } = exchange;
  const last = stages.readings.at(-1);
  if (last === undefined) return <p class="dim health-line">{stages.problem ?? 'loading the exchange’s stages …'}</p>;
  return (
    <section class="exchange-stages" aria-label="All requests of the exchange">
      <h3 class="health-line">All requests, ms from their receipt <span class="dim">durability {record?.durability}{record?.testnet && ', on a test exchange'}; upper bounds of buckets</span></h3>
      <p class="health-line">
        {WINDOWS.map((one) => <button key={one} type="button" class="button" aria-pressed={one === window} onClick={() => setWindow(one)}>{windowText(one)}</button>)}
        {' '}<label>lines of <select value={share} onChange={(event) => setShare(Number(event.currentTarget.value))}>{SHARES.map((one) => <option key={one} value={one}>{shareText(one)}</option>)}</select></label>
      </p>
      {stages.problem !== null && <p class="health-line tone-bad">{stages.problem}</p>}
      <div class="scroll">
        <table>
          <caption class="visually-hidden">Times of all requests in milliseconds, {windowText(window)}</caption>
          <thead><tr><th scope="col">ms until</th><th scope="col">count</th>{SHARES.map((one) => <th key={one} scope="col" class={one > 990 ? 'opt' : ''}>{shareText(one)}</th>)}</tr></thead>
          <tbody>{[...last.stages.keys()].map((stage) => (
            <tr key={stage}>
              <th scope="row">{STAGE_TEXT[stage] ?? stage}</th><td>{stages.count(stage, window)?.toLocaleString('en-US') ?? '–'}</td>
              {SHARES.map((one) => <td key={one} class={one > 990 ? 'opt' : ''}>{milli(stages.quantile(stage, window, one))}</td>)}
            </tr>
          ))}</tbody>
        </table>
      </div>
      <Lines stages={stages} share={share} />
    </section>
  );
}
