/* The trader's page: panes in columns, on a phone one at a time. */
import { useState } from 'preact/hooks';
import { BookPane } from './book_pane';
import { DepthPane } from './depth_pane';
import type { Exchange } from './exchange';
import { Banner, Header } from './header';
import { HealthPane } from './health_pane';
import { MarketsPane } from './markets_pane';
import { TradesPane } from './trades_pane';

const TABS = ['Chart', 'Book', 'Markets', 'More'] as const;
type Tab = (typeof TABS)[number];

function Tabs({ tab, onTab }: { tab: Tab; onTab: (tab: Tab) => void }) {
  return (
    <nav class="tabs" aria-label="Panes">
      {TABS.map((name) => (
        <button key={name} type="button" aria-current={name === tab ? 'page' : undefined} onClick={() => onTab(name)}>{name}</button>
      ))}
    </nav>
  );
}

export function App({ exchange }: { exchange: Exchange }) {
  const [tab, setTab] = useState<Tab>('Chart');
  const openHealth = () => {
    setTab('More');
    document.querySelector('.pane-health')?.scrollIntoView({ block: 'nearest' });
  };
  const pick = () => {};
  return (
    <>
      <Header exchange={exchange} onHealth={openHealth} />
      <Banner exchange={exchange} />
      <main class={`grid show-${tab.toLowerCase()}`}>
        <div class="column left"><MarketsPane exchange={exchange} /></div>
        <div class="column middle"><DepthPane exchange={exchange} onPick={pick} /><HealthPane exchange={exchange} /></div>
        <div class="column right"><BookPane exchange={exchange} onPick={pick} /><TradesPane exchange={exchange} /></div>
      </main>
      <Tabs tab={tab} onTab={setTab} />
    </>
  );
}
