/* One subscription of the stream: whether its frames follow each other, and what was counted. */
import { type Int, big } from './json';

export type Frame = {
  channel: string;
  market?: string;
  seq: Int;
  prev_seq: Int;
  engine_seq: Int;
  time_ns: Int;
  type: 'snapshot' | 'update' | 'heartbeat' | 'gap';
  crc?: number;
  data: any;
};

export type Topic = { channel: string; market?: string; depth?: number };

export type SubscriptionState = 'loading' | 'live' | 'gap' | 'stale' | 'refused';

/** Why the exchange does not give a subscription. */
export type Refusal = { code: string; detail: string; parameter?: string };

/** What a subscription tells the models. A checksum that differs is a fault: false. */
export type Listener = {
  snapshot(data: any, frame: Frame): void;
  update(data: any, frame: Frame): void;
  /** The checksum of what is shown, where the channel has one. */
  crc?(): number;
};

const ASK_MS = 5_000;
const ASK_MAX_MS = 60_000;

export class Subscription {
  state: SubscriptionState = 'loading';
  seq = 0n;
  /** What its newest frame said to follow. */
  prevSeq = 0n;
  frames = 0;
  gaps = 0;
  snapshots = 0;
  /** How often it got the whole without having asked, for what changed did not fit into its connection. */
  conflated = 0;
  checks = 0;
  faults = 0;
  lastAt = performance.now();
  /** Of a book: how many levels of a side were asked for. */
  depth: number | undefined;
  refusal: Refusal | null = null;
  refusals = 0;
  /** When it is asked for again. */
  askAt = Infinity;
  #rateFrom = performance.now();
  #rateFrames = 0;
  rate = 0;

  constructor(
    readonly topic: Topic,
    readonly listener: Listener,
  ) {}

  /** How often it came back by a new snapshot that it asked for. */
  get resumes(): number {
    return Math.max(0, this.snapshots - 1 - this.conflated);
  }

  get key(): string {
    return topicKey(this.topic);
  }

  /** Takes in a frame. False: it does not follow, or its checksum differs; subscribe again. */
  accept(frame: Frame): boolean {
    this.frames++;
    if (frame.type === 'snapshot') {
      this.lastAt = performance.now();
      this.snapshots++;
      if (this.state === 'live') this.conflated++;
      this.refusal = null;
      this.refusals = 0;
      this.seq = big(frame.seq);
      this.listener.snapshot(frame.data, frame);
      this.state = 'live';
      return this.#check(frame);
    }
    if (this.state !== 'live') return true; // a snapshot is on its way; without it there is silence
    this.lastAt = performance.now();
    const before = frame.type === 'heartbeat' ? frame.seq : frame.prev_seq;
    if (frame.type === 'gap' || big(before) !== this.seq) {
      this.gaps++;
      this.state = 'gap';
      return false;
    }
    this.prevSeq = this.seq;
    this.seq = big(frame.seq);
    if (frame.type === 'update') this.listener.update(frame.data, frame);
    return this.#check(frame);
  }

  /** It has been asked for, on a new connection or again. */
  asked(): void {
    this.state = 'loading';
    this.lastAt = performance.now();
    this.askAt = Infinity;
  }

  /** It has been asked for again after a refusal, and once more if no answer comes. */
  waitsRefused(): void {
    this.state = 'refused';
    this.askAt = performance.now() + ASK_MAX_MS;
  }

  /** The exchange gives no frames of it. */
  refused(problem: Refusal): void {
    this.state = 'refused';
    this.refusal = problem;
    this.refusals++;
    this.askAt = performance.now() + Math.min(ASK_MAX_MS, ASK_MS * 2 ** Math.min(this.refusals - 1, 10));
  }

  #check(frame: Frame): boolean {
    if (frame.crc === undefined || this.listener.crc === undefined) return true;
    this.checks++;
    if (this.listener.crc() === frame.crc) return true;
    this.faults++;
    this.state = 'gap';
    return false;
  }

  /** Measures frames per second since the last call. */
  measure(now: number): void {
    this.rate = ((this.frames - this.#rateFrames) * 1000) / Math.max(1, now - this.#rateFrom);
    this.#rateFrom = now;
    this.#rateFrames = this.frames;
  }
}

export function topicKey(topic: { channel: string; market?: string }): string {
  return `${topic.channel}:${topic.market ?? ''}`;
}
