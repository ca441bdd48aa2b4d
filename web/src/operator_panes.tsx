/* The panes of the operator's page: what perpd says of itself, as figures and words. */
import type { ComponentChildren } from 'preact';
import { apiText, shown, shownText } from './decimal';
import { useDrawing } from './drawing';
import { makeLineChart } from './line_chart';
import { type Metrics, bucketQuantile, bucketsSince, perSecond, stageBuckets } from './metrics';
import { REASON_TEXT } from './alarm';
import { STATES } from './operator_action';
import type { Watch } from './watch';

const MICRO = 6;
/** Over how long a rate is taken, and the quantiles of stages. */
const RATE_S = 10;
const STAGE_S = 60;
const TOP_ANSWERS = 10;

export function Card({ name, title, tools, children }: { name: string; title: string; tools?: ComponentChildren; children: ComponentChildren }) {
  return (
    <section class={`pane card-${name}`} aria-labelledby={`${name}-title`}>
      <div class="pane-head"><h2 id={`${name}-title`}>{title}</h2><div class="pane-tools">{tools}</div></div>
      <div class="pane-body">{children}</div>
    </section>
  );
}

export function Figures({ rows }: { rows: readonly (readonly [string, ComponentChildren])[] }) {
  return <dl class="details money">{rows.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}</dl>;
}

function Table({ caption, heads, rows }: { caption: string; heads: readonly string[]; rows: readonly (readonly ComponentChildren[])[] }) {
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label={caption}>
      <table>
        <caption class="visually-hidden">{caption}</caption>
        <thead><tr>{heads.map((head) => <th key={head} scope="col">{head}</th>)}</tr></thead>
        <tbody>{rows.map(([first, ...rest]) => <tr key={String(first)}><th scope="row">{first}</th>{rest.map((cell, at) => <td key={heads[at + 1]}>{cell}</td>)}</tr>)}</tbody>
      </table>
    </div>
  );
}

const whole = (value: number | null) => (value === null ? '–' : value.toLocaleString('en-US', { maximumFractionDigits: 0 }));
const rate = (value: number | null) => (value === null ? '–' : value.toLocaleString('en-US', { maximumFractionDigits: value < 100 ? 1 : 0 }));
const yes = (value: number | null) => (value === null ? '–' : value === 0 ? 'no' : 'yes');
const span = (seconds: number | null) => (seconds === null ? '–' : seconds < 120 ? `${seconds.toFixed(0)} s` : seconds < 7200 ? `${(seconds / 60).toFixed(0)} min` : `${(seconds / 3600).toFixed(1)} h`);
const bytes = (value: number | null) => {
  if (value === null) return '–';
  const power = Math.min(4, Math.max(0, Math.floor(Math.log2(Math.max(1, value)) / 10)));
  return `${(value / 1024 ** power).toFixed(power === 0 ? 0 : 1)} ${['B', 'KiB', 'MiB', 'GiB', 'TiB'][power]}`;
};
const milli = (ns: number | null) => (ns === null ? '–' : ns === Infinity ? '> 17 s' : (ns / 1e6).toFixed(3));
const usdc = (text: string | null) => (text === null ? '–' : shown(BigInt(text), MICRO));

function LagLine({ watch }: { watch: Watch }) {
  const place = useDrawing(async (element) => () => {
    const axes = { x: (minutes: number) => (minutes === 0 ? 'now' : `\u2212${-minutes} min`), y: (y: number) => `${y} ms` };
    const drawing = makeLineChart(element, axes);
    const draw = () => {
      const end = performance.now() / 1000;
      drawing.draw([{ tone: 'accent', points: [[-10, 0], [-10, 0]] }, { tone: 'accent', isFilled: true, points: watch.lags.map(([at, lag]) => [(at - end) / 60, lag] as const) }]);
    };
    return { drawing, draw };
  }, 1000, [watch]);
  const most = watch.lags.reduce((found, [, lag]) => Math.max(found, lag), 0);
  return <div class="lag"><div class="chart" ref={place} role="img" aria-label={`Lag of the follower in the last ten minutes: at most ${most} ms.`} /></div>;
}

export function ReadyCard({ watch }: { watch: Watch }) {
  const { ready } = watch;
  return (
    <Card name="ready" title="Ready" tools={ready !== null && <span class={`chip tone-${ready.ready ? 'good' : 'bad'}`}>{ready.ready ? '● ready' : '▲ not ready'}</span>}>
      {ready === null ? <p class="nothing">loading …</p> : <>
        {ready.reasons.length > 0 && <ul class="reasons">{ready.reasons.map((reason) => <li key={reason}><strong>{reason}</strong>: {REASON_TEXT[reason] ?? 'see operations.md'}</li>)}</ul>}
        <Figures rows={[
          ['Applied', String(ready.applied)], ['Durable', String(ready.durable)], ['Follower’s lag', `${ready.lag_ms} ms`],
          ['Clock − perpd', `${ready.clock_difference_ms} ms`], ...(ready.replay_percent < 100 ? [['Replayed', `${ready.replay_percent} %`] as const] : []),
          ...(ready.clock_gap_ns === undefined ? [] : [['Gap of the clock', `${shown(BigInt(ready.clock_gap_ns), 9)} s`] as const]),
        ]} />
        <LagLine watch={watch} />
      </>}
    </Card>
  );
}

