/* The text of /metrics, and what two readings of it differ by. */

/** A sample: its labels, and its value as it was written. */
export type Sample = { labels: Record<string, string>; text: string };

const LINE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;

const plain = (text: string) => text.replace(/\\(.)/g, (_, one: string) => (one === 'n' ? '\n' : one));

/** A page of /metrics at a time of performance.now(). */
export class Metrics {
  readonly #samples = new Map<string, Sample[]>();

  constructor(text: string, readonly at: number) {
    for (const line of text.split('\n')) {
      const found = line.startsWith('#') ? null : LINE.exec(line);
      if (found === null) continue;
      const labels = Object.fromEntries([...(found[2] ?? '').matchAll(LABEL)].map((one) => [one[1], plain(one[2])]));
      const sample = { labels, text: found[3] };
      const list = this.#samples.get(found[1]);
      if (list === undefined) this.#samples.set(found[1], [sample]);
      else list.push(sample);
    }
  }

  /** The samples of a metric, without `perpd_` before its name. */
  all(name: string): Sample[] {
    return this.#samples.get(`perpd_${name}`) ?? [];
  }

  /** The text of the sample with these labels among its own; null: it is not there. */
  text(name: string, labels: Record<string, string> = {}): string | null {
    const fits = (sample: Sample) => Object.entries(labels).every(([key, value]) => sample.labels[key] === value);
    return this.all(name).find(fits)?.text ?? null;
  }

  /** The same as a number, for counts and times; amounts of money are read as text. */
  value(name: string, labels: Record<string, string> = {}): number | null {
    const text = this.text(name, labels);
    return text === null ? null : Number(text);
  }
}

/** How much a counter rises in a second; null: it is in only one of the readings, or began at 0 between them. */
export function perSecond(now: Metrics, before: Metrics | null, name: string, labels: Record<string, string> = {}): number | null {
  const [last, first] = [now.value(name, labels), before?.value(name, labels) ?? null];
  if (before === null || last === null || first === null || last < first || now.at <= before.at) return null;
  return ((last - first) * 1000) / (now.at - before.at);
}

/** Counts at or below rising bounds: [bound, count]. */
export type Buckets = readonly (readonly [bound: number, count: number])[];

/** What a histogram has more of than it had before; null: it began at 0 again. Bounds that are new had nothing before. */
export function bucketsSince(now: Buckets, before: Buckets): Buckets | null {
  const had = new Map(before);
  let missing = 0; // what was at or below the greatest known bound passed so far
  const since = now.map(([bound, count]) => [bound, count - (missing = had.get(bound) ?? missing)] as const);
  return since.some(([, count], at) => count < (since[at - 1]?.[1] ?? 0)) ? null : since;
}

/** The bound below which the share `thousandths` of the values are; null: of so few it says nothing. */
export function bucketQuantile(buckets: Buckets, thousandths: number): number | null {
  const count = buckets.at(-1)?.[1] ?? 0;
  if (count * (1000 - thousandths) < 10_000) return null;
  const rank = Math.ceil((count * thousandths) / 1000);
  return buckets.find((bucket) => bucket[1] >= rank)![0];
}

/** The cumulative buckets of a stage. */
export function stageBuckets(metrics: Metrics, stage: string): Buckets {
  return metrics.all('net_stage_latency_ns_bucket').filter((one) => one.labels.stage === stage)
    .map((one) => [one.labels.le === '+Inf' ? Infinity : Number(one.labels.le), Number(one.text)] as const);
}
