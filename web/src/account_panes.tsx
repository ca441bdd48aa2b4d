/* What the account has: open orders, positions, fills, money. */
import { useState } from 'preact/hooks';
import { uuidBytes } from './bytes';
import { parseRaw, percentText, shownText } from './decimal';
import { DecoderPane } from './decoder_pane';
import type { Exchange } from './exchange';
import { FundingRates } from './funding_rates';
import { HealthPane } from './health_pane';
import { HistoryPane } from './history_pane';
import { Id } from './id';
import { KeysPane } from './keys_pane';
import { LatencyPane } from './latency_pane';
import { ListEnd, useOlder } from './older';
import { useModel } from './model';
import type { Market } from './market';
import { Loading, Nothing } from './pane';
import { type Values, portfolioBytes } from './payload';
import { statusText } from './code_text';
import { Portfolios, usePortfolios } from './portfolios';
import { PLACE, type Trader } from './trader';
import { Withdraw } from './withdraw';

export const TABS = ['Open orders', 'Positions', 'Fills', 'History', 'Funding', 'Balance', 'Keys', 'Latency', 'Health', 'Decoder'] as const;
export type AccountTab = (typeof TABS)[number];

type Props = { exchange: Exchange; trader: Trader; onClose?: OnPosition; onChange?: OnOrder };

/** Called with a position that its owner wants to close. */
export type OnPosition = (position: any) => void;

/** Called with an order that its owner wants to change. */
export type OnOrder = (order: any) => void;

/** How many decimals a market's prices and sizes are shown with. */
function decimalsOf(exchange: Exchange, name: string): { price: number; size: number } {
  const record = exchange.markets.find((one) => one.name === name)?.record;
  return { price: record?.price_decimals ?? 0, size: record?.size_decimals ?? 0 };
}

function Side({ side }: { side: string }) {
  const isBuy = side === 'LONG';
  return <span class={isBuy ? 'buy' : 'sell'}>{isBuy ? '▲ buy' : '▼ sell'}</span>;
}

/** A market of the account's rows. */
function marketOf(exchange: Exchange, name: string): Market {
  const market = exchange.markets.find((one) => one.name === name);
  if (market === undefined) throw new Error('this page does not know the market: reload it');
  return market;
}

/** Sends a request of the session, and gives what went wrong with it in words; null: nothing. */
async function sent(trader: Trader, name: 'cancel_all_orders' | 'place_market_order' | 'order_cancel' | 'order_reduction' | 'conditional_order_cancel', values: () => Values): Promise<string | null> {
  try {
    const request = await trader.sign(name, { portfolio_id: portfolioBytes(trader.credentials!.account), ...values() });
    await request.send();
    return request.isDone ? null : statusText(request.status);
  } catch (problem) {
    return (problem as Error).message;
  }
}

/** Cancels and reductions that are on their way, by the ids of their orders, and what came of those that failed. */
function useCancels({ exchange, trader }: Props) {
  const [pending, setPending] = useState<ReadonlySet<string>>(new Set());
  const [wrong, setWrong] = useState<string | null>(null);
  const act = async (order: any, name: 'order_cancel' | 'order_reduction' | 'conditional_order_cancel', more: Values = {}) => {
    if (pending.has(order.id)) return;
    setPending((before) => new Set(before).add(order.id));
    const said = await sent(trader, name,
      () => ({ order_id: uuidBytes(order.id), asset: BigInt(marketOf(exchange, order.market).record.asset_id), ...more }));
    setWrong(said && `${order.id}: ${said}`);
    await trader.read();
    setPending((before) => new Set([...before].filter((id) => id !== order.id)));
  };
  const cancel = (order: any) => act(order, order.order_status === 'UNTRIGGERED' ? 'conditional_order_cancel' : 'order_cancel');
  /** Asks by how much, and takes it off; the order keeps its place in the queue. */
  const reduce = (order: any) => {
    const text = prompt(`Reduce the order by how much? ${order.remaining_size} is left; it keeps its place.`);
    if (text === null) return;
    const market = marketOf(exchange, order.market);
    const by = parseRaw(text.trim(), market.record.size_decimals);
    const left = market.size(order.remaining_size);
    if (by === null || by <= 0n || by >= left || by % market.lot !== 0n) return setWrong(`${order.id}: less than ${order.remaining_size}, in steps of ${market.record.lot_size}`);
    void act(order, 'order_reduction', { reduce_by: by, expected_remaining: left });
  };
  return { pending, wrong, cancel, reduce };
}