export function JournalCard({ watch, now }: { watch: Watch; now: Metrics }) {
  const before = watch.before(RATE_S);
  const [written, records] = [perSecond(now, before, 'journal_written_bytes_total'), perSecond(now, before, 'journal_record_bytes_total')];
  const behind = BigInt(now.text('journal_durable_sequence') ?? 0) - BigInt(now.text('follower_applied_sequence') ?? 0);
  return (
    <Card name="journal" title="Journal" tools={<span class="dim">over {RATE_S} s</span>}>
      <Figures rows={[
        ['Records/s', rate(perSecond(now, before, 'journal_records_total'))], ['Frames/s', rate(perSecond(now, before, 'journal_frames_total'))],
        ['Written/s', bytes(written)], ['Written / records', written === null || !records ? '–' : (written / records).toFixed(2)],
        ['Frames in flight', whole(now.value('journal_in_flight'))], ['Durable − applied', behind.toString()],
        ['Segments ready', whole(now.value('segments_ready'))], ['Error of the last segment', whole(now.value('segment_error'))],
        ['Turns without a segment', whole(now.value('journal_starved_total'))], ['Turns without room', whole(now.value('journal_full_total'))],
        ['Disk free', `${bytes(now.value('disk_free_bytes'))} of ${bytes(now.value('disk_size_bytes'))}`], ['Log lines left out', whole(now.value('log_dropped_total'))],
      ]} />
    </Card>
  );
}

export function SnapshotCard({ now }: { now: Metrics }) {
  return (
    <Card name="snapshots" title="Snapshots and archive">
      <Figures rows={[
        ['Newest at sequence', now.value('snapshot_sequence') === 0 ? 'none' : (now.text('snapshot_sequence') ?? '–')], ['Its age', span(now.value('snapshot_age_seconds'))],
        ['Sealed segments above it', bytes(now.value('snapshot_tail_bytes'))], ['Running', yes(now.value('snapshot_running'))],
        ['Made', whole(now.value('snapshots_total'))], ['Failed', whole(now.value('snapshot_failures_total'))], ['Put off', whole(now.value('snapshot_put_off_total'))],
        ['Archived', whole(now.value('archived_segments_total'))], ['Archiving failed', whole(now.value('archive_failures_total'))],
        ['Given back', whole(now.value('retired_segments_total'))], ['Pruned', whole(now.value('pruned_segments_total'))],
        ['Stored files found wrong', whole(now.value('scrub_faults_total'))],
      ]} />
    </Card>
  );
}

export function ThreadCard({ watch, now }: { watch: Watch; now: Metrics }) {
  const before = watch.before(RATE_S);
  const rings = now.all('ring_slots').map(({ labels, text }) => {
    const used = now.value('ring_used', labels) ?? 0;
    return [`${labels.ring} ${labels.thread}`, whole(used), whole(Number(text)), `${((used * 100) / Number(text)).toFixed(1)} %`];
  });
  return (
    <Card name="threads" title="Threads and rings" tools={<span class="dim">over {RATE_S} s</span>}>
      <Table caption="CPU of each thread" heads={['Thread', 'CPU']} rows={now.all('thread_cpu_seconds_total').map(({ labels }) => {
        const share = perSecond(now, before, 'thread_cpu_seconds_total', labels);
        return [labels.thread, share === null ? '–' : `${(share * 100).toFixed(1)} %`];
      })} />
      <Table caption="Rings between threads" heads={['Ring', 'Used', 'Slots', 'Full']} rows={rings} />
      <Figures rows={[
        ...now.all('reply_buffers_free').map(({ labels, text }) => [`Reply buffers free, ${labels.thread}`, `${text} of 64`] as const),
        ['Matcher’s turn p50', `${milli(now.value('matcher_turn_ns', { quantile: '0.5' }))} ms`], ['p99.9', `${milli(now.value('matcher_turn_ns', { quantile: '0.999' }))} ms`],
      ]} />
    </Card>
  );
}

export function StageCard({ watch, now }: { watch: Watch; now: Metrics }) {
  const before = watch.before(STAGE_S);
  const rows = [...new Set(now.all('net_stage_latency_ns_count').map((one) => one.labels.stage))].map((stage) => {
    const all = stageBuckets(now, stage);
    const since = before === null ? null : bucketsSince(all, stageBuckets(before, stage));
    const recent = (thousandths: number) => milli(since === null ? null : bucketQuantile(since, thousandths));
    return [stage, whole(since?.at(-1)?.[1] ?? null), recent(500), recent(990), recent(999), milli(bucketQuantile(all, 500)), milli(bucketQuantile(all, 990))];
  });
  return (
    <Card name="stages" title="From receipt to each stage, ms" tools={<span class="dim">of the last minute, then since the start; a bound of the bucket</span>}>
      <Table caption="Latencies by stage" heads={['Stage', 'Count', 'p50', 'p99', 'p99.9', 'p50 ever', 'p99 ever']} rows={rows} />
    </Card>
  );
}

