/* The order ticket: what is typed, what it means, the bytes that are signed, and what came of it. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { ByteTable } from './byte_table';
import { newUuid, uuidText } from './bytes';
import { serverNow } from './clock';
import { orderCommand } from './command';
import { apiText, shownText } from './decimal';
import type { Exchange } from './exchange';
import type { Market } from './market';
import { useModel } from './model';
import { Nothing, Pane } from './pane';
import { type Payload, makePayload } from './payload';
import { isSentHereAlone } from './sent_once';
import type { Submission } from './submission';
import { statusText } from './code_text';
import { type Fault, type Judgement, LIVES, type Order, hasLimit, judgeOrder, marketObstacle, orderRequest, restingTif, sentence, sizeOfFree, usualLeverage, waits } from './ticket';
import { Leverage, shownLeverage } from './leverage';
import type { Trader } from './trader';

/** What is filled in from elsewhere on the page. */
export type Picked = { market: string; change: Partial<Order> } | null;

const EMPTY: Order = {
  side: 'buy', kind: 'limit', atLimit: false, trigger: '', price: '', size: '', tif: 'GTC', lifeMs: LIVES[3][1], stp: 0, slippage: '', postOnly: false, reduceOnly: false, oco: '', changes: null,
};
const KINDS = [['limit', 'Limit'], ['market', 'Market'], ['stop', 'Stop'], ['take', 'Take profit']] as const;
const LABELS = { trigger: 'Trigger', price: 'Price', size: 'Size', slippage: 'From the mark' };
const SHARES = [25n, 50n, 75n, 100n];
/** By their places in STP. */
const STP_TEXT = ['the new one ends', 'the old one ends', 'both end', 'both shrink'];

type FieldProps = { name: Fault['field']; unit: string; order: Order; faults: Fault[]; onChange: (text: string) => void };

function NumberField({ name, unit, order, faults, onChange }: FieldProps) {
  const fault = order[name] === '' ? undefined : faults.find((one) => one.field === name);
  return (
    <div class="field">
      <label for={`ticket-${name}`}>{LABELS[name]} <span class="dim">{unit}</span></label>
      <input id={`ticket-${name}`} inputMode="decimal" autocomplete="off" value={order[name]} aria-invalid={fault !== undefined}
        aria-describedby={fault && `ticket-${name}-fault`} onInput={(event) => onChange(event.currentTarget.value.trim())} />
      {fault && (
        <p class="fault" id={`ticket-${name}-fault`}>
          {fault.text} {fault.nearest.map((text) => <button key={text} type="button" onClick={() => onChange(text)}>{text}</button>)}
        </p>
      )}
    </div>
  );
}

function Outcome({ submission }: { submission: Submission }) {
  const { state, answer, problem, status, isDone, isSending } = useModel(submission);
  const tone = state === 'sent' ? 'dim' : isDone ? 'good' : state === 'unknown' ? 'warn' : 'bad';
  const ack = answer?.timing_ns === undefined ? '' : ` ${(answer.timing_ns.ack / 1e6).toFixed(2)} ms in the exchange.`;
  const words = state === 'sent' ? 'sent …'
    : state === 'unknown' ? (isSending ? 'no answer yet: the same bytes are sent again' : statusText('outcome_unknown'))
    : isDone ? `${answer?.original_status === undefined ? '' : 'It had arrived the first time: '}${statusText(answer?.order_status ?? status)}.${answer?.filled_size > '0' ? ` Filled ${answer.filled_size} at ${shownText(answer.average_price)}.` : ''}${ack}`
    : `${statusText(status)}. ${problem?.detail ?? ''}`;
  return <p class={`outcome tone-${tone}`} role="alert">{words}</p>;
}

