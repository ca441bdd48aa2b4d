// The exchange's clock, from its answers; the machine's own is never asked.

const KEPT = 20;
const BEST = 5;
const NS_PER_MS = 1e6;

interface Sample {
  readonly roundTripMs: number;
  readonly offsetMs: number; // the exchange's clock less the monotonic one
}

/** offset = the median of the 5 samples of least round trip among the last 20; it is wrong by half a
 * round trip at most. Milliseconds with a fraction: a double holds them to a microsecond. */
export class Clock {
  #samples: Sample[] = [];
  #isOld = true;
  newestMs = -Infinity;

  constructor(readonly monotonicMs: () => number = () => performance.now()) {}

  /** A time that the exchange told between two moments of the monotonic clock. */
  add(serverNs: bigint, sentMs: number, gotMs: number): void {
    const serverMs = Number(serverNs / 1000n) * 1000 / NS_PER_MS;
    if (this.#isOld) this.#samples = [];
    this.#isOld = false;
    this.#samples.push({ roundTripMs: gotMs - sentMs, offsetMs: serverMs - (sentMs + gotMs) / 2 });
    if (this.#samples.length > KEPT) this.#samples.shift();
    this.newestMs = gotMs;
  }

  /** What is known holds until the next time that is told, for who asks in between. */
  forget(): void {
    this.#isOld = true;
  }

  get isSet(): boolean {
    return !this.#isOld;
  }

  #best(): Sample[] {
    if (this.#samples.length === 0) throw new RangeError("the exchange's time is not known yet");
    return [...this.#samples].sort((a, b) => a.roundTripMs - b.roundTripMs).slice(0, BEST);
  }

  get offsetMs(): number {
    const offsets = this.#best().map((sample) => sample.offsetMs).sort((a, b) => a - b);
    return offsets[(offsets.length - 1) >> 1] ?? 0;
  }

  get errorMs(): number {
    return Math.max(...this.#best().map((sample) => sample.roundTripMs)) / 2;
  }

  nowMs(): number {
    return this.monotonicMs() + this.offsetMs;
  }
}
