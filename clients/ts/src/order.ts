// An order of one's own: what its acknowledgements said last, and what to do with it.

import { Amount } from "./amount.js";
import type { AmountLike } from "./amount.js";
import type { Market } from "./market.js";
import type { Members, Outcome, Waiting } from "./requests.js";
import type { Trading } from "./trading.js";

export type Direction = "buy" | "sell";

const OPEN: ReadonlySet<string> = new Set(["OPEN", "PARTIALLY_FILLED", "UNTRIGGERED"]);

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

/** `status`, `remaining` and `filled` are as of the newest acknowledgement or `refresh`: fills that
 * came later are not in them. */
export class Order {
  isConditional: boolean;
  postOnly: boolean;
  reduceOnly: boolean;
  status: string;
  remaining: Amount;
  filled = new Amount(0n, 0);
  averagePrice: Amount | null = null;
  outcome: Outcome | undefined;

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
    return OPEN.has(this.status);
  }

  /** Takes what an acknowledgement shows; false when it shows no order. */
  acknowledge(outcome: Outcome): boolean {
    this.outcome = outcome;
    if (typeof outcome.answer["order_status"] !== "string") return false;
    this.#take(outcome.answer);
    return true;
  }

  #take(members: Members): void {
    this.status = members["order_status"] as string;
    this.remaining = Amount.of(members["remaining_size"] as string);
    this.filled = Amount.of(members["filled_size"] as string);
    const average = members["average_price"];
    this.averagePrice = typeof average === "string" ? Amount.of(average) : null;
  }

  /** Reads the order, as of the sequence `least` or later. */
  async refresh(least?: bigint): Promise<this> {
    const record = await this.trading.orderRecord(this.id, least);
    this.#take(record as unknown as Members);
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

  async cancel(waiting: Waiting = {}): Promise<Order> {
    return this.trading.cancel(this, waiting);
  }

  toString(): string {
    return `${this.id} ${this.side} ${this.remaining.toString()} of ${this.size.toString()} ` +
      `${this.market.toString()} at ${this.price?.toString() ?? "market"}, ${this.status}`;
  }
}
