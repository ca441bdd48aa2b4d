// One's own orders, positions and cash, kept from REST and the channel `private`, and the events of that
// channel, none missing and none twice (json.md J9).

import { Amount } from "./amount.js";
import { Overrun } from "./errors.js";
import type { PerpdError } from "./errors.js";
import { isOpenState, OPEN } from "./order.js";
import type { Order } from "./order.js";
import type { Session } from "./session.js";
import type { Sink } from "./sinks.js";
import type * as records from "./types.gen.js";
import type { Frame } from "./views.js";
import { Signal } from "./wait.js";
import type { Consumer } from "./wait.js";

const PAGE = 1000;
const ENDED_KEPT = 10_000; // orders that ended: their events may come before their acknowledgement
const CASH_DECIMALS = 6;

type Members = Readonly<Record<string, unknown>>;

/** An event of the account: its name and members (J9), its number among those of the account, and the
 * sequence of the command that caused it. */
export interface PrivateEvent {
  readonly event: string;
  readonly data: Members;
  readonly seq: bigint;
  readonly engineSeq: bigint;
  readonly timeNs: bigint;
}

/** The members of a position that no price moves. */
export type Held = Pick<records.Position,
  "id" | "market" | "side" | "size" | "average_entry_price" | "net_funding">;

function heldOf(row: Members): Held {
  const { id, market, side, size, average_entry_price, net_funding } = row as unknown as Held;
  return { id, market, side, size, average_entry_price, net_funding };
}

/** The account view of one portfolio. `orders`: the open ones by id, as GET /orders has them.
 * `positions`: by market, with the members of GET /positions that no price moves. `cash`: the sum of GET
 * /cash/history. Each is as of `engineSeq`, or later where it was read later: the events between are not
 * applied again. `isLive` is false before all is read and while the stream is away; what is shown then
 * is what was known last. */
export class Account {
  isLive = false;
  seq = 0n;
  engineSeq = 0n;
  cash = new Amount(0n, CASH_DECIMALS);
  orders: ReadonlyMap<string, records.Order> = new Map();
  positions: ReadonlyMap<string, Held> = new Map();
  #orders = new Map<string, records.Order>();
  #positions = new Map<string, Held>();
  #ordersAt = 0n;
  #positionsAt = 0n;
  #cashAt = 0n;
  #rowAt = new Map<string, bigint>();
  readonly #heardAt = new Map<string, bigint>();
  readonly #ended = new Map<string, readonly [bigint, Members]>();
  readonly #followed = new Map<string, Order>();

  constructor(private readonly session: Session) {}

  /** The order shows from now on what its events say, also those that have come before its
   * acknowledgement. */
  follow(order: Order): void {
    this.#followed.set(order.id, order);
    const ended = this.#ended.get(order.id);
    const open = this.#orders.get(order.id);
    if (ended !== undefined) this.#tell(order.id, ended[1], ended[0]);
    else if (open !== undefined) {
      this.#tell(order.id, open as unknown as Members,
        this.#heardAt.get(order.id) ?? this.#rowAt.get(order.id) ?? 0n);
    }
  }