/** What trades before an order at its price. */
function Ahead({ exchange, order }: { exchange: Exchange; order: any }) {
  const queue = useModel(exchange.queues.get(order.market));
  const ahead = queue?.ahead(order.book_handle) ?? null;
  if (ahead !== null) return <td title="the size that trades before it at its price">{queue!.market.shownSize(ahead)}</td>;
  return <td class="dim" title={order.book_handle === null ? 'it does not rest in the book' : 'its place in the queue is not known (yet)'}>–</td>;
}

const WAITING: Record<string, string> = { STOP_LIMIT: 'stop', STOP_MARKET: 'stop', TAKE_PROFIT: 'take profit', TAKE_PROFIT_MARKET: 'take profit' };

function OpenOrders({ exchange, trader, onChange }: Props) {
  const { pending, wrong, cancel, reduce } = useCancels({ exchange, trader });
  const { orders } = trader.account!;
  if (orders.length === 0 && wrong === null) return <Nothing>no open orders</Nothing>;
  return (
    <>
      {wrong !== null && <p class="outcome tone-bad" role="alert">{wrong}</p>}
      <table>
        <caption class="visually-hidden">Open orders, newest first</caption>
        <thead><tr><th scope="col">Market</th><th scope="col">Side</th><th scope="col">Price</th><th scope="col">Remaining</th><th scope="col">Ahead</th><th scope="col" class="opt">Filled</th><th scope="col" class="opt">In force</th><th scope="col" class="opt">Id</th><th scope="col"><span class="visually-hidden">Action</span></th></tr></thead>
        <tbody>
          {orders.map((order) => {
            const decimals = decimalsOf(exchange, order.market);
            return <tr key={order.id} data-order={order.id} title={`${order.id}, sequence ${order.sequence}`}>
              <th scope="row">{order.market}</th><td><Side side={order.side} /></td><td>{order.price === null ? 'market' : shownText(order.price, decimals.price)}{order.order_status === 'UNTRIGGERED' && <span class="dim from"> from {shownText(order.trigger_price, decimals.price)}</span>}</td><td>{shownText(order.remaining_size, decimals.size)}</td>
              <Ahead exchange={exchange} order={order} />
              <td class="opt">{shownText(order.filled_size, decimals.size)}</td><td class="dim opt">{order.order_status === 'UNTRIGGERED' && `${WAITING[order.order_type] ?? order.order_type} `}{order.time_in_force}{order.post_only && ' post'}{order.reduce_only && ' reduce'}</td><Id text={order.id} />
              <td class="acts"><button type="button" disabled={pending.has(order.id)} onClick={() => void cancel(order)}>{pending.has(order.id) ? 'canceling' : 'cancel'}</button>
                {order.order_status !== 'UNTRIGGERED' && <button type="button" disabled={pending.has(order.id)} title="fills in another price or size" onClick={() => onChange?.(order)}>change</button>}
                {order.order_status !== 'UNTRIGGERED' && <button type="button" class="opt" disabled={pending.has(order.id)} title="takes a part off; it keeps its place in the queue" onClick={() => reduce(order)}>reduce</button>}</td>
            </tr>;
          })}
        </tbody>
      </table>
    </>
  );
}

