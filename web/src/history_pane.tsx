/* What the account did: its orders that have ended, and every change of its cash, page by page. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Problem, get } from './api';
import { Copy } from './copy';
import { shownText } from './decimal';
import type { Exchange } from './exchange';
import { Id } from './id';
import { writeJson } from './json';
import { Loading, Nothing } from './pane';
import { statusText } from './code_text';
import { PLACE, type Trader } from './trader';

const PAGE = 50;
const LIVE = new Set(['OPEN', 'PARTIALLY_FILLED', 'UNTRIGGERED']);

type Kind = 'orders' | 'cash';

/** How a list is read, and what its newest rows depend on. */
const LISTS = {
  orders: { path: `/orders?${PLACE}`, rows: (body: any): any[] => body, changes: ({ account }: Trader) => account!.orders.map((row) => row.id).join() },
  cash: { path: `/cash/history?${PLACE}`, rows: (body: any): any[] => body.history, changes: ({ account }: Trader) => String(account!.balance.cash_balance) },
};

type Pages = { rows: any[]; isEnd: boolean; problem: Problem | null; older: () => void; again: () => void };

/** Reads the newest page, again when what it shows has changed, and older ones when asked to. */
function usePages(kind: Kind, trader: Trader): Pages | null {
  const [rows, setRows] = useState<any[] | null>(null);
  const [isEnd, setEnd] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const turn = useRef(0);
  const { path, rows: rowsOf, changes } = LISTS[kind];
  const read = async (before: any[]) => {
    const own = ++turn.current;
    const last = before.at(-1);
    const from = last === undefined ? '' : `&before_sequence=${last.sequence}&before_index=${last.index}`;
    try {
      const page = rowsOf(await get(`${path}&limit=${PAGE}${from}`, trader.credentials!.apiKey));
      if (own !== turn.current) return;
      setRows([...before, ...page]);
      setEnd(page.length < PAGE);
      setProblem(null);
    } catch (caught) {
      if (own === turn.current) setProblem(caught as Problem);
    }
  };
  const key = changes(trader);
  useEffect(() => {
    void read([]);
    return () => void turn.current++;
  }, [kind, key]);
  if (rows === null && problem === null) return null;
  return { rows: rows ?? [], isEnd, problem, older: () => void read(rows ?? []), again: () => void read([]) };
}

/** All of an order and of the request that placed it. */
function Whole({ row, trader }: { row: any; trader: Trader }) {
  const [request, setRequest] = useState<any>('…');
  useEffect(() => void get(`/requests/${row.id}`, trader.credentials!.apiKey).then(setRequest, (problem: Error) => setRequest(problem.message)), [row.id]);
  return <tr class="whole"><td colSpan={9}><pre tabIndex={0}>{writeJson({ order: row, request })}</pre><Copy text={() => writeJson({ order: row, request })}>copy</Copy></td></tr>;
}

function Orders({ exchange, trader, rows }: { exchange: Exchange; trader: Trader; rows: any[] }) {
  const [open, setOpen] = useState<string | null>(null);
  const ended = rows.filter((row) => !LIVE.has(row.order_status));
  if (ended.length === 0) return <Nothing>no order has ended</Nothing>;
  return (
    <table>
      <caption class="visually-hidden">Orders that have ended, newest first</caption>
      <thead><tr><th scope="col">Market</th><th scope="col">Side</th><th scope="col">Price</th><th scope="col">Filled / size</th><th scope="col" class="opt">Average</th><th scope="col">Ended as</th><th scope="col" class="opt">Id</th><th scope="col" class="opt">Placed</th><th scope="col"><span class="visually-hidden">Action</span></th></tr></thead>
      <tbody>{ended.map((row) => {
        const record = exchange.markets.find((one) => one.name === row.market)?.record;
        const isBuy = row.side === 'LONG';
        return <><tr key={row.id} title={`${row.id}, sequence ${row.sequence}`}>
          <th scope="row">{row.market}</th><td class={isBuy ? 'buy' : 'sell'}>{isBuy ? '▲ buy' : '▼ sell'}</td>
          <td>{row.price === null ? 'market' : shownText(row.price, record?.price_decimals)}</td><td>{shownText(row.filled_size, record?.size_decimals)} / {shownText(row.initial_size, record?.size_decimals)}</td>
          <td class="opt">{shownText(row.average_price, record?.price_decimals)}</td>
          <td class="words">{row.order_status.toLowerCase()}{row.reason !== undefined && <span class="dim">: {statusText(row.reason)}</span>}</td>
          <Id text={row.id} />
          <td class="dim opt" title={`${row.time_ns} ns`}>{new Date(row.time).toLocaleString([], { dateStyle: 'short', timeStyle: 'medium', hour12: false })}</td>
          <td class="acts"><button type="button" aria-expanded={open === row.id} onClick={() => setOpen(open === row.id ? null : row.id)}>all</button></td>
        </tr>{open === row.id && <Whole key={`${row.id} whole`} row={row} trader={trader} />}</>;
      })}</tbody>
    </table>
  );
}

function Cash({ rows }: { rows: any[] }) {
  if (rows.length === 0) return <Nothing>the cash has not changed</Nothing>;
  return (
    <table>
      <caption class="visually-hidden">Changes of cash, newest first</caption>
      <thead><tr><th scope="col">What</th><th scope="col">Amount, USDC</th><th scope="col">Cash after it</th><th scope="col" class="opt">Market</th><th scope="col">Time</th></tr></thead>
      <tbody>{rows.map((row) => (
        <tr key={`${row.sequence}.${row.index}`} title={`${row.ref_id ?? 'no id'}, sequence ${row.sequence}`}>
          <th scope="row">{row.kind.replaceAll('_', ' ')}</th><td class={row.amount.startsWith('-') ? 'sell' : 'buy'}>{shownText(row.amount, 6)}</td><td>{shownText(row.balance_after, 6)}</td>
          <td class="opt">{row.market ?? '–'}</td><td class="dim" title={`${row.time_ns} ns`}>{new Date(row.time).toLocaleString([], { dateStyle: 'short', timeStyle: 'medium', hour12: false })}</td>
        </tr>
      ))}</tbody>
    </table>
  );
}

function End({ pages: { isEnd, problem, older, again } }: { pages: Pages }): ComponentChildren {
  if (problem !== null) return <div class="refused" role="status"><p>{statusText(problem.code)}: {problem.detail}</p><button type="button" class="button" onClick={again}>try again</button></div>;
  return isEnd ? <Nothing>that is all</Nothing> : <p class="nothing"><button type="button" class="button" onClick={older}>older</button></p>;
}

export function HistoryPane({ exchange, trader }: { exchange: Exchange; trader: Trader }) {
  const [kind, setKind] = useState<Kind>('orders');
  return (
    <div class="pane-history">
      <p class="health-line">
        {(['orders', 'cash'] as const).map((one) => <button key={one} type="button" class="button" aria-pressed={kind === one} onClick={() => setKind(one)}>{one}</button>)}
      </p>
      <List key={kind} kind={kind} exchange={exchange} trader={trader} />
    </div>
  );
}

function List({ kind, exchange, trader }: { kind: Kind; exchange: Exchange; trader: Trader }) {
  const pages = usePages(kind, trader);
  if (pages === null) return <Loading what={kind === 'orders' ? 'orders' : 'cash'} />;
  return <>{pages.problem !== null && pages.rows.length === 0 ? null : kind === 'orders' ? <Orders exchange={exchange} trader={trader} rows={pages.rows} /> : <Cash rows={pages.rows} />}<End pages={pages} /></>;
}
