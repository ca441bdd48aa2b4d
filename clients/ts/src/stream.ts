// One WebSocket for every subscription: it comes back by itself, subscribes again, checks the order of
// frames, and takes silence for death.

import { Fault } from "./book.js";
import { Closed, Lost, PerpdError, Problem } from "./errors.js";
import type { Answer } from "./http.js";
import { formatJson, parseJson } from "./json.js";
import type { Sink } from "./sinks.js";
import { Socket } from "./socket.js";
import type { SocketClass } from "./socket.js";
import type { Frame } from "./views.js";
import { pause, Signal } from "./wait.js";

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 10_000;
const SILENCE_MS = 12_000; // two heartbeats and two seconds
const EVENTS_KEPT = 1000;
const TOO_MANY = 429;
const SERVER_FAULT = 500;
const OK = 200;
const FOR_GOOD: ReadonlySet<number> = new Set([401, 403]);
const ARM = "cancel_on_disconnect";
export const PRIVATE = "private";

type Message = Readonly<Record<string, unknown>>;

/** What happened to the connection ("reconnecting", "epoch_changed"), to an arm of cancel-on-disconnect
 * ("armed" again, "disarmed" by a refusal), or to a subscription. */
export interface Event {
  readonly kind: "live" | "gap" | "stale" | "reconnecting" | "epoch_changed" | "resumed"
    | "armed" | "disarmed";
  readonly channel: string;
  readonly market: string;
  readonly detail: string;
}

/** Cancel-on-disconnect of one subaccount: when the connection is lost and it is not armed again within
 * the grace, the exchange cancels its orders (wire.md W9). */
export class Arm {
  readonly id: string = crypto.randomUUID();

  constructor(readonly subaccountIndex: number, readonly graceMs: number) {}

  members(enabled: boolean): object {
    return { arm_id: this.id, subaccount_index: this.subaccountIndex, enabled,
      grace_ms: this.graceMs };
  }
}

/** One channel of one market, and what was seen of it. One with `caughtUp` goes on after a break by the
 * op `resume`, and that is called when nothing of the break is still to come. */
export class Subscription {
  users = 0;
  last: bigint | undefined; // the newest that the sink has taken
  seq: bigint | undefined; // undefined: a snapshot is awaited
  heardMs = performance.now();
  gaps = 0;

  constructor(readonly channel: string, readonly market: string, readonly sink: Sink,
    readonly depth: number | undefined, readonly caughtUp?: (() => void) | undefined) {}

  get resumes(): boolean {
    return this.caughtUp !== undefined && this.last !== undefined;
  }

  get key(): string {
    return `${this.channel} ${this.market}`;
  }

  op(name: "subscribe" | "unsubscribe" | "resume", id: number): string {
    return formatJson({ op: name, id, channel: this.channel,
      ...(name === "resume" && { from_seq: this.last }),
      ...(this.market !== "" && { market: this.market }),
      ...(this.depth !== undefined && name === "subscribe" && { depth: this.depth }) });
  }
}

export interface StreamOptions {
  readonly WebSocket?: SocketClass | undefined;
  readonly silenceMs?: number | undefined;
  readonly firstWaitMs?: number | undefined;
  /** What to log in with. */
  readonly apiKey?: (() => string) | undefined;
}

interface Call {
  readonly done: (reply: Message) => void;
  readonly fail: (error: PerpdError) => void;
}

/** What owns the socket. It is connected while there is a subscription. */
export class Stream {
  epoch = 0n;
  reconnections = 0;
  /** Called when another epoch is told. */
  onEpoch: () => void = () => undefined;
  readonly #subscriptions = new Map<string, Subscription>();
  readonly #asked = new Map<number, Subscription>();
  readonly #calls = new Map<number, Call>();
  readonly #pings = new Map<number, Subscription>();
  readonly #arms = new Map<string, Arm>();
  readonly #ready = new Signal();
  #isReady = false; // logged in
  #mayLogIn: boolean;
  readonly #events: Event[] = [];
  readonly #signal = new Signal();
  readonly #closing = new AbortController();
  readonly #silenceMs: number;
  readonly #firstWaitMs: number;
  #number = 0;
  #socket: Socket | undefined;
  #task: Promise<void> | undefined;

  readonly #addresses: readonly string[];

  constructor(address: string | readonly string[], private readonly options: StreamOptions = {}) {
    this.#addresses = typeof address === "string" ? [address] : address;
    this.#silenceMs = options.silenceMs ?? SILENCE_MS;
    this.#firstWaitMs = options.firstWaitMs ?? FIRST_WAIT_MS;
    this.#mayLogIn = options.apiKey !== undefined;
  }

