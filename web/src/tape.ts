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

export class Tape extends Model {
  trades: Trade[] = [];
  isLoaded = false;

  load(trades: Trade[]): void {
    this.trades = trades;
    this.isLoaded = true;
    this.changed();
  }

  add(trade: Trade): void {
    this.trades.unshift(trade);
    if (this.trades.length > TRADES_MAX) this.trades.length = TRADES_MAX;
    this.changed();
  }
}