  #tell(id: string, record: Members, at: bigint): void {
    const order = this.#followed.get(id);
    order?.hear(record, at);
    if (order?.isOpen === false) this.#followed.delete(id);
  }

  /** Takes the whole from REST, as of this sequence or later. Lost, Problem: nothing is changed. */
  async read(least: bigint): Promise<void> {
    const place = this.session.placeParameters();
    const [orders, rowAt, ordersAt] = await this.#readOrders(least);
    const [held, positionsAt] = await this.session.getAt("/positions", place, least);
    const [cash, cashAt] = await this.session.getAt("/cash/history", { ...place, limit: 1 }, least);
    this.#orders = orders;
    this.#rowAt = rowAt;
    this.#positions = new Map((held as readonly Members[]).map((row) =>
      [row["market"] as string, heldOf(row)]));
    this.orders = this.#orders;
    this.positions = this.#positions;
    const newest = (cash as records.CashHistory).history[0];
    this.cash = Amount.of(newest === undefined ? 0n : newest.balance_after);
    [this.#ordersAt, this.#positionsAt, this.#cashAt] = [ordersAt, positionsAt, cashAt];
    this.#heardAt.clear();
    this.#ended.clear();
    for (const [id, order] of [...this.#followed]) {
      const row = orders.get(id);
      if (row !== undefined) this.#tell(id, row as unknown as Members, rowAt.get(id) ?? 0n);
      else if (order.isOpen) await order.refresh(least);
    }
  }

  /** The open orders, the sequence that each row is of, and the first of these. */
  async #readOrders(least: bigint)
    : Promise<[Map<string, records.Order>, Map<string, bigint>, bigint]> {
    const orders = new Map<string, records.Order>();
    const rowAt = new Map<string, bigint>();
    let first: bigint | undefined;
    for (const status of OPEN) {
      let before = {};
      for (;;) {
        const [shown, at] = await this.session.getAt("/orders",
          { ...this.session.placeParameters(), status, limit: PAGE, ...before }, least);
        const rows = shown as readonly records.Order[];
        first ??= at;
        for (const row of rows) {
          orders.set(row.id, row);
          rowAt.set(row.id, at);
        }
        const last = rows.at(-1);
        if (last === undefined || rows.length < PAGE) break;
        before = { before_sequence: last.sequence, before_index: last.index };
      }
    }
    return [orders, rowAt, first ?? 0n];
  }

  /** An update of the channel. */
  async apply(frame: Frame): Promise<void> {
    const { data, engine_seq: at } = frame;
    const { event, id, market } = data as { event: string; id: string | null; market: string };
    if (event === "order") {
      await this.#order(data, at);
    } else if (event === "position" && this.#isHere(data) && at > this.#positionsAt) {
      if (id === null) this.#positions.delete(market);
      else this.#positions.set(market, heldOf(data));
    } else if (event === "balance" && this.#isHere(data) && at > this.#cashAt) {
      this.cash = Amount.of(data["balance_after"] as string);
    }
  }

  #isHere(data: Members): boolean {
    const { subaccount_index, portfolio_index } = this.session.place;
    return Number(data["subaccount_index"]) === subaccount_index &&
      Number(data["portfolio_index"]) === portfolio_index;
  }

  async #order(data: Members, at: bigint): Promise<void> {
    const id = data["id"] as string;
    const known = this.#orders.get(id);
    const { event: _event, request_id: _request, ...members } = data;
    let record: Members = members;
    this.#tell(id, record, at);
    if (at <= (this.#rowAt.get(id) ?? this.#ordersAt)) return;
    let isOpen = isOpenState(record["order_status"] as string);
    if (record["subaccount_index"] === undefined) { // a binary message: it has fewer members
      if (known !== undefined || !isOpen) {
        record = { ...known, ...record };
      } else {
        const [shown, shownAt] = await this.session.getAt(`/orders/${id}`, {}, at);
        record = shown as Members;
        this.#rowAt.set(id, shownAt);
        isOpen = isOpenState(record["order_status"] as string);
      }
    }
    if (known === undefined && record["subaccount_index"] !== undefined && !this.#isHere(record)) {
      return;
    }
    if (isOpen) {
      this.#orders.set(id, record as unknown as records.Order);
      this.#heardAt.set(id, at);
      return;
    }
    this.#orders.delete(id);
    this.#rowAt.delete(id);
    this.#heardAt.delete(id);
    this.#ended.set(id, [at, record]);
    if (this.#ended.size > ENDED_KEPT) {
      const [oldest] = this.#ended.keys();
      if (oldest !== undefined) this.#ended.delete(oldest);
    }
  }
}

/** The sink of the channel `private`: keeps an Account, and gives its events to consumers. */
export class Private implements Sink {
  readonly signal = new Signal();
  readonly consumers = new Set<Consumer<Frame>>();
  #isKnown = false;

  constructor(readonly account: Account) {}

  async take(frame: Frame): Promise<void> {
    const { account } = this;
    const isWhole = frame.type === "snapshot" || frame.type === "gap";
    if (isWhole) {
      this.lose();
      await account.read(frame.engine_seq);
      if (this.#isKnown && account.seq !== frame.seq) {
        this.#end(new Overrun(`events ${account.seq + 1n} to ${frame.seq} are not kept`));
      }
      this.#isKnown = true;
    } else if (frame.type === "update") {
      await account.apply(frame);
      for (const consumer of this.consumers) consumer.put(frame);
    }
    account.seq = frame.seq;
    account.engineSeq = frame.engine_seq;
    if (isWhole) this.caughtUp();
    else if (frame.type !== "heartbeat") this.signal.tell();
  }

  /** Nothing of the time without a connection is still to come. */
  caughtUp(): void {
    this.account.isLive = true;
    this.signal.tell();
  }

  lose(isOther = false): void {
    if (isOther && this.#isKnown) {
      this.#isKnown = false;
      this.#end(new Overrun("another epoch: the events before it are of another history"));
    }
    if (!this.account.isLive) return;
    this.account.isLive = false;
    this.signal.tell();
  }

  fail(error: PerpdError): void {
    this.signal.tell(error);
    this.#end(error);
  }

  #end(error: PerpdError): void {
    for (const consumer of this.consumers) consumer.end(error);
  }
}
