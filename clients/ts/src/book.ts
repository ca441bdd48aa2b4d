// A book kept from the stream: checked, never half applied (json.md J9).

import { Amount } from "./amount.js";
import type { Market } from "./market.js";
import type { Frame } from "./views.js";

const CHECKED = 25; // levels of each side that the checksum covers
const POLYNOMIAL = 0x82f63b78;
const ROWS = Uint32Array.from({ length: 256 }, (_, byte) => {
  let row = byte;
  for (let bit = 0; bit < 8; bit += 1) row = (row >>> 1) ^ (row & 1 ? POLYNOMIAL : 0);
  return row;
});

/** CRC-32C (RFC 3720). */
export function crc32c(data: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of data) crc = (crc >>> 8) ^ (ROWS[(crc ^ byte) & 0xff] ?? 0);
  return (crc ^ 0xffffffff) >>> 0;
}

/** A frame contradicts the book: it is discarded and asked for again. */
export class Fault extends Error {}

type Level = readonly [price: bigint, size: bigint];
type Given = string | bigint; // a decimal, or the raw integer of a binary stream

function raw(value: Given, decimals: number): bigint {
  return typeof value === "bigint" ? value : Amount.of(value).at(decimals);
}

/** The levels of one side: raw prices, best first, with their raw sizes. */
class Side {
  #levels: Level[] = [];

  constructor(private readonly isBid: boolean) {}

  /** Where this price is, or would be. */
  #place(price: bigint): number {
    let [low, high] = [0, this.#levels.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const there = this.#levels[middle]?.[0] ?? 0n;
      if (this.isBid ? there > price : there < price) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Size 0 deletes. */
  set(price: bigint, size: bigint): void {
    const at = this.#place(price);
    const isThere = this.#levels[at]?.[0] === price;
    if (size === 0n && !isThere) throw new Fault(`a level that is not there was deleted: ${price}`);
    if (size === 0n) this.#levels.splice(at, 1);
    else this.#levels.splice(at, isThere ? 1 : 0, [price, size]);
  }

  levels(count?: number): readonly Level[] {
    return count === undefined ? this.#levels : this.#levels.slice(0, count);
  }

  best(): bigint | undefined {
    return this.#levels[0]?.[0];
  }
}

/** Bids and asks of a market, as deep as was asked for. While `isLive` is false it is empty: the
 * stream is away, or a fault was found and the whole is on its way. */
export class Book {
  #bids = new Side(true);
  #asks = new Side(false);
  isLive = false;
  seq = 0n;
  engineSeq = 0n;
  timeNs = 0n;
  checks = 0;
  faults = 0;

  constructor(readonly market: Market, readonly depth: number) {}

  discard(): void {
    this.#bids = new Side(true);
    this.#asks = new Side(false);
    this.isLive = false;
    this.seq = this.engineSeq = this.timeNs = 0n;
  }

  /** Takes a snapshot, update or heartbeat whose order was checked; Fault leaves the book
   * discarded. */
  apply(frame: Frame): void {
    try {
      if (frame.type === "snapshot") this.discard();
      this.#set(this.#bids, frame.data["bids"]);
      this.#set(this.#asks, frame.data["asks"]);
      this.#check(frame);
    } catch (error) {
      if (error instanceof Fault) {
        this.faults += 1;
        this.discard();
      }
      throw error;
    }
    this.seq = frame.seq;
    this.engineSeq = frame.engine_seq;
    this.timeNs = frame.time_ns;
    this.isLive = true;
  }

  #set(side: Side, levels: unknown): void {
    for (const [price, size] of (levels ?? []) as readonly (readonly [Given, Given])[]) {
      side.set(raw(price, this.market.priceDecimals), raw(size, this.market.sizeDecimals));
    }
  }

  #check(frame: Frame): void {
    const [bid, ask] = [this.#bids.best(), this.#asks.best()];
    if (bid !== undefined && ask !== undefined && bid >= ask) {
      throw new Fault(`the book is crossed: ${bid} and ${ask}`);
    }
    if (frame.crc === undefined) return;
    this.checks += 1;
    if (this.crc() !== frame.crc) throw new Fault(`the checksum at seq ${frame.seq}`);
  }

  /** The checksum of the 25 best levels of each side, as the exchange makes it. */
  crc(): number {
    const text = [...this.bids(CHECKED), ...this.asks(CHECKED)]
      .map(([price, size]) => `${price.toString()}:${size.toString()};`).join("");
    return crc32c(new TextEncoder().encode(text));
  }

  #amounts(side: Side, count?: number): [price: Amount, size: Amount][] {
    return side.levels(count).map(([price, size]) => [
      new Amount(price, this.market.priceDecimals), new Amount(size, this.market.sizeDecimals)]);
  }

  /** (price, size) of the best levels, best first. */
  bids(count?: number): [price: Amount, size: Amount][] {
    return this.#amounts(this.#bids, count);
  }

  asks(count?: number): [price: Amount, size: Amount][] {
    return this.#amounts(this.#asks, count);
  }

  /** The best bid and the best ask. */
  best(): [bid: Amount | null, ask: Amount | null] {
    return [this.bids(1)[0]?.[0] ?? null, this.asks(1)[0]?.[0] ?? null];
  }

  /** What buying or selling so much would exchange in USDC, exact; null where the shown levels have
   * less. */
  cost(side: "buy" | "sell", size: Amount): Amount | null {
    let [left, raw] = [size.at(this.market.sizeDecimals), 0n];
    for (const [price, there] of (side === "buy" ? this.#asks : this.#bids).levels()) {
      const part = left < there ? left : there;
      raw += price * part;
      left -= part;
      if (left === 0n) {
        return new Amount(raw, this.market.priceDecimals + this.market.sizeDecimals);
      }
    }
    return null;
  }
}
