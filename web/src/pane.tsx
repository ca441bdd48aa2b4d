/* The frame of a pane: its title, the state of what it shows, and its content. */
import type { ComponentChildren } from 'preact';
import type { Exchange } from './exchange';
import { useModel } from './model';
import { topicKey } from './subscription';
import { DATA_STATE } from './text';

type PaneProps = {
  name: string;
  title: string;
  /** The subscription whose state the pane shows. */
  source?: { exchange: Exchange; channel: string; market?: string };
  tools?: ComponentChildren;
  children: ComponentChildren;
};

export function Pane({ name, title, source, tools, children }: PaneProps) {
  const state = useSourceState(source);
  return (
    <section class={`pane pane-${name} is-${state}`} aria-labelledby={`${name}-title`}>
      <div class="pane-head">
        <h2 id={`${name}-title`}>{title}</h2>
        {state !== 'live' && <span class="pane-state">{DATA_STATE[state]}</span>}
        <div class="pane-tools">{tools}</div>
      </div>
      <div class="pane-body">{children}</div>
    </section>
  );
}

function useSourceState(source: PaneProps['source']): string {
  const stream = useModel(source?.exchange.stream);
  if (source === undefined || stream == null) return 'live';
  return stream.isOpen ? (stream.subscriptions.get(topicKey(source))?.state ?? 'loading') : 'stale';
}

/** What a pane says instead of rows. */
export function Nothing({ children }: { children: ComponentChildren }) {
  return <p class="nothing">{children}</p>;
}

export function Loading({ what }: { what: string }) {
  return <p class="nothing" aria-busy="true">loading {what} …</p>;
}