const RATES: readonly (readonly [string, string])[] = [
  ['requests', 'net_requests_total'], ['signed', 'net_signed_requests_total'], ['reads', 'net_reads_total'], ['commands', 'commands_total'],
  ['signatures good', 'net_signatures_good_total'], ['signatures wrong', 'net_signatures_bad_total'], ['unknown keys', 'net_unknown_keys_total'],
  ['problems', 'net_problems_total'], ['rate-limited', 'net_rate_limited_total'], ['commands dropped', 'net_commands_dropped_total'],
  ['outcomes unknown', 'net_outcomes_unknown_total'], ['connections taken', 'net_connections_accepted_total'], ['connections refused', 'net_connections_refused_total'],
];

export function RateCard({ watch, now }: { watch: Watch; now: Metrics }) {
  const before = watch.before(RATE_S);
  const row = (name: string, metric: string, labels?: Record<string, string>) => [name, rate(perSecond(now, before, metric, labels)), whole(now.value(metric, labels))];
  const answers = [...now.all('answers_total')].sort((a, b) => Number(b.text) - Number(a.text)).slice(0, TOP_ANSWERS);
  return (
    <Card name="rates" title="Rates" tools={<span class="dim">over {RATE_S} s</span>}>
      <Table caption="Rates" heads={['What', 'Per second', 'Since the start']} rows={RATES.map(([name, metric]) => row(name, metric))} />
      <Table caption="Answers by status" heads={['Answer', 'Per second', 'Since the start']} rows={answers.map(({ labels }) => row(labels.status, 'answers_total', labels))} />
      <Figures rows={[
        ['Connections open', whole(now.value('net_connections_open'))], ['Output waiting', bytes(now.value('net_output_bytes'))],
        ['Sent/s', bytes(perSecond(now, before, 'net_sent_bytes_total'))], ['Received/s', bytes(perSecond(now, before, 'net_received_bytes_total'))],
      ]} />
    </Card>
  );
}

export function MarketCard({ now }: { now: Metrics }) {
  return (
    <Card name="markets" title="Markets">
      <Table caption="Markets" heads={['Market', 'State', 'Index age', 'Mark']} rows={now.all('market_state').map(({ labels, text }) => {
        const age = now.value('index_age_seconds', { market: labels.market });
        const isValid = now.value('mark_valid', { market: labels.market }) === 1;
        const state = STATES[Number(text)] ?? text;
        return [labels.market, <span class={state === 'ACTIVE' ? 'buy' : 'sell'}>{state}</span>, age === null ? 'no price' : span(Math.max(0, age)), isValid ? 'valid' : <span class="sell">not valid</span>];
      })} />
    </Card>
  );
}

/** What I1 to I10 say (rules.md R2), in a few words. */
const CHECKS = [
  'Sizes of each market sum to 0', 'Cash adds up to what came in', 'Equity adds up to the same', 'Closed portfolios have no orders',
  'Best bids are below best asks', 'Sums equal a recount', 'The engine’s fills are in their bands', 'Nothing leaves while it is short',
  'What is owed adds up', 'Bystanders lose within their bound',
];

export function MoneyChecks({ watch, now }: { watch: Watch; now: Metrics }) {
  const { audit } = watch;
  return (
    <>
      <Figures rows={[
        ['Insurance fund', usdc(now.text('insurance_fund_micro_usdc'))], ['Fee account', usdc(now.text('fee_account_micro_usdc'))], ['Owed', usdc(now.text('owed_micro_usdc'))],
        ['Fund + fees − owed', usdc(now.text('solvency_micro_usdc'))], ['Claims', usdc(now.text('claims_micro_usdc'))],
        ['Withdrawals pending', `${now.text('withdrawals_pending') ?? '–'}: ${apiText(BigInt(now.text('withdrawals_pending_micro_usdc') ?? 0), MICRO)} USDC`],
      ]} />
      {audit !== null && <>
        <ul class="checks">{CHECKS.map((text, at) => {
          const holds = audit[`i${at + 1}`] === true;
          return <li key={text} class={holds ? 'buy' : 'sell'}>{holds ? '✓' : '✗'} I{at + 1} {text}</li>;
        })}<li class={audit.recount_differences === 0 ? 'buy' : 'sell'}>{audit.recount_differences === 0 ? '✓' : '✗'} {String(audit.recount_differences)} differences of a recount</li>
          <li class={audit.solvency.short ? 'sell' : 'buy'}>{audit.solvency.short ? '✗ short: profits wait' : '✓ not short'}</li></ul>
        <p class="dim health-line">audit at sequence {String(audit.sequence)}; cash {shownText(audit.totals.cash)}, deposits {shownText(audit.totals.deposits)}, settled withdrawals {shownText(audit.totals.withdrawals_settled)} USDC</p>
      </>}
    </>
  );
}
