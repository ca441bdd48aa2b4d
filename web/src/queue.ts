/* The single orders of a book, each with its handle: what stands before an order in the queue of its price. */
import { type Int, big } from './json';
import type { Market } from './market';
import { Model } from './model';

type Row = { handle: Int; side: 'LONG' | 'SHORT'; price: string; size: string };
type Place = { side: Row['side']; price: bigint };
type Level = Map<bigint, bigint>;

/** As many orders of a side as a snapshot has. */
const WHOLE = 1000;

export class Queue extends Model {
  isLoaded = false;
  #levels: Record<Row['side'], Map<bigint, Level>> = { LONG: new Map(), SHORT: new Map() };
  #places = new Map<bigint, Place>();
  #counts = { LONG: 0, SHORT: 0 };
  /** The last order of a side that has more than a snapshot: what is worse is not known. */
  #ends: Record<Row['side'], { price: bigint; handle: bigint } | null> = { LONG: null, SHORT: null };

  constructor(readonly market: Market) {
    super();
  }

  load(data: { orders?: Row[] }): void {
    const orders = data.orders ?? [];
    this.#places.clear();
    for (const side of ['LONG', 'SHORT'] as const) {
      this.#levels[side].clear();
      this.#counts[side] = 0;
      this.#ends[side] = null;
      const rows = orders.filter((row) => row.side === side);
      for (const row of rows) this.#set(row);
      const last = rows.at(-1);
      if (rows.length >= WHOLE && last !== undefined)
        this.#ends[side] = { price: this.market.price(last.price), handle: big(last.handle) };
    }
    this.isLoaded = true;
    this.changed();
  }

  update(data: Row & { action: 'add' | 'reduce' | 'delete' | 'execute' }): void {
    if (data.action !== 'add' && !this.#places.has(big(data.handle))) return; // deeper than is known
    if (this.#isKnown(data.side, this.market.price(data.price), big(data.handle))) this.#set(data);
    this.changed();
  }

  /** Whether so few orders of a side are left that a new snapshot is needed. */
  get isThin(): boolean {
    return (['LONG', 'SHORT'] as const).some((side) => this.#ends[side] !== null && this.#counts[side] < WHOLE / 2);
  }

  /** The sum of the sizes that trade before this order at its price; null: its place is not known. */
  ahead(handle: Int | null): bigint | null {
    if (handle === null || !this.isLoaded) return null;
    const own = big(handle);
    const place = this.#places.get(own);
    if (place === undefined) return null;
    let sum = 0n;
    for (const [other, size] of this.#levels[place.side].get(place.price)!) if (other < own) sum += size;
    return sum;
  }

  #isKnown(side: Row['side'], price: bigint, handle: bigint): boolean {
    const end = this.#ends[side];
    if (end === null) return true;
    if (price === end.price) return handle <= end.handle;
    return side === 'LONG' ? price > end.price : price < end.price;
  }

  #set({ handle, side, price, size }: Row): void {
    const key = big(handle);
    const at = this.market.price(price);
    const left = this.market.size(size);
    const levels = this.#levels[side];
    let level = levels.get(at);
    const had = level?.has(key) ?? false;
    if (left === 0n) {
      level?.delete(key);
      this.#places.delete(key);
      if (level?.size === 0) levels.delete(at);
      if (had) this.#counts[side]--;
      return;
    }
    if (level === undefined) levels.set(at, (level = new Map()));
    level.set(key, left);
    this.#places.set(key, { side, price: at });
    if (!had) this.#counts[side]++;
  }
}
