/* The health of every subscription: what came, what was missing, which checksums held. */
import { Copy } from './copy';
import type { Exchange } from './exchange';
import { writeJson } from './json';
import { useModel, useTick } from './model';
import type { Subscription } from './subscription';
import { statusText } from './code_text';
import { DATA_STATE, refusalAdvice } from './text';

function report(exchange: Exchange): string {
  const rows = [...exchange.stream.subscriptions.values()].map((one) => ({
    channel: one.topic.channel, market: one.topic.market, state: one.state, seq: one.seq, prev_seq: one.prevSeq,
    frames: one.frames, gaps: one.gaps, snapshots: one.snapshots, resumes: one.resumes, conflated: one.conflated, crc_checks: one.checks, crc_faults: one.faults,
    refusals: one.refusals, refusal: one.refusal?.code,
  }));
  return writeJson({ state: exchange.stream.state, status: exchange.stream.status, subscriptions: rows });
}

function Row({ one, onRefresh }: { one: Subscription; onRefresh: () => void }) {
  const again = Math.max(0, Math.ceil((one.askAt - performance.now()) / 1000));
  const age = Math.max(0, performance.now() - one.lastAt) / 1000;
  return (
    <>
    <tr>
      <th scope="row">{one.topic.channel} <span class="dim">{one.topic.market}</span></th>
      <td class={one.state === 'live' ? 'buy' : 'sell'}>{DATA_STATE[one.state]}</td>
      <td title={`before it ${one.prevSeq}`}>{one.seq.toString()}</td>
      <td>{one.rate.toFixed(1)}</td>
      <td>{age.toFixed(0)} s</td>
      <td>{one.gaps}</td>
      <td>{one.resumes} / {one.conflated}</td>
      <td>{one.topic.channel === 'book' ? `${one.checks} / ${one.faults}` : '–'}</td>
      <td><button type="button" onClick={onRefresh}>resubscribe</button></td>
    </tr>
    {one.state === 'refused' && (
      <tr class="why"><td colSpan={9}>{one.refusal!.detail === '' ? statusText(one.refusal!.code) : one.refusal!.detail}. {refusalAdvice(one.refusal!)}{Number.isFinite(again) && ` Asked again in ${again} s.`}</td></tr>
    )}
    </>
  );
}

export function HealthPane({ exchange }: { exchange: Exchange }) {
  const stream = useModel(exchange.stream);
  useTick(1000);
  const copy = <Copy text={() => report(exchange)}>copy report</Copy>;
  return (
    <div class="pane-health">
      <p class="dim health-line">{stream.status === null ? 'no status yet' : `exchange ${stream.status.state}, reads ${stream.status.lag_ms} ms behind`} {copy}</p>
      <div class="scroll">
        <table>
          <caption class="visually-hidden">Subscriptions of this page</caption>
          <thead>
            <tr>
              <th scope="col">Subscription</th><th scope="col">State</th><th scope="col">Sequence</th><th scope="col">Frames/s</th>
              <th scope="col">Age</th><th scope="col">Gaps</th><th scope="col" title="by a new snapshot; the whole sent unasked, for this page read too slowly">Resumed / conflated</th><th scope="col">Checks / faults</th><th scope="col"><span class="visually-hidden">Action</span></th>
            </tr>
          </thead>
          <tbody>{[...stream.subscriptions.values()].map((one) => <Row key={one.key} one={one} onRefresh={() => stream.refresh(one)} />)}</tbody>
        </table>
      </div>
    </div>
  );
}
