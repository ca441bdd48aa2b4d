/* The newest trades of a market, newest first. */
import type { Int } from './json';
import { Model } from './model';

export type Trade = {
  price: string;
  size: string;
  taker_side: 'LONG' | 'SHORT';
  liquidation: boolean;
  trade_seq: Int;
  sequence: Int;
  index: number;
  time: number;
  time_ns: Int;
};

const TRADES_MAX = 200;

/** Who takes in each trade. After a snapshot of trades some may be missing: it loads again. */
export type TapeFollower = { load(): void; add(trade: Trade): void };

export class Tape extends Model {
  trades: Trade[] = [];
  isLoaded = false;
  #followers = new Set<TapeFollower>();

  /** Begins with a load, if the tape has begun; the result ends it. */
  follow(follower: TapeFollower): () => void {
    this.#followers.add(follower);
    if (this.isLoaded) follower.load();
    return () => this.#followers.delete(follower);
  }

  load(trades: Trade[]): void {
    this.trades = trades;
    this.isLoaded = true;
    for (const follower of this.#followers) follower.load();
    this.changed();
  }

  add(trade: Trade): void {
    this.trades.unshift(trade);
    if (this.trades.length > TRADES_MAX) this.trades.length = TRADES_MAX;
    for (const follower of this.#followers) follower.add(trade);
    this.changed();
  }
}
