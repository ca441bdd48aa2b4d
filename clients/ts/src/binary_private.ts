// Events of the account of a binary stream by the names of json.md J9, with the members that W9's
// messages have.

import { Amount } from "./amount.js";
import { NOWHERE, UNTIL_RESET } from "./binary.js";
import type { Data } from "./binary.js";
import { Lost } from "./errors.js";
import type { Market } from "./market.js";
import { base64 } from "./sign.js";

type Members = Readonly<Record<string, unknown>>;

export const SIDES = ["LONG", "SHORT"] as const;
const ORDER = ["OPEN", "FILLED", "CANCELED", "REJECTED", "UNTRIGGERED", "PARTIALLY_FILLED",
  "EXPIRED"] as const;
const CASH = ["trade", "fee", "funding", "transfer", "deposit", "withdrawal", "withdrawal_reverted",
  "faucet", "liquidation", "adl", "fund", "settlement"] as const;
const TRANSFER = ["transfer", "deposit", "faucet", "withdrawal", "withdrawal_settled",
  "withdrawal_reverted"] as const;
const KEY = ["session", "api_key", "device_key", "master_key"] as const;
const KEY_BYTES = [32, 0, 0, 33] as const;
const ACTION = ["added", "removed", "expired"] as const;
const LIQUIDITY = ["TAKER", "MAKER"] as const;
const STATUS = ["ACTIVE", "IN_LIQUIDATION"] as const;
const [MICRO, BILLION] = [6, 9];
const AVERAGE_MORE = 8; // decimals of an average beyond those of the price (J1)

/** The name of a code; of one that is newer than this library a text that says so. */
function nameOf(names: readonly string[], code: number): string {
  return names[code] ?? `UNKNOWN_${code}`;
}

const cash = (raw: bigint): string => new Amount(raw, MICRO).toString();
const magnitude = (raw: bigint): bigint => raw < 0n ? -raw : raw;
const sideOf = (size: bigint): string => SIDES[size < 0n ? 1 : 0];

/** cost / size, half to even as GET /positions rounds it. */
function averageOf(cost: bigint, size: bigint, market: Market): string {
  const decimals = market.priceDecimals + AVERAGE_MORE;
  const power = decimals + market.sizeDecimals - MICRO;
  const scaled = magnitude(cost) * 10n ** BigInt(Math.max(power, 0));
  const unit = magnitude(size) * 10n ** BigInt(Math.max(-power, 0));
  const [raw, rest] = [scaled / unit, scaled % unit];
  const isUp = 2n * rest > unit || (2n * rest === unit && raw % 2n === 1n);
  return new Amount(isUp ? raw + 1n : raw, decimals).toString();
}

function end(subaccount_index: number, portfolio_index: number): Members | null {
  return subaccount_index === NOWHERE ? null : { subaccount_index, portfolio_index };
}

/** The event's name and members. Lost: it is none, or of a market that is not known. */
export function eventOf(one: Data, market: Market | undefined): Members {
  switch (one.template) {
    case 19:
      return { event: "balance", ...placeOf(one), kind: nameOf(CASH, one.kind), amount: cash(one.amount),
        balance_after: cash(one.balance_after), index: one.index, ref_id: one.ref_id,
        ...(market !== undefined && { market: market.name }) };
    case 21:
      return { event: "transfer", kind: nameOf(TRANSFER, one.kind), amount: cash(one.amount),
        from: end(one.from_subaccount_index, one.from_portfolio_index),
        to: end(one.to_subaccount_index, one.to_portfolio_index),
        withdrawal_id: one.withdrawal_id };
    case 22:
      return { event: "liquidation", ...placeOf(one), status: nameOf(STATUS, one.status),
        equity: cash(one.equity), maintenance_margin: cash(one.maintenance_margin),
        ...(market !== undefined && { market: market.name, level: one.level,
          price: new Amount(one.price, market.priceDecimals).toString(),
          size: new Amount(one.size, market.sizeDecimals).toString() }) };
    case 24: {
      const size = KEY_BYTES[one.kind] ?? 0;
      return { event: "session", kind: nameOf(KEY, one.kind),
        action: nameOf(ACTION, one.action), id: one.id,
        ...(size > 0 && { public_key: base64(one.public_key.slice(0, size)) }) };
    }
    default:
      if (market === undefined) throw new Lost("an event of a market that is not known", true);
      return ofMarket(one, market);
  }
}

function placeOf(one: { readonly subaccount_index: number; readonly portfolio_index: number })
  : Members {
  return { subaccount_index: one.subaccount_index, portfolio_index: one.portfolio_index };
}

function ofMarket(one: Data, market: Market): Members {
  const price = (raw: bigint): string => new Amount(raw, market.priceDecimals).toString();
  const size = (raw: bigint): string => new Amount(raw, market.sizeDecimals).toString();
  const { name } = market;
  switch (one.template) {
    case 4:
      return { event: "order", id: one.order_id, market: name, order_status: nameOf(ORDER, one.status),
        side: nameOf(SIDES, one.side), remaining_size: size(one.remaining), filled_size: size(one.filled),
        price: one.price === 0n ? null : price(one.price) };
    case 5:
      return { event: "fill", id: one.fill_id, request_id: one.order_id, market: name,
        side: nameOf(SIDES, one.side), liquidity: nameOf(LIQUIDITY, one.liquidity),
        price: price(one.price), quantity: size(one.size), fee: cash(one.fee) };
    case 18:
      return { event: "position", ...placeOf(one), id: one.id, market: name,
        side: one.size === 0n ? null : sideOf(one.size), size: size(magnitude(one.size)),
        average_entry_price: one.size === 0n ? null : averageOf(one.cost, one.size, market),
        net_funding: cash(one.net_funding) };
    case 20:
      return { event: "funding", ...placeOf(one), id: one.id, market: name,
        payment: cash(one.payment), side: sideOf(one.size), size: size(magnitude(one.size)),
        funding_rate: new Amount(one.rate_ppb, BILLION).toString(),
        index_price: price(one.index_price), hour_ns: one.hour_ns, index: one.index };
    case 23:
      return { event: "mmp", ...placeOf(one), market: name, frozen: one.frozen_until_ns !== 0n,
        frozen_until_ns: one.frozen_until_ns === 0n || one.frozen_until_ns === UNTIL_RESET ? null
          : one.frozen_until_ns };
    default:
      throw new Lost(`template ${one.template} in an update of private`, true);
  }
}
