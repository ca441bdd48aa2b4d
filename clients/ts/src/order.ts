// An order of one's own: what its acknowledgements said last, and what to do with it.

import { Amount } from "./amount.js";
import type { AmountLike } from "./amount.js";
import type { Market } from "./market.js";
import type { Members, Outcome, Waiting } from "./requests.js";
import type { Trading } from "./trading.js";

export type Direction = "buy" | "sell";

/** The states of an order that may still be filled. */
export const OPEN: ReadonlySet<string> = new Set(["OPEN", "PARTIALLY_FILLED", "UNTRIGGERED"]);
const ENDED: ReadonlySet<string> = new Set(["FILLED", "CANCELED", "REJECTED", "EXPIRED"]);

/** One that is newer than this library counts as open: it may still be filled. */
export function isOpenState(status: string): boolean {
  return !ENDED.has(status);
}

export interface Change extends Waiting {
  /** Refuses the change when the remaining size is another: a fill came in between. */
  readonly expectedRemaining?: AmountLike | undefined;
}

export interface Replacement extends Change {
  readonly postOnly?: boolean | undefined; // left out: as it is
}

export interface OrderFlags {
  readonly isConditional?: boolean;
  readonly postOnly?: boolean;
  readonly reduceOnly?: boolean;
}

/** `status`, `remaining` and `filled` are as of the newest acknowledgement or `refresh`, and of the
 * newest event once the account is followed (Client.followAccount). */
export class Order {
  isConditional: boolean;
  postOnly: boolean;
  reduceOnly: boolean;
  status: string;
  remaining: Amount;
  filled = new Amount(0n, 0);
  averagePrice: Amount | null = null;
  outcome: Outcome | undefined;
  #toldAt = 0n; // sequences of what was asked for, and of events
  #heardAt = 0n;

  constructor(private readonly trading: Trading, public id: string, readonly market: Market,
    readonly side: Direction, public price: Amount | null, readonly size: Amount,
    flags: OrderFlags = {}) {
    this.isConditional = flags.isConditional ?? false;
    this.postOnly = flags.postOnly ?? false;
    this.reduceOnly = flags.reduceOnly ?? false;
    this.status = this.isConditional ? "UNTRIGGERED" : "OPEN";
    this.remaining = size;
  }

  get isOpen(): boolean {
    return isOpenState(this.status);
  }

  /** Takes what an acknowledgement shows; false when it shows no order. */
  acknowledge(outcome: Outcome): boolean {
    this.outcome = outcome;
    if (typeof outcome.answer["order_status"] !== "string") return false;
    this.#tell(outcome.answer, outcome.sequence ?? 0n);
    return true;
  }

  /** Takes that a batch, whose answer shows no order, placed or canceled it. */
  executed(outcome: Outcome, isCancel: boolean): void {
    this.outcome = outcome;
    if (isCancel && (outcome.sequence ?? 0n) >= this.#heardAt) this.status = "CANCELED";
  }

  /** Takes what an answer shows, as of this sequence, unless an event was newer. */
  #tell(members: Members, at: bigint): void {
    if (at < this.#heardAt) return;
    if (at > this.#toldAt) this.#toldAt = at;
    this.#take(members);
  }

  /** Takes what an event of this sequence says, unless an answer was as new or another event newer. */
  hear(record: Members, at: bigint): void {
    if (at <= this.#toldAt || at < this.#heardAt) return;
    this.#heardAt = at;
    this.#take(record);
    if (typeof record["price"] === "string") this.price = Amount.of(record["price"]);
    if (this.isConditional) this.isConditional = record["order_status"] === "UNTRIGGERED";
  }

  #take(members: Members): void {
    this.status = members["order_status"] as string;
    this.remaining = Amount.of(members["remaining_size"] as string);
    this.filled = Amount.of(members["filled_size"] as string);
    const average = members["average_price"];
    if (average === undefined) return; // a binary event has none
    this.averagePrice = typeof average === "string" ? Amount.of(average) : null;
  }

  /** Reads the order, as of the sequence `least` or later. */
  async refresh(least?: bigint): Promise<this> {
    const [record, at] = await this.trading.orderAt(this.id, least);
    if (at < this.#heardAt) return this;
    this.#tell(record as unknown as Members, at);
    if (record.price !== null) this.price = Amount.of(record.price);
    this.postOnly = record.post_only;
    this.reduceOnly = record.reduce_only;
    this.isConditional = record.order_status === "UNTRIGGERED";
    return this;
  }

  /** Another price and remaining size under the same id. */
  async replace(price: AmountLike, size: AmountLike, how: Replacement = {}): Promise<Order> {
    return this.trading.replace(this, price, size, how);
  }

  /** A smaller size; the place in the queue stays. */
  async reduce(by: AmountLike, how: Change = {}): Promise<Order> {
    return this.trading.reduce(this, by, how);
  }

  /** Waits until the order is open no more, by the account's events. */
  async done(): Promise<this> {
    const account = await this.trading.followAccount();
    account.follow(this);
    await this.refresh();
    while (this.isOpen) await this.trading.accountChanged();
    return this;
  }

  async cancel(waiting: Waiting = {}): Promise<Order> {
    return this.trading.cancel(this, waiting);
  }

  toString(): string {
    return `${this.id} ${this.side} ${this.remaining.toString()} of ${this.size.toString()} ` +
      `${this.market.toString()} at ${this.price?.toString() ?? "market"}, ${this.status}`;
  }
}
