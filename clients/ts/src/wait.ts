// Waiting: for a time, for a change, and in a queue that has an end.

import { Closed, Overrun } from "./errors.js";
import type { PerpdError } from "./errors.js";

/** Ends after so many ms; Closed as soon as the signal is aborted. */
export function pause(ms: number, closing: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (closing.aborted) {
      reject(new Closed("the client is closed"));
      return;
    }
    const stop = (): void => {
      clearTimeout(timer);
      reject(new Closed("the client is closed"));
    };
    const timer = setTimeout(() => {
      closing.removeEventListener("abort", stop);
      resolve();
    }, Math.max(0, ms));
    closing.addEventListener("abort", stop, { once: true });
  });
}

/** Ends with `first`, whose error it throws, or after so many ms; Closed. */
export async function pauseAtMost(ms: number, first: Promise<void>, closing: AbortSignal)
  : Promise<void> {
  const over = new AbortController();
  try {
    await Promise.race([first, pause(ms, AbortSignal.any([closing, over.signal]))]);
  } finally {
    over.abort();
  }
}

/** Wakes every waiter each time something changed; `count` says how often it did. */
export class Signal {
  count = 0;
  #error: PerpdError | undefined;
  #waiters = new Set<() => void>();

  tell(error?: PerpdError): void {
    this.count += 1;
    this.#error ??= error;
    const waiters = [...this.#waiters];
    this.#waiters.clear();
    for (const wake of waiters) wake();
  }

  /** Waits until the count is above this one; the new count, or undefined once the signal of the
   * waiter is aborted. Throws what `tell` was given. */
  async after(count: number, stop?: AbortSignal): Promise<number | undefined> {
    while (this.count <= count && !(stop?.aborted ?? false)) {
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          stop?.removeEventListener("abort", wake);
          this.#waiters.delete(wake);
          resolve();
        };
        this.#waiters.add(wake);
        stop?.addEventListener("abort", wake, { once: true });
      });
    }
    if (stop?.aborted ?? false) return undefined;
    if (this.#error !== undefined) throw this.#error;
    return this.count;
  }
}

/** A bounded queue of one consumer. It ends with Overrun rather than lose a value. */
export class Consumer<Value> {
  #values: Value[] = [];
  #signal = new Signal();
  #error: PerpdError | undefined;

  constructor(private readonly room: number) {}

  put(value: Value): void {
    if (this.#error !== undefined) return;
    if (this.#values.length === this.room) {
      this.end(new Overrun(`${this.room} values were not taken in time`));
      return;
    }
    this.#values.push(value);
    this.#signal.tell();
  }

  end(error: PerpdError): void {
    this.#error ??= error;
    this.#signal.tell();
  }

  /** The next value; undefined once `stop` is aborted. */
  async next(stop?: AbortSignal): Promise<Value | undefined> {
    for (;;) {
      const value = this.#values.shift();
      if (value !== undefined) return value;
      if (this.#error !== undefined) throw this.#error;
      if (await this.#signal.after(this.#signal.count, stop) === undefined) return undefined;
    }
  }
}
