/* The operator's page, on the admin listener: what perpd says of itself, and commands to copy. It signs nothing. */
import './common';
import './signed';
import { render } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { type Alarm, alarmsOf } from './alarm';
import { faults } from './fault';
import { useModel } from './model';
import { ActionCard, FIRST_ACTION } from './operator_actions';
import { MoneyCard } from './operator_money';
import { JournalCard, MarketCard, RateCard, ReadyCard, SnapshotCard, StageCard, ThreadCard } from './operator_panes';
import { Watch } from './watch';

/** What has begun and ended since the last time that it was said. */
function useNews(alarms: readonly Alarm[]): string {
  const said = useRef<{ keys: Map<string, string>; text: string }>({ keys: new Map(), text: '' });
  const keys = new Map(alarms.map((one) => [one.key, one.text]));
  const { keys: before } = said.current;
  if ([...keys.keys()].join() !== [...before.keys()].join()) {
    const begun = alarms.filter((one) => !before.has(one.key)).map((one) => `Alarm: ${one.text}`);
    const ended = [...before].filter(([key]) => !keys.has(key)).map(([, text]) => `Over: ${text}`);
    said.current = { keys, text: [...begun, ...ended].join(' ') };
  }
  return said.current.text;
}

function Alarms({ alarms }: { alarms: readonly Alarm[] }) {
  const news = useNews(alarms);
  return (
    <>
      <div class="visually-hidden" aria-live="assertive" id="alarm-news">{news}</div>
      {alarms.length > 0 && (
        <section class="alarms" aria-labelledby="alarms-title">
          <h2 id="alarms-title">{alarms.length === 1 ? '1 alarm' : `${alarms.length} alarms`}</h2>
          <ul>{alarms.map((one) => (
            <li key={one.key} data-alarm={one.key}><strong>▲ {one.text}</strong> {one.help}{one.section !== undefined && <span class="dim"> operations.md, {one.section}</span>}</li>
          ))}</ul>
        </section>
      )}
    </>
  );
}

function Page({ watch }: { watch: Watch }) {
  useModel(watch);
  const { line: fault } = useModel(faults);
  const [action, setAction] = useState(FIRST_ACTION);
  const change = (next: Partial<typeof action>) => setAction((before) => ({ ...before, ...next }));
  const choose = (withdrawal: string) => {
    change({ name: 'withdrawal_settle', withdrawal });
    requestAnimationFrame(() => document.getElementById('action-outcome')?.focus());
  };
  const { now, ready } = watch;
  const alarms = alarmsOf(now, ready, watch.silentSince);
  const build = now?.all('build_info')[0]?.labels;
  const state = watch.silentSince !== null ? 'silent' : ready === null ? 'wait' : ready.ready ? 'ready' : 'not ready';
  return (
    <>
      <header class="top">
        <h1>perpd <span class="dim">operator</span></h1>
        {build !== undefined && <span class="dim">{build.version}, commit {build.commit}, durability {build.durability}, {build.topology}</span>}
        <div class="top-end"><span class={`chip tone-${state === 'ready' ? 'good' : state === 'wait' ? 'wait' : 'bad'}`} id="state">
          {{ silent: '▲ does not answer', wait: '◌ Connecting', ready: '● ready', 'not ready': '▲ not ready' }[state]}
        </span></div>
      </header>
      {fault !== null && <p class="banner" role="alert">{fault}</p>}
      <main class="watch">
        <Alarms alarms={alarms} />
        <div class={`cards ${watch.silentSince === null ? '' : 'is-stale'}`}>
          <ReadyCard watch={watch} />
          {now === null ? <p class="nothing" aria-busy="true">loading …</p> : <>
            <MarketCard now={now} />
            <MoneyCard watch={watch} now={now} onChoose={choose} />
            <ActionCard now={now} action={action} onChange={change} />
            <JournalCard watch={watch} now={now} />
            <SnapshotCard now={now} />
            <RateCard watch={watch} now={now} />
            <StageCard watch={watch} now={now} />
            <ThreadCard watch={watch} now={now} />
          </>}
        </div>
      </main>
    </>
  );
}

faults.start();
const watch = new Watch();
watch.start();
render(<Page watch={watch} />, document.getElementById('app')!);
performance.mark('ready');
