// What an account may send, kept here: a request waits for its turn rather than be refused. Cancels and
// reductions have a bucket of their own and wait behind no placement; nor does the dead-man, whose time
// would be over.

import { Lost, PerpdError } from "./errors.js";
import { pause, pauseAtMost } from "./wait.js";
import type { Bodies } from "./wire.gen.js";

const CANCELS: ReadonlySet<keyof Bodies> = new Set<keyof Bodies>(["order_reduction", "order_cancel",
  "cancel_all_orders", "conditional_order_cancel"]); // W8
const LOOK_MS = 5000;
const NEVER = new AbortController().signal;

type Members = Readonly<Record<string, unknown>>;

/** A count of tokens; Lost (arrived) where it is none: somebody else answered. */
function tokens(members: unknown, name: string): number {
  const value = (members as Members | null | undefined)?.[name];
  if (typeof value === "number" && value >= 0) return value;
  throw new Lost(`an answer of GET /limits with ${name} ${String(value)}`, true);
}

/** Tokens that come at a rate, at most a burst of them. Who needs more than there are waits; the first
 * to come is the first to go on. */
class Bucket {
  #rate = 0; // a millisecond
  #burst = 0;
  #left = 0;
  #atMs: number;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(private readonly nowMs: () => number) {
    this.#atMs = nowMs();
  }

  /** What is in force; `left`: the tokens that the exchange says are there. */
  set(rate: number, burst: number, left: number | undefined): void {
    this.#fill();
    this.#rate = rate / 1000;
    this.#burst = burst;
    this.#left = Math.min(burst, left ?? this.#left);
  }

  #fill(): void {
    const nowMs = this.nowMs();
    const more = Math.max(0, nowMs - this.#atMs) * this.#rate;
    this.#left = Math.min(this.#burst, this.#left + more);
    this.#atMs = Math.max(this.#atMs, nowMs);
  }

  /** The exchange has less: after this time what was refused may be sent (W8). */
  refused(afterMs: number, cost: number): void {
    this.#fill();
    this.#left = Math.min(this.#left, Math.min(cost, this.#burst) - afterMs * this.#rate);
  }

  /** How long until a request of this cost may be sent; 0: now. One that costs more than the bucket
   * holds waits until it is full. */
  #waitMs(cost: number): number {
    if (this.#rate <= 0) return 0;
    this.#fill();
    return Math.max(0, (Math.min(cost, this.#burst) - this.#left) / this.#rate);
  }

  /** Takes the tokens at once, also those that are not there: who comes behind waits longer. */
  owe(cost: number): void {
    this.#fill();
    this.#left -= cost;
  }

  /** Takes the tokens, once they are there. While they are not `waits` is called, again and again: what
   * an exchange refused may have been for another reason, and be over. It is not waited for longer than
   * for the tokens. Who is `gone` takes none, and nobody waits behind him. Closed. */
  async take(cost: number, waits: () => Promise<void>, closing: AbortSignal, gone: AbortSignal)
    : Promise<void> {
    const before = this.#turn;
    const turn = (async (): Promise<void> => {
      await before;
      const end = AbortSignal.any([closing, gone]);
      try {
        for (let waitMs = this.#waitMs(cost); waitMs > 0 && !gone.aborted;
          waitMs = this.#waitMs(cost)) {
          await pauseAtMost(Math.min(waitMs, LOOK_MS), waits(), end);
          await pause(Math.min(waitMs, this.#waitMs(cost), LOOK_MS), end);
        }
      } catch (error) {
        if (closing.aborted || !gone.aborted) throw error;
      }
      if (!gone.aborted) this.#left -= cost;
    })();
    this.#turn = turn.catch(() => undefined);
    await turn;
  }
}

/** The two of an account. `look` reads GET /limits. */
export class Buckets {
  readonly #writes: Bucket;
  readonly #cancels: Bucket;
  #lookedMs = -LOOK_MS;
  #isLooking = false;

  constructor(private readonly look: () => Promise<unknown>,
    private readonly nowMs: () => number = () => performance.now()) {
    this.#writes = new Bucket(nowMs);
    this.#cancels = new Bucket(nowMs);
  }

  /** What is in force now: an account that has been funded has more. Problem, Lost. */
  async refresh(): Promise<void> {
    this.#lookedMs = this.nowMs();
    const shown = await this.look() as Members | null;
    const [rate, burst] = [tokens(shown?.["limits"], "write_rate"),
      tokens(shown?.["limits"], "write_burst")];
    const left = (name: string): number | undefined =>
      (shown?.["remaining"] as Members | null | undefined)?.[name] === undefined ? undefined
        : tokens(shown?.["remaining"], name);
    const [write, cancel] = [left("write"), left("cancel")];
    const inForce = shown?.["rate_limits"] === true ? rate : 0;
    this.#writes.set(inForce, burst, write);
    this.#cancels.set(2 * inForce, 2 * burst, cancel);
  }

  async #waits(): Promise<void> {
    if (this.#isLooking || this.nowMs() - this.#lookedMs < LOOK_MS) return;
    this.#isLooking = true;
    try {
      await this.refresh();
    } catch (error) {
      if (!(error instanceof PerpdError)) throw error; // what was in force goes on
    } finally {
      this.#isLooking = false;
    }
  }

  #of(name: keyof Bodies): Bucket {
    return CANCELS.has(name) ? this.#cancels : this.#writes;
  }

  /** Waits until the exchange will take a request of this name and cost, or it is `gone`, for nobody
   * wants it any more; the dead-man goes at once. Closed. */
  async take(name: keyof Bodies, cost: number, closing: AbortSignal, gone = NEVER): Promise<void> {
    if (name === "schedule_cancel_all") {
      this.#writes.owe(cost);
      return;
    }
    await this.#of(name).take(cost, () => this.#waits(), closing, gone);
  }

  /** A request of this name and cost was above the account's rate. */
  refused(name: keyof Bodies, afterMs: number, cost = 1): void {
    this.#of(name).refused(afterMs, cost);
  }
}
