// What subscriptions do with their frames: keep the newest value, a book, or every trade.

import { Fault } from "./book.js";
import type { Book } from "./book.js";
import { Overrun } from "./errors.js";
import type { PerpdError } from "./errors.js";
import type { Frame, TradeData, Traded } from "./views.js";
import { Signal } from "./wait.js";
import type { Consumer } from "./wait.js";

/** What a subscription does with its frames, in their order. Fault: ask for the whole again. `lose`: a
 * new snapshot comes next; with `isOther`, of another epoch. */
export interface Sink {
  take(frame: Frame): void | Promise<void>;
  lose(isOther?: boolean): void;
  fail(error: PerpdError): void;
}

/** The sink of what only the newest value of matters. */
export class Newest implements Sink {
  value: Frame | undefined;
  readonly signal = new Signal();

  take(frame: Frame): void {
    if (frame.type === "heartbeat") return;
    this.value = frame;
    this.signal.tell();
  }

  lose(isOther = false): void {
    if (isOther) this.value = undefined; // of another history; else the last value stays the newest
  }

  fail(error: PerpdError): void {
    this.signal.tell(error);
  }
}

/** The sink that keeps a Book. */
export class BookSink implements Sink {
  readonly signal = new Signal();

  constructor(readonly book: Book) {}

  take(frame: Frame): void {
    this.book.apply(frame);
    if (frame.type !== "heartbeat") this.signal.tell();
  }

  lose(): void {
    if (!this.book.isLive) return;
    this.book.discard();
    this.signal.tell();
  }

  fail(error: PerpdError): void {
    this.signal.tell(error);
  }
}

/** The sink of trades: none is missing or comes twice, also across reconnections. `older` reads the
 * trades after a number from REST, oldest first. */
export class Trades implements Sink {
  readonly consumers = new Set<Consumer<Traded>>();
  #last: bigint | undefined;

  constructor(private readonly older: (last: bigint) => Promise<readonly TradeData[]>) {}

  async take(frame: Frame): Promise<void> {
    if (frame.type === "update") this.#give(frame.data as unknown as TradeData);
    if (frame.type !== "snapshot") return;
    const shown = [...frame.data["trades"] as readonly TradeData[]].reverse();
    const [first, newest] = [shown[0], shown.at(-1)];
    if (this.#last === undefined) {
      this.#last = newest?.trade_seq ?? 0n;
      return;
    }
    // Those of a binary stream have no sequence: REST has it.
    const isMissed = newest?.sequence === null ? newest.trade_seq > this.#last
      : first !== undefined && first.trade_seq > this.#last + 1n;
    if (isMissed) for (const trade of await this.older(this.#last)) this.#give(trade);
    for (const trade of shown) this.#give(trade);
  }

  #give(trade: TradeData): void {
    const last = this.#last ?? 0n;
    if (trade.trade_seq <= last) return;
    if (trade.trade_seq !== last + 1n) throw new Fault(`trade ${last + 1n} is missing`);
    const { sequence } = trade;
    if (sequence === null) throw new Fault(`trade ${last + 1n} is not in REST yet`);
    this.#last = trade.trade_seq;
    for (const consumer of this.consumers) consumer.put({ ...trade, sequence });
  }

  lose(isOther = false): void {
    if (isOther) this.#last = undefined; // of another history
  }

  fail(error: PerpdError): void {
    for (const consumer of this.consumers) consumer.end(error);
  }
}

/** The sink of a channel that nothing keeps: every update of a connection, and Overrun for who was there
 * before a break, in which some may have been missed. */
export class Events implements Sink {
  readonly consumers = new Set<Consumer<Frame>>();

  take(frame: Frame): void {
    if (frame.type !== "update") return;
    for (const consumer of this.consumers) consumer.put(frame);
  }

  lose(): void {
    this.fail(new Overrun("the connection broke: what came meanwhile is in the reads"));
  }

  fail(error: PerpdError): void {
    for (const consumer of this.consumers) consumer.end(error);
  }
}