function Positions({ exchange, trader, onClose }: Props) {
  const { positions } = trader.account!;
  if (positions.length === 0) return <Nothing>no positions</Nothing>;
  return (
    <table>
      <caption class="visually-hidden">Positions</caption>
      <thead><tr><th scope="col">Market</th><th scope="col">Side</th><th scope="col">Size</th><th scope="col" class="roomy">Entry</th><th scope="col" class="roomy">Mark</th><th scope="col">Profit</th><th scope="col">Liquidation</th><th scope="col" class="opt">Leverage</th><th scope="col" class="opt" title="when winners must give up positions, 4 goes first">ADL</th><th scope="col"><span class="visually-hidden">Action</span></th></tr></thead>
      <tbody>
        {positions.map((row) => {
          const decimals = decimalsOf(exchange, row.market);
          return <tr key={row.id}>
            <th scope="row">{row.market}</th><td class={row.side === 'LONG' ? 'buy' : 'sell'}>{row.side === 'LONG' ? '▲ long' : '▼ short'}</td><td class="entered" data-entry={shownText(row.average_entry_price, decimals.price)}>{shownText(row.size, decimals.size)}</td>
            <td class="roomy">{shownText(row.average_entry_price, decimals.price)}</td><td class="roomy">{shownText(row.mark_price, decimals.price)}</td>
            <td class={row.unrealized_pnl.startsWith('-') ? 'sell' : 'buy'}>{shownText(row.unrealized_pnl)}</td>
            <td>{row.liquidation_price === null ? 'none' : shownText(row.liquidation_price, decimals.price)}</td><td class="opt">{row.leverage}×</td><td class="opt" title={`in the deleveraging queue: ${row.adl_quantile} of 4; 4 goes first`}>{row.adl_quantile}</td>
            <td class="acts"><button type="button" title="fills in an order at the market that reduces only" onClick={() => onClose?.(row)}>close</button></td>
          </tr>;
        })}
      </tbody>
    </table>
  );
}

function Fills({ exchange, trader }: Props) {
  const { fills } = trader.account!;
  const older = useOlder(trader, `/fills?${PLACE}`, fills);
  if (fills.length === 0) return <Nothing>no fills</Nothing>;
  return (
    <>
    <table>
      <caption class="visually-hidden">Fills, newest first</caption>
      <thead><tr><th scope="col">Market</th><th scope="col">Side</th><th scope="col">Price</th><th scope="col">Size</th><th scope="col">Fee</th><th scope="col" class="opt">As</th><th scope="col" class="opt">Order</th><th scope="col">Time</th></tr></thead>
      <tbody>
        {[...fills, ...older.rows].map((row) => {
          const decimals = decimalsOf(exchange, row.market);
          return <tr key={row.id} title={`order ${row.request_id}, sequence ${row.sequence}`}>
            <th scope="row">{row.market}</th><td><Side side={row.side} /></td><td>{shownText(row.price, decimals.price)}</td><td>{shownText(row.quantity, decimals.size)}</td>
            <td>{shownText(row.fee)}</td><td class="dim opt">{row.liquidity.toLowerCase()}</td><Id text={row.request_id} /><td class="dim" title={`${row.time_ns} ns`}>{new Date(row.time).toLocaleTimeString([], { hour12: false })}</td>
          </tr>;
        })}
      </tbody>
    </table>
    <ListEnd older={older} />
    </>
  );
}

function Funding({ exchange, trader }: Props) {
  const { funding } = trader.account!;
  const older = useOlder(trader, `/funding-payments?${PLACE}`, funding);
  if (funding.length === 0) return <><Nothing>no funding payments</Nothing><FundingRates exchange={exchange} /></>;
  return (
    <>
    <table>
      <caption class="visually-hidden">Funding payments, newest first</caption>
      <thead><tr><th scope="col">Market</th><th scope="col">Position</th><th scope="col">Rate</th><th scope="col">Payment</th><th scope="col" class="opt">Index</th><th scope="col">Hour</th></tr></thead>
      <tbody>
        {[...funding, ...older.rows].map((row) => {
          const decimals = decimalsOf(exchange, row.market);
          return <tr key={row.id} title={`sequence ${row.sequence}`}>
            <th scope="row">{row.market}</th><td>{shownText(row.position_size, decimals.size)}</td><td>{percentText(row.funding_rate)}</td>
            <td class={row.payment.startsWith('-') ? 'sell' : 'buy'}>{shownText(row.payment)}</td><td class="opt">{shownText(row.index_price, decimals.price)}</td>
            <td class="dim" title={`settled at ${row.time_ns} ns`}>{new Date(row.time).toLocaleString([], { dateStyle: 'short', timeStyle: 'short' })}</td>
          </tr>;
        })}
      </tbody>
    </table>
    <ListEnd older={older} />
    <FundingRates exchange={exchange} />
    </>
  );
}

const MONEY = { cash_balance: 'Cash', equity: 'Equity', initial_margin: 'Initial margin', maintenance_margin: 'Maintenance margin', withdrawable: 'Withdrawable', withdrawable_now: 'Withdrawable now' };

