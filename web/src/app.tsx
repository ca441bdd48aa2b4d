/* The trader's page: panes in columns, on a phone one at a time. */
import { useState } from 'preact/hooks';
import { AccountMenu } from './account_menu';
import { type AccountTab, AccountPanes } from './account_panes';
import type { Pick } from './book_pane';
import { BookPane } from './book_pane';
import { CandlePane } from './candle_pane';
import { DepthPane } from './depth_pane';
import type { Exchange } from './exchange';
import { Banner, Header } from './header';
import { MarketsPane } from './markets_pane';
import { useModel } from './model';
import { type Picked, TicketPane } from './ticket_pane';
import { TradesPane } from './trades_pane';

const TABS = ['Chart', 'Book', 'Trade', 'Orders', 'Markets'] as const;
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
  const { trader } = useModel(exchange);
  const [tab, setTab] = useState<Tab>('Chart');
  const [section, setSection] = useState<AccountTab>('Open orders');
  const [picked, setPicked] = useState<Picked>(null);
  const openHealth = () => {
    setTab('Orders');
    setSection('Health');
  };
  const pick: Pick = (field, text) => {
    setPicked((before) => ({ field, text, count: (before?.count ?? 0) + 1 }));
    setTab('Trade');
  };
  return (
    <>
      <Header exchange={exchange} onHealth={openHealth}>{trader !== null && <AccountMenu exchange={exchange} trader={trader} />}</Header>
      <Banner exchange={exchange} />
      <main class={`grid show-${tab.toLowerCase()}`}>
        <div class="column left"><MarketsPane exchange={exchange} /><TicketPane exchange={exchange} trader={trader} picked={picked} /></div>
        <div class="column middle">
          <CandlePane exchange={exchange} trader={trader} />
          <DepthPane exchange={exchange} onPick={(price) => pick('price', price)} />
          {trader !== null && <AccountPanes exchange={exchange} trader={trader} tab={section} onTab={setSection} />}
        </div>
        <div class="column right"><BookPane exchange={exchange} onPick={pick} /><TradesPane exchange={exchange} /></div>
      </main>
      <Tabs tab={tab} onTab={setTab} />
    </>
  );
}