function Choice<T extends string>({ name, value, choices, onChange }: { name: string; value: T; choices: readonly (readonly [T, string])[]; onChange: (value: T) => void }) {
  return (
    <div class="choice" role="group" aria-label={name}>
      {choices.map(([one, text]) => (
        <button key={one} type="button" class={`choice-${one}`} aria-pressed={one === value} onClick={() => onChange(one)}>{text}</button>
      ))}
    </div>
  );
}

function Switch({ text, value, onChange }: { text: string; value: boolean; onChange: (value: boolean) => void }) {
  return <label class="switch"><input type="checkbox" checked={value} onChange={(event) => onChange(event.currentTarget.checked)} /> {text}</label>;
}

/** Sizes that parts of the free margin allow. */
function Shares({ order, market, trader, set }: { order: Order; market: Market; trader: Trader; set: (change: Partial<Order>) => void }) {
  const leverage = shownLeverage(market, trader) ?? usualLeverage(market);
  return (
    <div class="field">
      <span class="dim">of free margin</span>
      <div class="choice">{SHARES.map((percent) => {
        const size = sizeOfFree(order, market, trader.account!.balance.withdrawable, leverage, percent);
        return <button key={percent} type="button" disabled={size === null} title={`about, at ${leverage}×`} onClick={() => set({ size: size! })}>{String(percent)} %</button>;
      })}</div>
    </div>
  );
}

/** How long an order may rest. */
function InForce({ order, set }: { order: Order; set: (change: Partial<Order>) => void }) {
  const isTimed = order.tif === 'GTT' && !waits(order);
  return (
    <div class="field">
      <label for="ticket-tif">In force</label>
      <select id="ticket-tif" value={isTimed ? 'GTT' : restingTif(order)} onChange={(event) => set({ tif: event.currentTarget.value as Order['tif'] })}>
        <option value="GTC">GTC: until cancelled</option>{!waits(order) && <option value="GTT">GTT: for a time</option>}<option value="IOC">IOC: at once, the rest ends</option><option value="FOK">FOK: all at once or nothing</option>
      </select>
      {isTimed && <><label for="ticket-life">for</label><select id="ticket-life" value={order.lifeMs} onChange={(event) => set({ lifeMs: Number(event.currentTarget.value) })}>{LIVES.map(([text, ms]) => <option key={ms} value={ms}>{text}</option>)}</select></>}
    </div>
  );
}

/** Which of the orders that wait end when the first of them fires. */
function Group({ order, trader, set }: { order: Order; trader: Trader; set: (change: Partial<Order>) => void }) {
  const waiting = trader.account?.orders.filter((one) => one.order_status === 'UNTRIGGERED' && one.oco_group != null) ?? [];
  const groups = new Map<string, string>(waiting.map((one) => [one.oco_group, `with ${one.market} ${one.side === 'LONG' ? 'buy' : 'sell'} from ${one.trigger_price}`]));
  if (order.oco !== '' && !groups.has(order.oco)) groups.set(order.oco, `a new group, …${order.oco.slice(-6)}`);
  return (
    <label class="meeting">One cancels the others <select id="ticket-oco" value={order.oco} onChange={({ currentTarget: { value } }) => set({ oco: value === 'new' ? uuidText(newUuid(serverNow())) : value })}>
      <option value="">no: it is alone</option>{[...groups].map(([id, text]) => <option key={id} value={id}>{text}</option>)}<option value="new">the first of a new group</option>
    </select></label>
  );
}

/** What few orders need: how far one at the market may go, and what becomes of it at an own one. */
function More({ order, market, trader, faults, set }: { order: Order; market: Market; trader: Trader; faults: Fault[]; set: (change: Partial<Order>) => void }) {
  return (
    <details class="bytes">
      <summary>more</summary>
      {!hasLimit(order) && <NumberField name="slippage" unit={`at most ${apiText(BigInt(market.record.max_slippage_ppm), 4)} %`} order={order} faults={faults} onChange={(slippage) => set({ slippage })} />}
      {waits(order) && <Group order={order} trader={trader} set={set} />}
      <label class="meeting">At an own order <select value={order.stp} onChange={(event) => set({ stp: Number(event.currentTarget.value) })}>{STP_TEXT.map((text, at) => <option key={at} value={at}>{text}</option>)}</select></label>
    </details>
  );
}

