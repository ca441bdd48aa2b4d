/* How long own requests took: the stages that acknowledgements tell, and the round trip that the page measures. */
import { Model } from './model';

const SAMPLES_MAX = 1000;

/** Nanoseconds since the exchange received the request; `roundTrip` is the page's own. */
export type Sample = {
  id: string;
  request: string;
  at: number;
  verified: number;
  sequenced: number;
  matched: number;
  ack: number;
  roundTrip: number;
};

type Timing = { verified: number; sequenced: number; matched: number; ack: number };

export const MEASURES = {
  verified: 'signature checked',
  sequenced: 'given its sequence',
  matched: 'matched',
  ack: 'acknowledged',
  network: 'network and browser',
  roundTrip: 'round trip',
} as const;
export type Measure = keyof typeof MEASURES;

export const QUANTILES = [0.5, 0.9, 0.99, 0.999] as const;

export function measured(sample: Sample, measure: Measure): number {
  return measure === 'network' ? Math.max(0, sample.roundTrip - sample.ack) : sample[measure];
}

/** The smallest value that the share `quantile` of all values does not exceed; null: of so few it says nothing. */
export function percentile(sorted: readonly number[], quantile: number): number | null {
  const thousandths = Math.round(quantile * 1000);
  if (sorted.length * (1000 - thousandths) < 10_000) return null;
  return sorted[Math.ceil((sorted.length * thousandths) / 1000) - 1];
}

export class Latency extends Model {
  samples: Sample[] = [];

  /** Takes in the answer of a request that was sent once. */
  add(id: string, request: string, timing: Timing, roundTripMs: number): void {
    this.samples.push({ id, request, at: Date.now(), ...timing, roundTrip: Math.round(roundTripMs * 1e6) });
    if (this.samples.length > SAMPLES_MAX) this.samples.shift();
    this.changed();
  }

  sorted(measure: Measure): number[] {
    return this.samples.map((sample) => measured(sample, measure)).sort((a, b) => a - b);
  }

  get csv(): string {
    const names = ['id', 'request', 'at', 'verified', 'sequenced', 'matched', 'ack', 'roundTrip'] as const;
    return [names.join(','), ...this.samples.map((sample) => names.map((name) => sample[name]).join(','))].join('\n') + '\n';
  }
}

/** What this page has measured since it was loaded. */
export const latency = new Latency();