  /** The subscription of this channel, which `release` gives back. All users of a channel share its
   * sink; RangeError when they want books of different depth. */
  subscribe(channel: string, market: string, make: () => Sink, depth?: number,
    caughtUp?: () => void): Subscription {
    if (this.#closing.signal.aborted) throw new Closed("the client is closed");
    let found = this.#subscriptions.get(`${channel} ${market}`);
    if (found === undefined) {
      found = new Subscription(channel, market, make(), depth, caughtUp);
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

  /** The reply to an op that is no subscription; `members`: JSON without braces. Lost (arrived): it may
   * have been sent, and there is none. */
  #call(op: string, members: string, timeoutMs: number): Promise<Message> {
    const socket = this.#socket;
    if (socket === undefined) return Promise.reject(new Lost("the stream is away", false));
    this.#number += 1;
    const number = this.#number;
    return new Promise<Message>((done, fail) => {
      const timer = setTimeout(() => fail(new Lost(`no reply to ${op}`, true)), timeoutMs);
      const end = (): void => {
        clearTimeout(timer);
        this.#calls.delete(number);
      };
      this.#calls.set(number, { done: (reply) => {
        end();
        done(reply);
      }, fail: (error) => {
        end();
        fail(error);
      } });
      try {
        socket.send(`{"op":"${op}","id":${number},${members}}`);
      } catch (error) {
        end();
        fail(error instanceof Lost ? error : new Lost(String(error), true));
      }
    });
  }

  /** What the exchange says of a signed request, as over HTTP; undefined when there is no connection
   * that is logged in. Lost: it may have been sent, and nothing came. */
  async signed(envelope: string, timeoutMs: number): Promise<Answer | undefined> {
    if (!this.#isReady) return undefined;
    const sentMs = performance.now();
    const reply = await this.#call("signed", `"ack":"full",${envelope.slice(1, -1)}`, timeoutMs);
    const problem = reply["problem"] as Message | undefined;
    const headers = new Headers();
    if (problem?.["retry_after_ms"] !== undefined) {
      headers.set("retry-after", String(Math.ceil(Number(problem["retry_after_ms"]) / 1000)));
    }
    return { status: problem === undefined ? OK : Number(problem["status"]), headers,
      text: formatJson(problem ?? reply), sentMs, gotMs: performance.now() };
  }

  /** Arms it, and again after each break. Problem: it was refused. Lost: it was disarmed. */
  async arm(arm: Arm): Promise<void> {
    this.#arms.set(arm.id, arm);
    for (;;) {
      while (!this.#isReady) await this.#ready.after(this.#ready.count);
      try {
        await this.#hold(arm);
        return;
      } catch (error) {
        if (!(error instanceof Lost) || !this.#arms.has(arm.id)) throw error;
        await pause(this.#firstWaitMs, this.#closing.signal);
      }
    }
  }

  /** The orders stay when the connection is lost. Lost, Problem: it may still be armed. */
  async disarm(arm: Arm): Promise<void> {
    this.#arms.delete(arm.id);
    goodReply(await this.#call(ARM, formatJson(arm.members(false)).slice(1, -1), this.#silenceMs));
  }

  /** Arms it on this connection, as often as that takes. Lost: the connection has ended, or it was
   * disarmed. Problem: refused for good. */
  async #hold(arm: Arm): Promise<void> {
    const socket = this.#socket;
    while (socket !== undefined && this.#socket === socket && this.#arms.has(arm.id)) {
      let waitMs = this.#firstWaitMs;
      try {
        goodReply(await this.#call(ARM, formatJson(arm.members(true)).slice(1, -1),
          this.#silenceMs));
        return;
      } catch (error) { // after Lost the condition says whether the connection has ended
        if (!(error instanceof Problem || error instanceof Lost)) throw error;
        if (error instanceof Problem) {
          const mayPass = error.http >= SERVER_FAULT;
          if (this.#addresses.length > 1 && (mayPass || error.code === "not_leader")) {
            socket.close(); // another node may do it
            throw new Lost(error.message, true);
          }
          if (!mayPass && error.http !== TOO_MANY) {
            this.#arms.delete(arm.id);
            throw error;
          }
          waitMs = Math.max(waitMs, Number(error.members["retry_after_ms"] ?? 0));
        }
      }
      await pause(waitMs, this.#closing.signal);
    }
    throw new Lost("the connection has ended, or it was disarmed", true);
  }

  async #armAgain(arm: Arm): Promise<void> {
    try {
      await this.#hold(arm);
      this.#tell("armed", undefined, arm.id);
    } catch (error) {
      if (error instanceof Problem) this.#tell("disarmed", undefined, `${arm.id}: ${error.message}`);
    } // after Lost the next connection arms it
  }

  /** Problem: the key is refused. */
  async #logIn(socket: Socket): Promise<void> {
    if (!this.#mayLogIn || this.options.apiKey === undefined) return;
    socket.send(JSON.stringify({ op: "login", id: 0, api_key: this.options.apiKey() }));
    const message = await socket.receive(this.#silenceMs);
    if (message === undefined) throw new Lost("no reply to login", true);
    try {
      goodReply(this.read(message));
    } catch (error) { // 503: of a node that does not know the key yet
      throw error instanceof Problem && error.http >= SERVER_FAULT
        ? new Lost(error.message, true) : error;
    }
    this.#isReady = true;
  }

  /** A login or a read for a subscription was refused: what needs the key ends if that is for good. */
  #refused(problem: Problem): void {
    if (!FOR_GOOD.has(problem.http)) return;
    this.#mayLogIn = false;
    this.#arms.clear();
    this.#ready.tell(problem);
    const subscription = this.#subscriptions.get(`${PRIVATE} `);
    this.#subscriptions.delete(`${PRIVATE} `);
    subscription?.sink.fail(problem);
  }

  #leave(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    this.#isReady = false;
    for (const call of [...this.#calls.values()]) call.fail(new Lost("the stream broke", true));
    this.#asked.clear();
    this.#pings.clear();
    socket?.close();
    for (const subscription of this.#subscriptions.values()) {
      subscription.sink.lose();
      subscription.seq = undefined;
    }
  }

  /** Ends the socket and every iteration, with Closed. */
  close(): void {
    this.#closing.abort();
    this.#socket?.close();
    const error = new Closed("the client is closed");
    for (const { sink } of this.#subscriptions.values()) sink.fail(error);
    for (const call of [...this.#calls.values()]) call.fail(error);
    this.#ready.tell(error);
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
        await this.#logIn(this.#socket);
        for (const arm of this.#arms.values()) void this.#armAgain(arm); // first: their graces run
        this.#ready.tell();
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
        if (error instanceof Problem) this.#refused(error);
      }
      this.#leave();
      await pause(waitMs * (0.8 + 0.4 * Math.random()), this.#closing.signal)
        .catch(() => undefined);
      waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS);
    }
  }

  /** Of several nodes the one behind that which the last connection was to. */
  protected get address(): string {
    return this.#addresses[this.reconnections % this.#addresses.length] ?? "";
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
      if (!subscription.resumes) {
        socket.send(subscription.op("subscribe", this.#number));
        return;
      }
      socket.send(subscription.op("resume", this.#number));
      this.#number += 1; // answered behind what the resume sends
      this.#pings.set(this.#number, subscription);
      socket.send(JSON.stringify({ op: "ping", id: this.#number }));
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
      subscription.last = frame.seq;
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      subscription.last = undefined;
      this.#gap(subscription, error.message);
    }
  }

  #gap(subscription: Subscription, detail: string): void {
    subscription.gaps += 1;
    subscription.sink.lose();
    this.#tell("gap", subscription, detail);
    if (this.#socket !== undefined) this.#ask(this.#socket, subscription);
  }

  #reply(message: Message): void {
    const id = Number(message["id"] ?? 0);
    const subscription = this.#asked.get(id);
    this.#asked.delete(id);
    const ping = this.#pings.get(id);
    if (ping !== undefined) {
      this.#pings.delete(id);
      if (ping.seq !== undefined) ping.caughtUp?.();
      return;
    }
    this.#calls.get(id)?.done(message);
    if (subscription === undefined) return;
    const problem = message["problem"] as Message | undefined;
    if (problem !== undefined) {
      this.#refuse(subscription, problem);
      return;
    }
    const epoch = BigInt(message["epoch"] as bigint | number);
    const isOther = this.epoch !== 0n && this.epoch !== epoch;
    if (isOther) {
      this.#tell("epoch_changed", undefined, `${this.epoch} to ${epoch}`);
      for (const each of this.#subscriptions.values()) {
        each.sink.lose(true);
        each.last = undefined;
      }
      this.onEpoch();
    }
    this.epoch = epoch;
    if (message["op"] !== "resume") return;
    // Another epoch may have been told by an earlier reply: then nothing is left to resume.
    if (isOther || subscription.last === undefined) {
      if (this.#socket !== undefined) this.#ask(this.#socket, subscription);
    } else {
      subscription.seq = BigInt(message["from_seq"] as bigint | number);
      this.#tell("resumed", subscription);
    }
  }

  #refuse(subscription: Subscription, problem: Message): void {
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
  }
}

/** Problem where the reply is one. */
function goodReply(reply: Message): void {
  const problem = reply["problem"] as Message | undefined;
  if (problem !== undefined) throw new Problem(Number(problem["status"]), problem);
}
