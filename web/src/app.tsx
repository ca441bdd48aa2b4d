/* The trader's page: panes in columns, on a phone one at a time. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { AccountTab } from './account_panes';
import type { Pick } from './book_pane';
import { BookPane } from './book_pane';
import { CandlePane } from './candle_pane';
import { DepthPane } from './depth_pane';
import type { RefObject } from 'preact';
import type { Exchange } from './exchange';
import { Banner, Header } from './header';
import { KEYS, useKeys } from './keys';
import { MarketsPane } from './markets_pane';
import { useModel } from './model';
import { Loading, Nothing, Pane } from './pane';
import { CHOICES, type Setting, settings } from './settings';
import type { Order } from './ticket';
import type { Picked } from './ticket_pane';
import { TradesPane } from './trades_pane';

const TABS = ['Chart', 'Book', 'Trade', 'Orders', 'Markets'] as const;
const LICENCES = '/console/licences.txt';
type Tab = (typeof TABS)[number];
export type Desk = typeof import('./desk');

/** It is asked for at once, and shown behind the market. */
const loadingDesk = import('./desk');
loadingDesk.catch(() => {}); // useDesk, which may look later, says it

function Tabs({ tab, onTab }: { tab: Tab; onTab: (tab: Tab) => void }) {
  return (
    <nav class="tabs" aria-label="Panes">
      {TABS.map((name) => (
        <button key={name} type="button" aria-current={name === tab ? 'page' : undefined} onClick={() => onTab(name)}>{name}</button>
      ))}
    </nav>
  );
}

/** Puts the focus there, once it is on the page. */
function focusSoon(selector: string): void {
  requestAnimationFrame(() => document.querySelector<HTMLElement>(selector)?.focus());
}

/** What acts for an account, once it is there, and why it does not come; the page is ready when it is there. */
function useDesk(): { desk: Desk | null; lost: string | null } {
  const [desk, setDesk] = useState<Desk | null>(null);
  const [lost, setLost] = useState<string | null>(null);
  useEffect(() => void loadingDesk.then(setDesk, (error: Error) => setLost(error.message)), []);
  useEffect(() => {
    if (desk !== null) performance.mark('ready');
  }, [desk]);
  return { desk, lost };
}

const SETTINGS: Record<Setting, string> = { theme: 'Colours', sides: 'Buy and sell', letters: 'Keys of one letter', spoken: 'Best prices and the last' };

/** The keys of the page, its look, and what it is made of. */
function Help({ dialog }: { dialog: RefObject<HTMLDialogElement | null> }) {
  useModel(settings);
  return (
    <dialog ref={dialog} aria-labelledby="keys-title">
      <div class="pane-head"><h2 id="keys-title">Keys and look</h2><div class="pane-tools"><button type="button" onClick={() => dialog.current?.close()}>close</button></div></div>
      <dl class="details">{Object.entries(KEYS).map(([key, what]) => <div key={key}><dt><kbd>{key}</kbd></dt><dd>{what}</dd></div>)}</dl>
      <div class="dialog-body">
        <div class="settings">{(Object.keys(SETTINGS) as Setting[]).map((name) => (
          <label key={name}>{SETTINGS[name]} <select value={settings.get(name)} onChange={(event) => settings.set(name, event.currentTarget.value)}>
            {Object.entries(CHOICES[name]).map(([value, text]) => <option key={value} value={value}>{text}</option>)}
          </select></label>
        ))}</div>
        <p class="dim">Charts by TradingView Lightweight Charts. This page is made with parts of others: <a href={LICENCES}>their licences</a>.</p>
      </div>
    </dialog>
  );
}

export function App({ exchange }: { exchange: Exchange }) {
  const { trader } = useModel(exchange);
  const { desk, ...came } = useDesk();
  const lost = came.lost ?? exchange.lost;
  const [tab, setTab] = useState<Tab>('Chart');
  const [section, setSection] = useState<AccountTab>('Open orders');
  const [picked, setPicked] = useState<Picked>(null);
  const openHealth = () => {
    setTab('Orders');
    setSection('Health');
  };
  /** Fills in the order of a market, once it is shown. */
  const fill = (change: Partial<Order>, market = exchange.market?.name ?? '') => {
    setPicked({ market, change });
    setTab('Trade');
  };
  const pick: Pick = (field, text) => {
    fill(field === 'price' ? { price: text, kind: 'limit' } : { size: text });
  };
  const close = (position: any) => {
    location.hash = `m=${position.market}`;
    fill({ side: position.side === 'LONG' ? 'sell' : 'buy', kind: 'market', size: position.size, reduceOnly: true }, position.market);
  };
  const change = (order: any) => {
    location.hash = `m=${order.market}`;
    fill({
      side: order.side === 'LONG' ? 'buy' : 'sell', kind: 'limit', price: order.price, size: order.remaining_size, postOnly: order.post_only, reduceOnly: order.reduce_only, changes: order,
    }, order.market);
  };
  const toOrder = (id: string) => {
    setTab('Orders');
    setSection('Open orders');
    focusSoon(`[data-order="${id}"] button`);
  };
  const help = useRef<HTMLDialogElement>(null);
  useKeys({
    find: () => (setTab('Markets'), focusSoon('.pane-markets input')),
    side: (side) => (fill({ side }), focusSoon('#ticket-price, #ticket-size')),
    cancelAll: () => desk !== null && trader !== null && void desk.cancelAll(trader),
    pane: (number) => desk?.TABS[number - 1] !== undefined && (setTab('Orders'), setSection(desk.TABS[number - 1])),
    help: () => help.current?.showModal(),
  });
  return (
    <>
      <Header exchange={exchange} onHealth={openHealth} onHelp={() => help.current?.showModal()}>{desk !== null && trader !== null && <desk.AccountMenu exchange={exchange} trader={trader} />}</Header>
      <Banner exchange={exchange} />
      <main class={`grid show-${tab.toLowerCase()}`}>
        <div class="column left">
          <MarketsPane exchange={exchange} />
          {desk === null || lost !== null ? <Pane name="ticket" title="Order">{lost === null ? <Loading what="order" /> : <Nothing>Orders cannot be placed here, for a part of the page did not come ({lost}): reload it.</Nothing>}</Pane>
            : <desk.TicketPane exchange={exchange} trader={trader} picked={picked} onTaken={() => setPicked(null)} />}
        </div>
        <div class="column middle">
          <CandlePane exchange={exchange} trader={trader} />
          <DepthPane exchange={exchange} onPick={(price) => pick('price', price)} />
          {desk !== null && trader !== null && <desk.AccountPanes exchange={exchange} trader={trader} tab={section} onTab={setSection} onClose={close} onChange={change} />}
        </div>
        <div class="column right"><BookPane exchange={exchange} onPick={pick} onOwn={toOrder} /><TradesPane exchange={exchange} desk={desk} /></div>
      </main>
      <Tabs tab={tab} onTab={setTab} />
      <Help dialog={help} />
    </>
  );
}
