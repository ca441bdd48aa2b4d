// One WebSocket for every subscription: it comes back by itself, subscribes again, checks the order of
// frames, and takes silence for death.

import { Fault } from "./book.js";
import type { Book } from "./book.js";
import { Closed, Lost, PerpdError, Problem } from "./errors.js";
import { parseJson } from "./json.js";
import { Socket } from "./socket.js";
import type { SocketClass } from "./socket.js";
import type { Frame, TradeData, Traded } from "./views.js";
import { pause, Signal } from "./wait.js";
import type { Consumer } from "./wait.js";

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 10_000;
const SILENCE_MS = 12_000; // two heartbeats and two seconds
const EVENTS_KEPT = 1000;
const TOO_MANY = 429;
const SERVER_FAULT = 500;

/** What happened to the connection ("reconnecting", "epoch_changed") or to a subscription. */
export interface Event {
  readonly kind: "live" | "gap" | "stale" | "reconnecting" | "epoch_changed" | "resumed";
  readonly channel: string;
  readonly market: string;
  readonly detail: string;
}

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

/** One channel of one market, and what was seen of it. */
export class Subscription {
  users = 0;
  seq: bigint | undefined; // undefined: a snapshot is awaited
  heardMs = performance.now();
  gaps = 0;

  constructor(readonly channel: string, readonly market: string, readonly sink: Sink,
    readonly depth: number | undefined) {}

  get key(): string {
    return `${this.channel} ${this.market}`;
  }

  op(name: "subscribe" | "unsubscribe", id: number): string {
    return JSON.stringify({ op: name, id, channel: this.channel,
      ...(this.market !== "" && { market: this.market }),
      ...(this.depth !== undefined && name === "subscribe" && { depth: this.depth }) });
  }
}

export interface StreamOptions {
  readonly WebSocket?: SocketClass | undefined;
  readonly silenceMs?: number | undefined;
  readonly firstWaitMs?: number | undefined;
}

/** What owns the socket. It is connected while there is a subscription. */
export class Stream {
  epoch = 0n;
  reconnections = 0;
  readonly #subscriptions = new Map<string, Subscription>();
  readonly #asked = new Map<number, Subscription>();
  readonly #events: Event[] = [];
  readonly #signal = new Signal();
  readonly #closing = new AbortController();
  readonly #silenceMs: number;
  readonly #firstWaitMs: number;
  #number = 0;
  #socket: Socket | undefined;
  #task: Promise<void> | undefined;

  constructor(protected readonly address: string, private readonly options: StreamOptions = {}) {
    this.#silenceMs = options.silenceMs ?? SILENCE_MS;
    this.#firstWaitMs = options.firstWaitMs ?? FIRST_WAIT_MS;
  }

