/* The one WebSocket of a page: it comes back by itself and subscribes to everything again. */
import { API, get } from './api';
import { serverNow } from './clock';
import { type Int, big, parseJson } from './json';
import { Model } from './model';
import { type Frame, type Listener, type Refusal, Subscription, type Topic, topicKey } from './subscription';

export type Status = { state: string; lag_ms: number; text?: string; maintenance_at_ns?: Int; insurance_fund_deficit?: boolean };

export type ChipState =
  | 'connecting'
  | 'loading'
  | 'live'
  | 'lagging'
  | 'gap'
  | 'stale'
  | 'reconnecting'
  | 'slow'
  | 'partial'
  | 'draining';

const SILENCE_MS = 12_000;
const LAG_MS = 500;
const FRAME_AGE_MS = 2_000;
const WAIT_FIRST_MS = 250;
const WAIT_MAX_MS = 10_000;
const SLOW_CODE = 4008;
const SLOW_WINDOW_MS = 60_000;
/** Problems of a key or of what is asked; others go by. */
const LASTS = /^invalid|^read_only|permitted$/;

export class Stream extends Model {
  readonly subscriptions = new Map<string, Subscription>();
  status: Status | null = null;
  isOpen = false;
  attempt = 0;
  retryAt = 0;
  staleSince: number | null = null;
  isSlow = false;
  /** Whether the exchange answers reads and yet gives no stream. */
  isRefused = false;
  /** Called when streams are of another epoch than before. */
  onEpoch: () => void = () => {};
  /** Called when a connection has come back. */
  onReturn: () => void = () => {};
  /** Called each second, and by each message. */
  onWord: () => void = () => {};
  /** Called when the key of a login is refused. */
  onRefusedLogin: (problem: { code: string }) => void = () => {};
  /** Whether the account's orders shall end when this connection breaks. */
  isArmWanted = false;
  /** Whether they do; null: that has been asked for, and is not known. */
  isArmed: boolean | null = false;
  /** Why that was refused. */
  armProblem: string | null = null;
  /** Whether the exchange has said so on this connection. */
  #isHeld = false;
  /** Of what the exchange has armed, or may have. */
  #armId: string | null = null;
  /** Whether something was refused that will be given soon. */
  #isAgain = false;
  #apiKey: string | null = null;
  #grace = 0;
  #socket: WebSocket | null = null;
  #timer = 0;
  #epoch: bigint | null = null;
  #slowAt: number[] = [];
  #frameAge = 0;
  #ids = 0;
  /** Subscriptions by the ids of the ops that ask for them. */
  #asked = new Map<number, Subscription>();

