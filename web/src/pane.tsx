/* The frame of a pane: its title, the state of what it shows, and its content. */
import type { ComponentChildren } from 'preact';
import type { Exchange } from './exchange';
import { useModel } from './model';
import { type Subscription, topicKey } from './subscription';
import { DATA_STATE, refusalAdvice, words } from './text';

type PaneProps = {
  name: string;
  title: string;
  /** The subscription whose state the pane shows. */
  source?: { exchange: Exchange; channel: string; market?: string };
  tools?: ComponentChildren;
  /** Whether its content scrolls and has nothing in it that keys reach. */
  isLong?: boolean;
  children: ComponentChildren;
};

export function Pane({ name, title, source, tools, isLong, children }: PaneProps) {
  const stream = useModel(source?.exchange.stream);
  const subscription = source && stream?.subscriptions.get(topicKey(source));
  const state = stream == null ? 'live' : stream.isOpen ? (subscription?.state ?? 'loading') : 'stale';
  return (
    <section class={`pane pane-${name} is-${state}`} aria-labelledby={`${name}-title`}>
      <div class="pane-head">
        <h2 id={`${name}-title`}>{title}</h2>
        {state !== 'live' && <span class="pane-state">{DATA_STATE[state]}</span>}
        <div class="pane-tools">{tools}</div>
      </div>
      <div class="pane-body" tabIndex={isLong ? 0 : undefined} role={isLong ? 'group' : undefined} aria-labelledby={isLong ? `${name}-title` : undefined}>
        {state === 'refused' && subscription !== undefined && <Refused one={subscription} onAsk={() => stream!.refresh(subscription)} />}
        {(state !== 'refused' || subscription!.snapshots > 0) && children}
      </div>
    </section>
  );
}

/** What the exchange does not give, why, and what helps. */
function Refused({ one, onAsk }: { one: Subscription; onAsk: () => void }) {
  const { code, detail } = one.refusal!;
  return (
    <div class="refused" role="status">
      <p>The exchange does not give this: {detail === '' ? words.status(code) : detail}. {refusalAdvice(one.refusal!)}</p>
      <button type="button" class="button" onClick={onAsk}>ask again</button>
    </div>
  );
}

/** What a pane says instead of rows. */
export function Nothing({ children }: { children: ComponentChildren }) {
  return <p class="nothing">{children}</p>;
}

export function Loading({ what }: { what: string }) {
  return <p class="nothing" aria-busy="true">loading {what} …</p>;
}
