/* The candles of a market: as the reads gave them, and the trades of the stream since. */
import { API, ask } from './api';
import { apiText } from './decimal';
import { big } from './json';
import type { Market } from './market';
import { Model } from './model';
import type { Tape, Trade } from './tape';

export const INTERVALS = { '1m': 60_000, '5m': 300_000, '15m': 900_000, '1h': 3_600_000, '4h': 14_400_000, '1d': 86_400_000 };
export type Interval = keyof typeof INTERVALS;

export type Candle = {
  /** Milliseconds since 1970, UTC. */
  start: number;
  open: bigint;
  high: bigint;
  low: bigint;
  close: bigint;
  volume: bigint;
  trades: bigint;
};

/** What an account bought, or sold, in a candle. */
export type Mark = { start: number; isBuy: boolean; size: bigint };

const PAGE = 1000;
const CANDLES_MAX = 2000;
const AGAIN_MS = 2000;

export class Candles extends Model {
  /** Oldest first. */
  rows: Candle[] = [];
  isLoaded = false;
  /** The oldest row is the first that there is. */
  isWhole = false;
  /** Why the last read failed. */
  problem: string | null = null;
  #sequence = 0n;
  #isEnded = false;
  #isReading = false;
  /** Trades that came while the newest page is read, oldest first. */
  #waiting: Trade[] = [];

  constructor(
    readonly market: Market,
    readonly interval: Interval,
    readonly tape: Tape,
  ) {
    super();
  }

  end(): void {
    this.#isEnded = true;
  }

  /** Reads the newest page; trades that it does not have yet follow. */
  async load(): Promise<void> {
    this.isLoaded = false;
    this.#waiting = [...this.tape.trades].reverse();
    const answer = await this.#read(`limit=${PAGE}`);
    if (answer === null) {
      if (!this.#isEnded) setTimeout(() => void this.load(), AGAIN_MS);
      this.changed();
      return;
    }
    this.rows = answer.rows;
    this.isWhole = answer.rows.length < PAGE;
    this.#sequence = answer.sequence;
    this.isLoaded = true;
    for (const trade of this.#waiting.splice(0)) this.#count(trade);
    this.changed();
  }

  /** Reads the page before the oldest row. */
  async older(): Promise<void> {
    if (this.isWhole || !this.isLoaded || this.rows.length >= CANDLES_MAX) return;
    const answer = await this.#read(`limit=${PAGE}&end_time=${this.rows[0].start - 1}`);
    if (answer === null) return;
    this.isWhole = answer.rows.length < PAGE;
    this.rows = [...answer.rows, ...this.rows].slice(-CANDLES_MAX);
    this.changed();
  }

  /** A trade of the stream, each in its order. */
  add(trade: Trade): void {
    if (!this.isLoaded) {
      this.#waiting.push(trade);
      return;
    }
    this.#count(trade);
    this.changed();
  }

  #count(trade: Trade): void {
    if (big(trade.sequence) <= this.#sequence) return; // the page has it
    const length = INTERVALS[this.interval];
    const start = Math.floor(trade.time / length) * length;
    const price = this.market.price(trade.price);
    const size = this.market.size(trade.size);
    const last = this.rows.at(-1);
    if (last === undefined || start > last.start) {
      this.rows.push({ start, open: price, high: price, low: price, close: price, volume: size, trades: 1n });
      if (this.rows.length > CANDLES_MAX) this.rows.shift();
      return;
    }
    if (price > last.high) last.high = price;
    if (price < last.low) last.low = price;
    last.close = price;
    last.volume += size;
    last.trades++;
  }

  async #read(parameters: string): Promise<{ rows: Candle[]; sequence: bigint } | null> {
    if (this.#isReading || this.#isEnded) return null;
    this.#isReading = true;
    const path = `${API}/markets/${this.market.name}/candles?interval=${this.interval}&${parameters}`;
    this.problem = null;
    const answer = await ask(path).catch((caught: Error) => {
      this.problem = caught.message;
      return null;
    });
    this.#isReading = false;
    if (answer === null || this.#isEnded) return null;
    return { rows: answer.body.candles.map((row: any) => this.#row(row)), sequence: answer.sequence };
  }

  #row(row: any): Candle {
    const { market } = this;
    return {
      start: row.start_time, open: market.price(row.open), high: market.price(row.high), low: market.price(row.low),
      close: market.price(row.close), volume: market.size(row.volume), trades: big(row.trade_count),
    };
  }

  /** What these fills come to in each candle, oldest first. */
  marks(fills: any[]): Mark[] {
    const found = new Map<string, Mark>();
    for (const { time, side, quantity } of fills) {
      const start = this.rows.findLast((row) => row.start <= time)?.start;
      if (start === undefined) continue;
      const key = side + start;
      found.set(key, { start, isBuy: side === 'LONG', size: this.market.size(quantity) + (found.get(key)?.size ?? 0n) });
    }
    return [...found.values()].sort((a, b) => a.start - b.start);
  }

  /** A price as the interface writes it. */
  price(value: bigint): string {
    return apiText(value, this.market.record.price_decimals);
  }
}
