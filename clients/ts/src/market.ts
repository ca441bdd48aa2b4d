// A market, its grid, and the rounding of numbers onto it on demand.

import { Amount } from "./amount.js";
import type { AmountLike, Rounding } from "./amount.js";
import { NotOnGrid } from "./errors.js";
import type { Market as MarketRecord } from "./types.gen.js";

/** The market record's numbers as Amounts; `record` is the whole (json.md J5). */
export class Market {
  readonly name: string;
  readonly assetId: number;
  readonly priceDecimals: number;
  readonly sizeDecimals: number;
  readonly tick: Amount;
  readonly lot: Amount;

  constructor(readonly record: MarketRecord) {
    this.name = record.market;
    this.assetId = record.asset_id;
    this.priceDecimals = record.price_decimals;
    this.sizeDecimals = record.size_decimals;
    this.tick = Amount.of(record.tick_size);
    this.lot = Amount.of(record.lot_size);
  }

  toString(): string {
    return this.name;
  }

  /** The nearest price of the grid that is not above (down) or not below (up). */
  roundPrice(price: AmountLike, direction: Rounding): Amount {
    return Amount.of(price).rounded(this.tick, direction);
  }

  roundSize(size: AmountLike, direction: Rounding): Amount {
    return Amount.of(size).rounded(this.lot, direction);
  }

  /** The price in raw units; NotOnGrid between two ticks, RangeError at or below 0. */
  rawPrice(price: AmountLike): bigint {
    return onGrid("price", price, this.tick, this.priceDecimals);
  }

  /** The size in raw units; NotOnGrid between two lots, RangeError at or below 0. */
  rawSize(size: AmountLike): bigint {
    return onGrid("size", size, this.lot, this.sizeDecimals);
  }
}

function onGrid(what: string, value: AmountLike, step: Amount, decimals: number): bigint {
  const amount = Amount.of(value);
  if (amount.raw <= 0n) throw new RangeError(`a ${what} is above 0, not ${amount.toString()}`);
  const [lower, upper] = [amount.rounded(step, "down"), amount.rounded(step, "up")];
  if (!lower.equals(upper)) throw new NotOnGrid(what, amount, lower, upper);
  return amount.at(decimals);
}
