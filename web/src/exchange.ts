/* The exchange as this page follows it: its markets, and the book and trades of the one that is chosen. */
import { Problem, get } from './api';
import { Book } from './book';
import { Market, type MarketRecord } from './market';
import { Model } from './model';
import { Queue } from './queue';
import { Stream } from './stream';
import type { Subscription } from './subscription';
import { Tape } from './tape';
import type { Trader } from './trader';

export type ExchangeRecord = {
  exchange_id: string;
  testnet: boolean;
  durability: string;
  limits: Record<string, number>;
  passkey?: { rp_id: string; origins: string[] };
};

const BOOK_DEPTH = 50;
const BOOK_DEPTH_JOINED = 1000;
/** Subscriptions of a market's prices, and what is kept for the account and the next market that is shown. */
const PRICES = 3;
const KEPT_FREE = 12;
const QUEUES_MAX = 4;
const TICKERS_MS = 60_000;

export class Exchange extends Model {
  readonly stream = new Stream();
  markets: Market[] = [];
  record: ExchangeRecord | null = null;
  problem: Problem | null = null;
  market: Market | null = null;
  book: Book | null = null;
  tape: Tape | null = null;
  trader: Trader | null = null;
  /** Why what acts for an account does not come. */
  lost: string | null = null;
  /** The single orders of the markets in which own orders rest, by market. */
  readonly queues = new Map<string, Queue>();
  /** How many markets' prices a connection has no room for. */
  unfollowed = 0;
  readonly #followed = new Set<Market>();
  #books: Subscription | null = null;
  #depth = BOOK_DEPTH;

  start(): void {
    this.stream.onEpoch = () => location.reload();
    this.stream.onReturn = () => void this.#compare();
    this.stream.start();
    addEventListener('hashchange', () => this.#choose());
    void this.load();
  }

  async load(): Promise<void> {
    try {
      const [record, list] = await Promise.all([get('/exchange'), get('/markets')]);
      this.record = record;
      this.problem = null;
      this.markets = list.markets.map((row: MarketRecord) => new Market(row));
    } catch (problem) {
      this.problem = problem as Problem;
      this.changed();
      setTimeout(() => void this.load(), 2000);
      return;
    }
    this.#choose();
    this.#followAll();
    await this.#trade().catch((error: Error) => {
      this.lost = error.message;
      this.changed();
    });
    await this.#readDay();
    setInterval(() => document.hidden || void this.#readDay(), TICKERS_MS);
  }

  /** What each market did in 24 hours: no channel tells it. Where it cannot be read what was read stays. */
  async #readDay(): Promise<void> {
    const { tickers } = await get('/tickers').catch(() => ({ tickers: [] }));
    for (const row of tickers) {
      const market = this.markets.find((one) => one.name === row.market);
      if (market === undefined) continue;
      market.ticker = row;
      market.changed();
    }
    if (tickers.length > 0) this.changed();
  }

  /** What acts for an account comes after what shows the market. */
  async #trade(): Promise<void> {
    const { Trader } = await import('./desk');
    this.trader = new Trader(this.record!, this.stream);
    this.trader.watch(() => this.#queue());
    void this.trader.start();
    this.changed();
  }

  /** The prices of as many markets as a connection has room for; the market that is shown comes first. */
  #followAll(): void {
    const most = this.record!.limits.stream_subscriptions - KEPT_FREE;
    for (const market of this.markets)
      if (this.stream.subscriptions.size + PRICES <= most) this.#follow(market);
    this.unfollowed = this.markets.filter((market) => !this.#followed.has(market)).length;
    this.changed();
  }

  /** Behind the address may now be another exchange, of which nothing here is true. */
  async #compare(): Promise<void> {
    const record = await get('/exchange').catch(() => null);
    if (record !== null && this.record !== null && record.exchange_id !== this.record.exchange_id)
      location.reload();
  }

  /** The prices of a market, which the list of markets shows. */
  #follow(market: Market): void {
    if (this.#followed.has(market)) return;
    this.#followed.add(market);
    const prices = (data: any) => {
      market.mark = data;
      market.changed();
    };
    const best = (data: any) => {
      market.bbo = data;
      market.changed();
    };
    const state = (data: { state: string }) => {
      market.state = data.state;
      market.changed();
    };
    this.stream.subscribe({ channel: 'market_state', market: market.name }, { snapshot: state, update: state });
    this.stream.subscribe({ channel: 'mark', market: market.name }, { snapshot: prices, update: prices });
    this.stream.subscribe({ channel: 'bbo', market: market.name }, { snapshot: best, update: best });
  }

  /** Follows the single orders of the markets in which own orders rest, of the one that is shown first. */
  #queue(): void {
    const resting = this.trader?.account?.orders.filter((order) => order.book_handle !== null) ?? [];
    const names = new Set<string>(resting.map((order) => order.market));
    const shown = this.market?.name;
    const wanted = [...names].sort((a, b) => Number(b === shown) - Number(a === shown)).slice(0, QUEUES_MAX);
    for (const name of this.queues.keys()) {
      if (wanted.includes(name)) continue;
      this.stream.unsubscribe({ channel: 'book_l3', market: name });
      this.queues.delete(name);
    }
    for (const name of wanted) if (!this.queues.has(name)) this.#followQueue(this.markets.find((one) => one.name === name)!);
  }

  #followQueue(market: Market): void {
    const queue = new Queue(market);
    this.queues.set(market.name, queue);
    const subscription = this.stream.subscribe({ channel: 'book_l3', market: market.name }, {
      snapshot: (data) => queue.load(data),
      update: (data) => {
        queue.update(data);
        if (queue.isThin) this.stream.refresh(subscription);
      },
    });
  }

  /** Shows the market that the address names, else the first. */
  #choose(): void {
    const named = new URLSearchParams(location.hash.slice(1)).get('m');
    const market = this.markets.find((one) => one.name === named) ?? this.markets[0] ?? null;
    if (market === this.market) return this.changed();
    if (this.market !== null) {
      this.stream.unsubscribe({ channel: 'book', market: this.market.name });
      this.stream.unsubscribe({ channel: 'trades', market: this.market.name });
    }
    this.market = market;
    if (market !== null) {
      this.#show(market);
      this.#follow(market);
    }
    this.changed();
  }

  /** Follows as many levels of the book as joined prices, or single ones, need. */
  join(isJoined: boolean): void {
    this.#depth = isJoined ? BOOK_DEPTH_JOINED : BOOK_DEPTH;
    const books = this.#books!;
    if (books.topic.depth === this.#depth) return;
    books.topic.depth = this.#depth;
    this.stream.refresh(books);
  }

  #show(market: Market): void {
    const book = new Book(market);
    const tape = new Tape();
    this.book = book;
    this.tape = tape;
    const books = this.stream.subscribe({ channel: 'book', market: market.name, depth: this.#depth }, {
      snapshot: (data) => book.load(data, books.depth),
      update: (data) => book.update(data),
      crc: () => book.crc(),
    });
    this.#books = books;
    this.stream.subscribe({ channel: 'trades', market: market.name }, {
      snapshot: (data) => tape.load(data.trades),
      update: (data) => tape.add(data),
    });
  }
}