  /** The subscription of this channel, which `release` gives back. All users of a channel share its
   * sink; RangeError when they want books of different depth. */
  subscribe(channel: string, market: string, make: () => Sink, depth?: number): Subscription {
    if (this.#closing.signal.aborted) throw new Closed("the client is closed");
    let found = this.#subscriptions.get(`${channel} ${market}`);
    if (found === undefined) {
      found = new Subscription(channel, market, make(), depth);
      this.#subscriptions.set(found.key, found);
      if (this.#socket !== undefined) this.#ask(this.#socket, found);
    } else if (found.depth !== depth) {
      throw new RangeError(`the book of ${market} is subscribed with depth ${found.depth}`);
    }
    found.users += 1;
    this.#task ??= this.#run();
    return found;
  }

  /** Ends it with its last user. */
  release(subscription: Subscription): void {
    subscription.users -= 1;
    if (subscription.users > 0 || this.#subscriptions.get(subscription.key) !== subscription) return;
    this.#subscriptions.delete(subscription.key);
    this.#number += 1;
    try {
      this.#socket?.send(subscription.op("unsubscribe", this.#number));
    } catch {
      // The connection has ended, and the subscription with it.
    }
  }

  /** What happens from now on, until the signal is aborted. */
  async* events(stop?: AbortSignal): AsyncGenerator<Event, void, undefined> {
    let count = this.#signal.count;
    for (;;) {
      if (await this.#signal.after(count, stop) === undefined) return;
      const now = this.#signal.count; // more may have happened since the wait ended
      const fresh = this.#events.slice(-Math.min(now - count, this.#events.length));
      count = now;
      yield* fresh;
    }
  }

  #tell(kind: Event["kind"], subscription?: Subscription, detail = ""): void {
    this.#events.push({ kind, channel: subscription?.channel ?? "",
      market: subscription?.market ?? "", detail });
    if (this.#events.length > EVENTS_KEPT) this.#events.shift();
    this.#signal.tell();
  }

  /** Ends the socket and every iteration, with Closed. */
  close(): void {
    this.#closing.abort();
    this.#socket?.close();
    const error = new Closed("the client is closed");
    for (const { sink } of this.#subscriptions.values()) sink.fail(error);
    this.#signal.tell(error);
  }

  async #run(): Promise<void> {
    const kind = this.options.WebSocket ??
      (globalThis as { WebSocket?: SocketClass }).WebSocket;
    let waitMs = this.#firstWaitMs;
    while (!this.#closing.signal.aborted) {
      try {
        if (kind === undefined) {
          throw new PerpdError("no WebSocket here: connect(url, { WebSocket })");
        }
        this.#socket = await this.open(kind, this.#silenceMs);
        if (this.#closing.signal.aborted) {
          this.#socket.close();
          return;
        }
        for (const subscription of this.#subscriptions.values()) {
          this.#ask(this.#socket, subscription);
        }
        for (;;) {
          await this.#take(await this.#message(this.#socket));
          waitMs = this.#firstWaitMs;
        }
      } catch (error) {
        if (this.#closing.signal.aborted) return;
        this.reconnections += 1;
        this.#tell("reconnecting", undefined, String(error));
      }
      const socket = this.#socket;
      this.#socket = undefined;
      this.#asked.clear();
      socket?.close();
      for (const subscription of this.#subscriptions.values()) {
        subscription.sink.lose();
        subscription.seq = undefined;
      }
      await pause(waitMs * (0.8 + 0.4 * Math.random()), this.#closing.signal)
        .catch(() => undefined);
      waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS);
    }
  }

  protected open(kind: SocketClass, timeoutMs: number): Promise<Socket> {
    return Socket.open(kind, this.address, timeoutMs);
  }

  /** A reply or a frame as in json.md J9. */
  protected read(message: string | Uint8Array): Readonly<Record<string, unknown>> {
    const shown = typeof message === "string" ? parseJson(message) : null;
    if (typeof shown === "object" && shown !== null && !Array.isArray(shown)) {
      return shown as Readonly<Record<string, unknown>>;
    }
    throw new Lost("a message that is no object", true);
  }

  /** The next message; Lost when a subscription was silent for too long. */
  async #message(socket: Socket): Promise<Readonly<Record<string, unknown>>> {
    for (;;) {
      let oldest: Subscription | undefined;
      for (const one of this.#subscriptions.values()) {
        if (oldest === undefined || one.heardMs < oldest.heardMs) oldest = one;
      }
      const heardMs = oldest?.heardMs ?? performance.now();
      const message = await socket.receive(heardMs + this.#silenceMs - performance.now());
      if (message !== undefined) return this.read(message);
      if (oldest === undefined || this.#subscriptions.get(oldest.key) !== oldest ||
        oldest.heardMs > heardMs) continue;
      this.#tell("stale", oldest);
      throw new Lost(`nothing came for ${this.#silenceMs} ms`, true);
    }
  }

  #ask(socket: Socket, subscription: Subscription): void {
    this.#number += 1;
    this.#asked.set(this.#number, subscription);
    subscription.seq = undefined;
    subscription.heardMs = performance.now();
    try {
      socket.send(subscription.op("subscribe", this.#number));
    } catch {
      // The connection has ended; the next one asks again.
    }
  }

  /** Asks once more behind the wait, unless the connection or the subscription has ended. */
  #askLater(subscription: Subscription, waitMs: number): void {
    const socket = this.#socket;
    subscription.heardMs = performance.now() + waitMs;
    pause(waitMs * (1 + 0.2 * Math.random()), this.#closing.signal).then(() => {
      if (socket === undefined || this.#socket !== socket) return;
      if (this.#subscriptions.get(subscription.key) !== subscription) return;
      this.#ask(socket, subscription);
    }).catch(() => undefined);
  }

  async #take(message: Readonly<Record<string, unknown>>): Promise<void> {
    if ("op" in message) {
      this.#reply(message);
      return;
    }
    const frame = message as unknown as Frame;
    const subscription = this.#subscriptions.get(`${frame.channel} ${frame.market ?? ""}`);
    if (subscription === undefined) return;
    subscription.heardMs = performance.now();
    if (frame.type === "snapshot") {
      const isFirst = subscription.gaps === 0 && this.reconnections === 0;
      if (subscription.seq === undefined) this.#tell(isFirst ? "live" : "resumed", subscription);
    } else if (subscription.seq === undefined) {
      return; // of the subscription before the snapshot that was asked for
    } else if (frame.prev_seq !== subscription.seq) {
      this.#gap(subscription, `prev_seq ${frame.prev_seq}, not ${subscription.seq}`);
      return;
    }
    subscription.seq = frame.seq;
    try {
      await subscription.sink.take(frame);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      this.#gap(subscription, error.message);
    }
  }

  #gap(subscription: Subscription, detail: string): void {
    subscription.gaps += 1;
    subscription.sink.lose();
    this.#tell("gap", subscription, detail);
    if (this.#socket !== undefined) this.#ask(this.#socket, subscription);
  }

  #reply(message: Readonly<Record<string, unknown>>): void {
    const id = Number(message["id"] ?? 0);
    const subscription = this.#asked.get(id);
    this.#asked.delete(id);
    const problem = message["problem"] as Readonly<Record<string, unknown>> | undefined;
    if (problem !== undefined && subscription !== undefined) {
      const status = Number(problem["status"]);
      if (status === TOO_MANY) { // its bucket has no token (W8)
        this.#askLater(subscription, Number(problem["retry_after_ms"] ?? 1000));
        return;
      }
      if (status >= SERVER_FAULT) { // it may pass
        throw new Lost(`a subscription was answered ${status} ${String(problem["code"])}`, true);
      }
      this.#subscriptions.delete(subscription.key);
      subscription.sink.fail(new Problem(status, problem));
    } else if (message["op"] === "subscribe") {
      const epoch = BigInt(message["epoch"] as bigint | number);
      if (this.epoch !== 0n && this.epoch !== epoch) {
        this.#tell("epoch_changed", undefined, `${this.epoch} to ${epoch}`);
        for (const { sink } of this.#subscriptions.values()) sink.lose(true);
      }
      this.epoch = epoch;
    }
  }
}