function Balance({ trader }: Props) {
  const { balance } = trader.account!;
  const { rows, problem, others } = usePortfolios(trader);
  return (
    <>
    <dl class="details money">
      {Object.entries(MONEY).map(([name, title]) => <div key={name}><dt>{title}, USDC</dt><dd>{shownText(balance[name], 2)}</dd></div>)}
      <div><dt>State</dt><dd>{statusText(balance.status)}</dd></div>
    </dl>
    {problem !== null && <Nothing>the portfolios are not there: {problem}</Nothing>}
    {rows !== null && <Portfolios rows={rows} />}
    <Withdraw trader={trader} places={others} />
    </>
  );
}

const CONTENT = { 'Open orders': OpenOrders, Positions, Fills, History: HistoryPane, Funding, Balance, Keys: KeysPane };

const everyOrder = () => ({ asset: 0xffffn, side: 0n, include_conditional: true });

/** Asks, and cancels every order of the account. */
export async function cancelAll(trader: Trader): Promise<void> {
  if (trader.credentials === null) return;
  const count = trader.account?.orders.length;
  if (!confirm(`Cancel all ${count ?? ''} open orders?`)) return;
  const wrong = await sent(trader, 'cancel_all_orders', everyOrder);
  if (wrong !== null) alert(wrong);
  await trader.read();
}

/** Asks, cancels every order of the account, and closes every position at the market; what fails is told at the end, and stops no other. */
async function flatten(exchange: Exchange, trader: Trader): Promise<void> {
  const { orders, positions } = trader.account!;
  if (!confirm(`Cancel all ${orders.length} open orders, and close all ${positions.length} positions at the market?`)) return;
  const wrong: string[] = [];
  const tried = (what: string, said: string | null) => said !== null && wrong.push(`${what}: ${said}`);
  tried('orders', await sent(trader, 'cancel_all_orders', everyOrder));
  for (const row of positions)
    tried(row.market, await sent(trader, 'place_market_order', () => {
      const market = marketOf(exchange, row.market);
      const size = market.size(row.size);
      return { asset: BigInt(market.record.asset_id), quantity: row.side === 'LONG' ? -size : size, reduce_only: true, stp: 0n, max_slippage_ppm: 0n };
    }));
  if (wrong.length > 0) alert(wrong.join('\n'));
  await trader.read();
}

function CancelAll({ trader }: { trader: Trader }) {
  return <button type="button" disabled={trader.credentials === null} onClick={() => void cancelAll(trader)}>cancel all</button>;
}

export function AccountPanes({ exchange, trader, tab, onTab, onClose, onChange }: Props & { tab: AccountTab; onTab: (tab: AccountTab) => void }) {
  useModel(trader);
  const Content = tab === 'Health' || tab === 'Latency' || tab === 'Decoder' ? null : CONTENT[tab];
  const count = { 'Open orders': trader.account?.orders.length, Positions: trader.account?.positions.length } as Record<string, number | undefined>;
  return (
    <section class={`pane pane-account ${tab === 'Health' ? 'shows-health' : ''}`} aria-label="Account and health">
      <div class="pane-head">
        <div class="sections" role="tablist" aria-label="Account and health">
          {TABS.map((name) => (
            <button key={name} type="button" role="tab" id={`tab-${name}`} aria-selected={name === tab} onClick={() => onTab(name)}>{name}{count[name] ? ` ${count[name]}` : ''}</button>
          ))}
        </div>
        <div class="pane-tools">{tab === 'Open orders' && <CancelAll trader={trader} />}{tab === 'Positions' && count.Positions! > 0 && <button type="button" onClick={() => void flatten(exchange, trader)}>close all</button>}</div>
      </div>
      <div class="pane-body scroll" role="tabpanel" aria-labelledby={`tab-${tab}`} tabIndex={0}>
        {tab === 'Decoder' ? <DecoderPane />
          : Content === null ? (tab === 'Health' ? <HealthPane exchange={exchange} /> : <LatencyPane exchange={exchange} trader={trader} />)
          : trader.credentials === null ? <Nothing>no account on this device: “Open account” above makes one, or signs in</Nothing>
          : trader.account === null ? (trader.problem === null ? <Loading what="account" /> : <Nothing>{trader.problem}</Nothing>)
          : <Content exchange={exchange} trader={trader} onClose={onClose} onChange={onChange} />}
      </div>
    </section>
  );
}
