// What streams and reads of a market show, as Amounts.

import { Amount } from "./amount.js";

/** A frame of the stream (json.md J9). */
export interface Frame {
  readonly channel: string;
  readonly market?: string;
  readonly seq: bigint;
  readonly prev_seq: bigint;
  readonly engine_seq: bigint;
  readonly time_ns: bigint;
  readonly type: string;
  readonly crc?: number;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Where a state is in the order of its market's events. */
export interface Place {
  readonly seq: bigint;
  readonly time_ns: bigint;
}

function optional(text: unknown): Amount | null {
  return text === null ? null : Amount.of(text as string);
}

/** The mark price of a market. `valid` is false where the oracle is silent or gave nothing yet:
 * `price` is then the last one, or 0 before the first. */
export interface Mark {
  readonly price: Amount;
  readonly index: Amount | null;
  readonly valid: boolean;
  readonly predictedFundingRate: Amount;
  readonly seq: bigint;
  readonly timeNs: bigint;
}

export function markOf(place: Place, data: Readonly<Record<string, unknown>>): Mark {
  const price = optional(data["mark_price"]);
  return { price: price ?? new Amount(0n, 0), index: optional(data["index_price"]),
    valid: data["valid"] === true && price !== null,
    predictedFundingRate: Amount.of(data["predicted_funding_rate"] as string), seq: place.seq,
    timeNs: place.time_ns };
}

/** The best bid and the best ask with their sizes; null: that side is empty. */
export interface Bbo {
  readonly bidPrice: Amount | null;
  readonly bidSize: Amount | null;
  readonly askPrice: Amount | null;
  readonly askSize: Amount | null;
  readonly seq: bigint;
  readonly timeNs: bigint;
}

export function bboOf(place: Place, data: Readonly<Record<string, unknown>>): Bbo {
  return { bidPrice: optional(data["bid_price"]), bidSize: optional(data["bid_size"]),
    askPrice: optional(data["ask_price"]), askSize: optional(data["ask_size"]), seq: place.seq,
    timeNs: place.time_ns };
}

/** A public trade. `tradeSeq` counts the trades of its market without a gap. */
export interface Trade {
  readonly price: Amount;
  readonly size: Amount;
  readonly takerSide: "LONG" | "SHORT";
  readonly isLiquidation: boolean;
  readonly tradeSeq: bigint;
  readonly sequence: bigint;
  readonly timeNs: bigint;
}

/** The members of a trade (J9) that the library reads. */
export interface TradeData {
  readonly price: string;
  readonly size: string;
  readonly taker_side: "LONG" | "SHORT";
  readonly liquidation: boolean;
  readonly trade_seq: bigint;
  /** null: of a snapshot of a binary stream, which has none. */
  readonly sequence: bigint | null;
  readonly time_ns: bigint;
}

/** A trade whose place is known. */
export type Traded = TradeData & { readonly sequence: bigint };

export function tradeOf(data: Traded): Trade {
  return { price: Amount.of(data.price), size: Amount.of(data.size), takerSide: data.taker_side,
    isLiquidation: data.liquidation, tradeSeq: data.trade_seq, sequence: data.sequence,
    timeNs: data.time_ns };
}