/** The payload of a faultless order; another one, with another id, when the order changes. It is made
 *  while the order is painted, so that what is sent is never older than what is shown. */
function usePayload(order: Order, market: Market, judged: Judgement, trader: Trader, sent: number): { payload: Payload | null; command?: string } {
  const account = trader.credentials?.account;
  return useMemo(() => {
    if (account === undefined || judged.faults.length > 0) return { payload: null };
    const { name, values } = orderRequest(order, market, judged, account);
    return { payload: makePayload(name, 'session', values), command: orderCommand(name, values, market, account) };
  }, [order, market, account, sent, judged.faults.length === 0]);
}

/** The kinds of orders whose bytes were shown since this page was loaded: those are signed without asking. */
const shownKinds = new Set<string>();

type TicketProps = { market: Market; trader: Trader; picked: Picked; isStale: boolean; onTaken: () => void };

function Ticket({ market, trader, picked, isStale, onTaken }: TicketProps) {
  useModel(trader);
  useModel(market);
  const [order, setOrder] = useState<Order>(EMPTY);
  const [submission, setSubmission] = useState<Submission | null>(null);
  const [sent, setSent] = useState(0);
  const [wrong, setWrong] = useState<string | null>(null);
  const set = (change: Partial<Order>) => setOrder((before) => ({ ...before, ...change }));
  useEffect(() => {
    if (picked?.market !== market.name) return;
    set({ changes: null, ...picked.change });
    if (picked.change.changes != null) setSubmission(null);
    onTaken();
  }, [picked]);
  const judged = judgeOrder(order, market);
  const reason = trader.credentials === null ? 'Open an account to trade.' : marketObstacle(order, market, statusText(market.state));
  const { payload, command } = usePayload(order, market, judged, trader, sent);
  const isBusy = useModel(submission)?.isSending ?? false;
  const isPlacing = useRef(false);
  const send = async (ready: Payload) => {
    if (isStale && !confirm('What is shown is stale. Send the order all the same?')) return;
    const made = (now?: number) => {
      const { name, values } = orderRequest(order, market, judged, trader.credentials!.account, now);
      return makePayload(name, 'session', values);
    };
    if (!(await isSentHereAlone(made(0))) && !confirm('Another tab of this browser sends the same order, or has just sent it. Send it once more?')) return;
    const next = await trader.signPayload(isOld(ready) ? made() : ready);
    setSubmission(next);
    await next.send();
    setSent((count) => count + 1);
    if (next.isDone) set({ changes: null });
  };
  const signed = useRef<HTMLFormElement>(null);
  const kind = order.changes === null ? order.kind : 'change';
  /** Shows what would be signed; whether it had been shown. */
  const show = (): boolean => {
    const details = signed.current!.querySelector<HTMLDetailsElement>('details.signed')!;
    const wasShown = details.open || shownKinds.has(kind);
    details.open ||= !wasShown;
    shownKinds.add(kind);
    return wasShown;
  };
  const place = async () => {
    if (payload === null || reason !== null || isBusy || isPlacing.current) return;
    if (!show()) return signed.current!.querySelector<HTMLElement>('.place')!.focus();
    isPlacing.current = true; // before the page is painted again
    setWrong(null);
    await send(payload).catch((caught: Error) => setWrong(`It was not sent: ${caught.message}`)).finally(() => (isPlacing.current = false));
    await trader.read();
  };
  /** Enter shows what would be signed and goes to the button that signs it; Ctrl+Enter signs. A key that is held does it once. */
  const press = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.defaultPrevented) return;
    const isSent = event.ctrlKey || event.metaKey;
    if (!isSent && !(event.target as HTMLElement).matches('input:not([type=checkbox])')) return event.repeat ? event.preventDefault() : undefined;
    event.preventDefault();
    if (event.repeat) return;
    const form = event.currentTarget as HTMLFormElement;
    const faulty = judged.faults[0]?.field;
    if (payload === null || reason !== null) return form.querySelector<HTMLElement>(faulty === undefined ? '.place' : `#ticket-${faulty}`)?.focus();
    if (isSent) return void place();
    form.querySelector<HTMLDetailsElement>('details.signed')!.open = true;
    shownKinds.add(kind);
    form.querySelector<HTMLElement>('.place')!.focus();
  };
  const { changes } = order;
  const isLimit = hasLimit(order);
  return (
    <form class="ticket" ref={signed} onSubmit={(event) => (event.preventDefault(), void place())} onKeyDown={press}>
      {changes === null ? <>
        <Choice name="Side" value={order.side} choices={[['buy', 'Buy'], ['sell', 'Sell']]} onChange={(side) => set({ side })} />
        <Choice name="Kind" value={order.kind} choices={KINDS} onChange={(kind) => set({ kind })} />
      </> : (
        <p class="changes">Changes your order at {shownText(changes.price, market.record.price_decimals)}. <button type="button" onClick={() => set({ changes: null })}>leave it</button></p>
      )}
      {waits(order) && <NumberField name="trigger" unit="USDC" order={order} faults={judged.faults} onChange={(trigger) => set({ trigger })} />}
      {isLimit && <NumberField name="price" unit="USDC" order={order} faults={judged.faults} onChange={(price) => set({ price })} />}
      <NumberField name="size" unit={market.record.base} order={order} faults={judged.faults} onChange={(size) => set({ size })} />
      {changes === null && trader.account !== null && <Shares order={order} market={market} trader={trader} set={set} />}
      {isLimit && changes === null && <InForce order={order} set={set} />}
      <div class="terms">
        {waits(order) && <Switch text="at a limit" value={order.atLimit} onChange={(atLimit) => set({ atLimit })} />}
        {isLimit && <Switch text="post only" value={order.postOnly} onChange={(postOnly) => set({ postOnly })} />}
        <Switch text="reduce only" value={order.reduceOnly} onChange={(reduceOnly) => set({ reduceOnly })} />
      </div>
      {changes === null && <More order={order} market={market} trader={trader} faults={judged.faults} set={set} />}
      {judged.faults.length === 0 && <p class="sentence">{sentence(order, market, judged)}</p>}
      <button type="submit" class={`place side-${order.side}`} disabled={reason !== null || payload === null || isBusy}>
        {changes === null ? `${order.side === 'buy' ? 'Buy' : 'Sell'} ${market.record.base}` : 'Change the order'}
      </button>
      {reason !== null && <p class="dim">{reason}</p>}
      {wrong !== null && <p class="outcome tone-bad" role="alert">{wrong}</p>}
      {submission !== null && <Outcome submission={submission} />}
      {payload !== null && <ByteTable payload={payload} command={command} />}
      {trader.credentials !== null && <Leverage market={market} trader={trader} />}
    </form>
  );
}

const YOUNG_MS = 10_000;

/** Whether the id of a payload is too old to be sent and repeated within the exchange's window. */
function isOld({ id }: Payload): boolean {
  return serverNow() - parseInt(id.replace('-', '').slice(0, 12), 16) > YOUNG_MS;
}

export function TicketPane({ exchange, trader, picked, onTaken }: { exchange: Exchange; trader: Trader | null; picked: Picked; onTaken: () => void }) {
  const { market } = useModel(exchange);
  const stream = useModel(exchange.stream);
  return (
    <Pane name="ticket" title="Order">
      {market === null || trader === null ? <Nothing>loading …</Nothing>
        : <Ticket key={market.name} market={market} trader={trader} picked={picked} onTaken={onTaken} isStale={stream.staleSince !== null} />}
    </Pane>
  );
}