  start(): void {
    this.subscribe({ channel: 'status' }, {
      snapshot: (data) => (this.status = data),
      update: (data) => (this.status = data),
    });
    this.#connect();
    setInterval(() => this.#watch(), 1000);
    addEventListener('online', () => this.retry());
    // Browsers keep a page that was left, and with it its connection: what is armed would wait for ever.
    addEventListener('pagehide', () => {
      this.#leave();
      clearTimeout(this.#timer);
    });
    addEventListener('pageshow', () => this.retry());
    document.addEventListener('visibilitychange', () => document.hidden || this.retry());
  }

  subscribe(topic: Topic, listener: Listener): Subscription {
    const added = new Subscription(topic, listener);
    this.subscriptions.set(added.key, added);
    this.#subscribe(added);
    this.changed();
    return added;
  }

  unsubscribe(topic: Topic): void {
    if (!this.subscriptions.delete(topicKey(topic))) return;
    this.#ask('unsubscribe', { channel: topic.channel, market: topic.market });
    this.changed();
  }

  /** Logs in with this key, on every connection. Null: the next one is nobody's, and is made at once. */
  login(apiKey: string | null): void {
    this.#apiKey = apiKey;
    if (apiKey !== null) return this.#ask('login', { api_key: apiKey });
    const socket = this.#socket;
    this.isOpen = false;
    this.#armId = null;
    this.isArmWanted = this.isArmed = false;
    this.armProblem = null;
    this.#connect();
    socket?.close();
    this.changed();
  }

  /** Arms and disarms what ends the orders of the logged in account once this connection has been broken for `graceMs`; said again on each
   * connection, until the exchange has acknowledged that nothing is armed. */
  arm(isOn: boolean, graceMs: number): void {
    this.#armId ??= crypto.randomUUID();
    this.isArmWanted = isOn;
    this.#grace = graceMs;
    this.#askArm();
    this.changed();
  }

  #askArm(): void {
    if (this.#armId === null) return;
    this.isArmed = null;
    this.#ask('cancel_on_disconnect', { arm_id: this.#armId, subaccount_index: 0, enabled: this.isArmWanted, grace_ms: this.#grace });
  }

  /** Says whose connection it is, and what is armed on it. */
  #introduce(): void {
    this.#isAgain = false;
    if (this.#apiKey !== null) this.#ask('login', { api_key: this.#apiKey });
    this.#askArm();
  }

  /** Asks for a new snapshot of a subscription. */
  refresh(subscription: Subscription): void {
    this.#subscribe(subscription);
    this.changed();
  }

  /** Connects at once, if there is no connection. */
  retry(): void {
    if (this.#socket === null) this.#connect();
  }

  get state(): ChipState {
    const states = [...this.subscriptions.values()].map((one) => one.state);
    if (!this.isOpen) return this.attempt === 0 ? 'connecting' : this.isSlow ? 'slow' : 'reconnecting';
    if (states.includes('stale')) return 'stale';
    if (states.includes('gap')) return 'gap';
    if (states.includes('loading')) return 'loading';
    if (states.includes('refused')) return 'partial';
    if (this.status?.state === 'draining') return 'draining';
    const lags = (this.status?.lag_ms ?? 0) > LAG_MS || this.#frameAge > FRAME_AGE_MS;
    return lags || this.status?.state === 'lagging' ? 'lagging' : 'live';
  }

  get lagMs(): number {
    return Math.max(0, this.#frameAge);
  }

  /** Two ends for slowness within a minute: books become shorter. */
  #wanted(topic: Topic): Topic {
    return topic.depth !== undefined && this.#slowAt.length >= 2 ? { ...topic, depth: 10 } : topic;
  }

  #subscribe(subscription: Subscription): void {
    subscription.asked();
    if (!this.isOpen) return;
    this.#asked.set(++this.#ids, subscription);
    const wanted = this.#wanted(subscription.topic);
    subscription.depth = wanted.depth;
    this.#ask('subscribe', { ...wanted, id: this.#ids });
  }

  #ask(op: string, members: object): void {
    const socket = this.#socket;
    // One that is being closed is open still until its `close` event comes.
    if (this.isOpen && socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ op, ...members }));
  }

  #connect(): void {
    clearTimeout(this.#timer);
    const address = `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}${API}/stream`;
    const socket = new WebSocket(address);
    this.#socket = socket;
    socket.onopen = () => this.#socket === socket && this.#opened();
    socket.onmessage = (event) => this.#socket === socket && this.#message(event.data as string);
    socket.onclose = (event) => this.#socket === socket && this.#closed(event.code);
  }

  #opened(): void {
    this.isOpen = true;
    this.#asked.clear();
    this.#isHeld = false;
    if (this.attempt > 0) this.onReturn();
    this.attempt = 0;
    this.isSlow = false;
    this.isRefused = false;
    this.#introduce();
    for (const subscription of this.subscriptions.values()) this.#subscribe(subscription);
    this.changed();
  }

  #leave(): void {
    const socket = this.#socket;
    this.#closed(0);
    socket?.close();
  }

  #closed(code: number): void {
    const now = performance.now();
    if (!this.isOpen && this.attempt >= 2) void this.#probe();
    this.#socket = null;
    this.isOpen = false;
    this.isSlow = code === SLOW_CODE;
    if (this.isSlow) this.#slowAt.push(now);
    this.#slowAt = this.#slowAt.filter((at) => now - at < SLOW_WINDOW_MS);
    this.staleSince ??= Date.now();
    const wait = Math.min(WAIT_MAX_MS, WAIT_FIRST_MS * 2 ** this.attempt++) * (0.8 + 0.4 * Math.random());
    this.retryAt = now + wait;
    this.#timer = window.setTimeout(() => this.#connect(), wait);
    this.changed();
  }

  /** Finds out whether it is the stream alone that the exchange refuses, of which browsers say nothing. */
  async #probe(): Promise<void> {
    const answers = await get('/time').then(() => true, () => false);
    if (!this.isOpen) this.isRefused = answers;
    this.changed();
  }

  #message(text: string): void {
    this.onWord();
    const message = parseJson(text);
    if (message.op !== undefined) this.#replied(message);
    else this.#frame(message as Frame);
  }

  #replied(message: { op: string; id?: number; epoch?: Int; problem?: Refusal; enabled?: boolean; arm_id?: string }): void {
    const { op, problem } = message;
    const subscription = this.#asked.get(message.id ?? 0);
    if (subscription !== undefined) {
      this.#asked.delete(message.id!);
      if (problem !== undefined) {
        subscription.refused(problem);
        this.changed();
      }
    }
    if (op === 'cancel_on_disconnect' && this.#armId !== null) {
      this.armProblem = problem?.code ?? null;
      if (message.arm_id === this.#armId) this.isArmed = this.#isHeld = message.enabled!;
      else if (problem !== undefined && LASTS.test(problem.code)) this.isArmWanted = this.isArmed = this.#isHeld;
      if (!this.isArmWanted && this.isArmed === false) this.#armId = null;
      this.changed();
    }
    if (problem !== undefined && (op === 'login' || op === 'cancel_on_disconnect')) {
      if (!LASTS.test(problem.code)) this.#isAgain = true;
      else if (op === 'login') this.onRefusedLogin(problem);
    }
    if (message.epoch === undefined) return;
    const epoch = big(message.epoch);
    const other = this.#epoch !== null && this.#epoch !== epoch;
    this.#epoch = epoch;
    if (other) this.onEpoch();
  }

  #frame(frame: Frame): void {
    const subscription = this.subscriptions.get(topicKey(frame));
    if (subscription === undefined) return; // of a subscription that has ended
    const before = subscription.state;
    const follows = subscription.accept(frame);
    if (frame.channel === 'status') this.#frameAge = 0; // its time is that of the newest command
    else if (frame.type === 'update') this.#frameAge = serverNow() - Number(big(frame.time_ns) / 1000000n);
    if (!follows) this.#again(subscription);
    if (subscription.state === 'live') this.staleSince = null;
    if (subscription.state !== before || frame.channel === 'status') this.changed();
  }

  /** Asks again for what was refused, which it stays until its snapshot comes. */
  #retry(subscription: Subscription): void {
    this.#subscribe(subscription);
    subscription.waitsRefused();
  }

  /** Asks for the whole of what did not follow, which stays as it was until then. */
  #again(subscription: Subscription): void {
    this.#subscribe(subscription);
    subscription.state = 'gap';
  }

  /** Once a second: rates, refusals that may be over, and subscriptions from which nothing has come for too long. */
  #watch(): void {
    this.onWord();
    const now = performance.now();
    for (const subscription of this.subscriptions.values()) {
      subscription.measure(now);
      if (!this.isOpen) continue;
      if (now > subscription.askAt) this.#retry(subscription);
      if (subscription.state !== 'refused' && now - subscription.lastAt > SILENCE_MS) {
        subscription.state = 'stale';
        this.staleSince ??= Date.now();
      }
    }
    if (this.isOpen && this.#isAgain) this.#introduce();
    if (this.isOpen && this.state === 'stale') this.#leave();
    this.changed();
  }
}
