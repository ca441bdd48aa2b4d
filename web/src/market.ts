/* A market: its record, and what the channels of its prices said last. */
import { raw, shown } from './decimal';
import { Model } from './model';

export type MarketRecord = {
  market: string;
  asset_id: number;
  base: string;
  price_decimals: number;
  size_decimals: number;
  tick_size: string;
  lot_size: string;
  min_size: string;
  max_order_size: string;
  min_notional: string;
  max_leverage: number;
  max_price: string;
  price_band_ppm: number;
  max_slippage_ppm: number;
  fees: { tier: number; maker_fee_rate: string; taker_fee_rate: string }[];
  state: string;
};

export type Mark = {
  mark_price: string | null;
  index_price: string | null;
  predicted_funding_rate: string;
  valid: boolean;
};

export type Bbo = {
  bid_price: string | null;
  bid_size: string | null;
  ask_price: string | null;
  ask_size: string | null;
};

/** What the last 24 hours were when it was read. */
export type Ticker = { last_price: string | null; open_24h: string | null; notional_24h: string };

export class Market extends Model {
  ticker: Ticker | null = null;
  mark: Mark | null = null;
  bbo: Bbo | null = null;
  state: string;
  readonly tick: bigint;
  readonly lot: bigint;

  constructor(readonly record: MarketRecord) {
    super();
    this.state = record.state;
    this.tick = raw(record.tick_size, record.price_decimals);
    this.lot = raw(record.lot_size, record.size_decimals);
  }

  get name(): string {
    return this.record.market;
  }

  price(text: string): bigint {
    return raw(text, this.record.price_decimals);
  }

  size(text: string): bigint {
    return raw(text, this.record.size_decimals);
  }

  /** How far the price is from that of 24 hours ago, in hundredths of a percent, cut; null: nothing was traded. */
  get change(): bigint | null {
    const now = this.mark?.mark_price ?? this.ticker?.last_price;
    const before = this.ticker?.open_24h;
    if (now == null || before == null) return null;
    return ((this.price(now) - this.price(before)) * 10_000n) / this.price(before);
  }

  shownPrice(value: bigint): string {
    return shown(value, this.record.price_decimals);
  }

  shownSize(value: bigint): string {
    return shown(value, this.record.size_decimals);
  }
}
