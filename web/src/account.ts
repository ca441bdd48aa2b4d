/* What an account has: read once, then kept by the events of the channel private. */
import { type Int, big } from './json';

/** The rows of one read and the sequence that it shows. */
export type Rows = { rows: any[]; sequence: bigint };

export type Account = { orders: any[]; positions: any[]; fills: any[]; funding: any[]; balance: any };

const LIVE = new Set(['OPEN', 'PARTIALLY_FILLED', 'UNTRIGGERED']);
const ROWS_MAX = 200;

type Placed = { sequence: Int; index: Int };

function newestFirst(a: Placed, b: Placed): number {
  const difference = big(b.sequence) - big(a.sequence) || big(b.index) - big(a.index);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** Rows of the past, newest first, each once. */
class Past {
  #rows = new Map<string, any>();

  load(rows: any[]): void {
    this.#rows = new Map(rows.map((row) => [row.id, row]));
  }

  add(row: any): void {
    this.#rows.set(row.id, row);
  }

  get newest(): any[] {
    const rows = [...this.#rows.values()].sort(newestFirst).slice(0, ROWS_MAX);
    this.load(rows);
    return rows;
  }
}

/** Live orders, fills and funding payments. Events that come while a read is on its way wait for it. */
export class Ledger {
  #orders = new Map<string, any>();
  #fills = new Past();
  #funding = new Past();
  #from = 0n;
  #waiting: { sequence: bigint; data: any }[] | null = [];

  /** Whether events wait for a read. */
  get isWaiting(): boolean {
    return this.#waiting !== null;
  }

  /** A read is on its way: events wait. */
  begin(): void {
    this.#waiting = [];
  }

  /** Takes in what was read, then the events that it cannot have. */
  load(orders: Rows[], fills: Rows, funding: Rows): void {
    this.#orders.clear();
    for (const row of orders.flatMap((one) => one.rows)) this.#order(row);
    this.#fills.load(fills.rows);
    this.#funding.load(funding.rows);
    const waiting = this.#waiting ?? [];
    this.#waiting = null;
    this.#from = orders.map((one) => one.sequence).reduce((a, b) => (a < b ? a : b));
    for (const { sequence, data } of waiting) this.#apply(sequence, data);
  }

  /** An event of the account, of this sequence of the engine. */
  event(sequence: bigint, data: any): void {
    if (this.#waiting !== null) this.#waiting.push({ sequence, data });
    else this.#apply(sequence, data);
  }

  get orders(): any[] {
    return [...this.#orders.values()].sort(newestFirst);
  }

  get fills(): any[] {
    return this.#fills.newest;
  }

  get funding(): any[] {
    return this.#funding.newest;
  }

  /** An order's event that the reads have is passed over, also when it comes after them. */
  #apply(sequence: bigint, data: any): void {
    if (data.event === 'order' && sequence > this.#from) this.#order(data);
    else if (data.event === 'fill') this.#fills.add(data);
    else if (data.event === 'funding') this.#funding.add(data);
  }

  #order(row: any): void {
    const known = this.#orders.get(row.id);
    if (known !== undefined && big(known.updated_at_ns) > big(row.updated_at_ns)) return;
    if (LIVE.has(row.order_status)) this.#orders.set(row.id, row);
    else this.#orders.delete(row.id);
  }
}
