/* How long all requests took to each of their stages, as the exchange counts it: read each second, of a window or since it began. */
import { Problem, get } from './api';
import { type Buckets, bucketQuantile, bucketsSince } from './metrics';
import { Model } from './model';

const PERIOD_MS = 1000;
const KEPT = 130; // two minutes and some

/** What windows a pane offers, in seconds; 0: since the exchange began to count. */
export const WINDOWS = [10, 60, 0] as const;
export type Window = (typeof WINDOWS)[number];

export const STAGE_TEXT: Record<string, string> = {
  verified: 'signature checked', pushed: 'handed over', sequenced: 'given its sequence', matched: 'matched', released: 'durable', sent: 'answer sent', read: 'reads answered',
};

/** Each stage's counts at or below rising bounds in ns, at a time of performance.now(). */
export type Reading = { at: number; since: bigint; stages: ReadonlyMap<string, Buckets> };

/** An answer of GET /latency, whose buckets count what no other one does. */
export function readingOf(body: any, at: number): Reading {
  const stages = body.stages.map((row: any) => {
    let sum = 0;
    return [row.stage, row.buckets.map(([upper, count]: [number | bigint, number]) => [Number(upper), (sum += Number(count))] as const)] as const;
  });
  return { at, since: BigInt(body.since_ns), stages: new Map(stages) };
}

/** What a stage counted in the window that ends with `last`; null: there is no reading from its begin. */
export function within(readings: readonly Reading[], last: Reading, stage: string, window: Window): Buckets | null {
  const all = last.stages.get(stage) ?? [];
  if (window === 0) return all;
  const before = readings.findLast((one) => one.since === last.since && one.at <= last.at - window * 1000 + PERIOD_MS / 2);
  return before === undefined ? null : bucketsSince(all, before.stages.get(stage) ?? []);
}

export class Stages extends Model {
  readings: Reading[] = [];
  /** Why there is nothing to show. */
  problem: string | null = null;
  #timer = 0;

  /** Reads from now on until the function that it gives is called. */
  start(): () => void {
    const again = () => void this.#read();
    again();
    this.#timer = window.setInterval(again, PERIOD_MS);
    return () => clearInterval(this.#timer);
  }

  async #read(): Promise<void> {
    if (document.hidden) return;
    try {
      this.readings.push(readingOf(await get('/latency'), performance.now()));
      if (this.readings.length > KEPT) this.readings.shift();
      this.problem = null;
    } catch (caught) {
      const { code, message } = caught as Problem;
      this.problem = code === 'not_found' ? 'This exchange keeps the times of its stages to itself (net.latency).' : message;
      if (code === 'not_found') clearInterval(this.#timer);
    }
    this.changed();
  }

  /** A quantile of a stage, in ns; null: of too few it says nothing. */
  quantile(stage: string, window: Window, thousandths: number, last = this.readings.at(-1)): number | null {
    const found = last === undefined ? null : within(this.readings, last, stage, window);
    return found === null ? null : bucketQuantile(found, thousandths);
  }

  count(stage: string, window: Window): number | null {
    const last = this.readings.at(-1);
    const found = last === undefined ? null : within(this.readings, last, stage, window);
    return found === null ? null : (found.at(-1)?.[1] ?? 0);
  }
}
