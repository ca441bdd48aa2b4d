// watch... of the class of ccxt, by the stream of the library.

import type { Account, PrivateEvent } from "./account.js";
import type { Book } from "./book.js";
import type { Ccxt, Dict, Failures, MoreExchange, Number_, PerpdExchange, Row, Rows }
  from "./ccxt_shape.js";
import type { Client } from "./client.js";
import { Lost } from "./errors.js";
import type { PerpdError } from "./errors.js";
import type { Market } from "./market.js";
import type * as records from "./types.gen.js";
import type { Bbo, Mark, Trade } from "./views.js";
import { Signal } from "./wait.js";

const HAS = ["cancelOrderWs", "createOrderWs", "editOrderWs", "unWatchBidsAsks", "unWatchMyTrades",
  "unWatchOHLCV", "unWatchOrderBook", "unWatchOrders", "unWatchPositions", "unWatchTicker",
  "unWatchTickers", "unWatchTrades", "watchBalance", "watchBidsAsks", "watchLiquidations",
  "watchMyTrades", "watchOHLCV", "watchOrderBook", "watchOrders", "watchPositions", "watchTicker",
  "watchTickers", "watchTrades"];
const DEPTHS = [1, 10, 50, 1000];
const PACE_MS = 1000; // between two reads of what no channel has

/** One iterator of the library. Calls that wait at once get the same value. */
class Topic<Value> {
  #next: Promise<IteratorResult<Value, void>> | undefined;

  constructor(readonly values: AsyncGenerator<Value, void, undefined>,
    readonly stop: AbortController) {}

  waiting(): Promise<IteratorResult<Value, void>> {
    this.#next ??= this.values.next();
    return this.#next;
  }

  /** The next call waits for the next value. */
  taken(wait: Promise<IteratorResult<Value, void>>): void {
    if (this.#next === wait) this.#next = undefined;
  }
}

/** The newest of values that are taken as fast as they come. */
async function* newestOf<Value>(values: AsyncGenerator<Value, void, undefined>, stop: AbortSignal)
  : AsyncGenerator<Value, void, undefined> {
  const signal = new Signal();
  let held: Value | undefined;
  const drain = async (): Promise<void> => {
    for await (const one of values) {
      held = one;
      signal.tell();
    }
    signal.tell(new Lost("it is not watched any more", false));
  };
  drain().catch((error: unknown) => signal.tell(error as PerpdError));
  for (let count: number | undefined = 0; ;) {
    count = await signal.after(count, stop); // what is drained ends by the same stop
    if (count === undefined || held === undefined) return;
    yield held;
  }
}

type Watching = { readonly signal: AbortSignal };
type Make<Value> = (client: Client, how: Watching) => AsyncGenerator<Value, void, undefined>;

interface Settled<Value> {
  readonly key: string;
  readonly topic: Topic<Value>;
  readonly wait: Promise<IteratorResult<Value, void>>;
  readonly got?: IteratorResult<Value, void>;
  readonly error?: unknown;
}

function positionsKey(symbols: readonly string[] | undefined): string {
  return `positions ${[...symbols ?? []].sort().join()}`;
}

export function watchOf(ccxt: Ccxt, More: new (config?: object) => MoreExchange)
  : new (config?: object) => PerpdExchange {
  const failures = ccxt as unknown as Failures;
  const raised = (name: string, text: string): Error =>
    new (failures[name] ?? Error)(`perpd ${text}`);

  class Watch extends More {
    readonly #topics = new Map<string, Topic<unknown>>();
    readonly #readMs = new Map<string, number>();
    readonly #owed = new Map<string, bigint>(); // what has changed and was not read since
    readonly #depths = new Map<string, number>();
    readonly #held = new Map<string, ReadonlyMap<string, records.Position>>();
    #deepening: Promise<void> = Promise.resolve();
    #overStream: Watch | undefined;

    override describe(): Dict {
      return this.deepExtend(super.describe(), { has: Object.fromEntries(
        HAS.map((name) => [name, true])) as object });
    }

    override async close(): Promise<void> {
      await Promise.all([...this.#topics.keys()].map((key) => this.#leave(key)));
      for (const kept of [this.#owed, this.#depths, this.#held]) kept.clear();
      await this.#overStream?.close();
      this.#overStream = undefined;
      await super.close();
    }

    async #leave(key: string): Promise<void> {
      const topic = this.#topics.get(key);
      this.#topics.delete(key);
      this.#owed.delete(key);
      topic?.stop.abort();
      await topic?.values.return(undefined).catch(() => undefined); // also where none waits for it
    }

    /** What has come of these topics, one at least. */
    async #first<Value>(makes: ReadonlyMap<string, Make<Value>>): Promise<ReadonlyMap<string, Value>> {
      return this._with(async (client) => {
        const settled: Settled<Value>[] = [];
        const waits = [...makes].map(async ([key, make]) => {
          let topic = this.#topics.get(key) as Topic<Value> | undefined;
          if (topic === undefined) {
            const stop = new AbortController();
            topic = new Topic(make(client, { signal: stop.signal }), stop);
            this.#topics.set(key, topic);
          }
          const wait = topic.waiting();
          try {
            settled.push({ key, topic, wait, got: await wait });
          } catch (error) {
            settled.push({ key, topic, wait, error });
          }
        });
        await Promise.race(waits);
        const came = [...settled];
        const failed = came.find(({ got }) => got?.done !== false);
        if (failed !== undefined) { // what has come of others stays to be taken
          failed.topic.taken(failed.wait);
          if (this.#topics.get(failed.key) === failed.topic) this.#topics.delete(failed.key);
          throw failed.got === undefined ? failed.error
            : raised("NetworkError", "it is not watched any more");
        }
        return new Map(came.map(({ key, topic, wait, got }) => {
          topic.taken(wait);
          return [key, got?.value as Value];
        }));
      });
    }

    async #of<Value>(key: string, make: Make<Value>): Promise<Value> {
      return (await this.#first(new Map([[key, make]]))).get(key) as Value;
    }

    async #market(symbol: string): Promise<Market> {
      return this._at(symbol, async (_, market) => market);
    }

    async #pace(key: string): Promise<void> {
      const wait = (this.#readMs.get(key) ?? 0) + PACE_MS - performance.now();
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
      this.#readMs.set(key, performance.now());
    }

    async #symbols(symbols: string[] | undefined): Promise<string[]> {
      await this.loadMarkets();
      const names = symbols ?? this.symbols;
      if (names.length === 0) throw raised("BadRequest", "it takes a symbol at least");
      return names;
    }

    async watchOrderBook(symbol: string, limit = 50): Row {
      const market = await this.#market(symbol);
      const depth = DEPTHS.find((one) => one >= limit) ?? 1000;
      const book = await this.#book(symbol, market, depth);
      const timestamp = Number(book.timeNs / 1_000_000n);
      const side = (levels: readonly (readonly [unknown, unknown])[]): number[][] =>
        levels.slice(0, limit).map((level) => level.map((one) => this.parseNumber(String(one))));
      return { symbol, bids: side(book.bids()), asks: side(book.asks()), timestamp,
        datetime: this.iso8601(timestamp), nonce: Number(book.seq) };
    }

    /** A book of this depth or a greater one: the stream has one depth at a time. */
    async #book(symbol: string, market: Market, depth: number): Promise<Book> {
      const key = `book ${symbol}`;
      for (;;) {
        if (depth > (this.#depths.get(symbol) ?? depth)) {
          this.#depths.set(symbol, depth);
          this.#deepening = this.#leave(key);
        }
        await this.#deepening; // else the former depth may still be subscribed
        const shown = this.#depths.get(symbol) ?? depth;
        this.#depths.set(symbol, shown);
        try {
          const book: Book = await this.#of(key, (client, how) => client.watchBook(market, shown, how));
          if (book.isLive) return book;
        } catch (error) {
          if ((this.#depths.get(symbol) ?? 0) <= shown) throw error;
        } // else it was left for a deeper one
      }
    }

    async watchTrades(symbol: string): Rows {
      const market = await this.#market(symbol);
      const one: Trade = await this.#of(`trades ${symbol}`, (client, how) =>
        client.watchTrades(market, how));
      const timestamp = Number(one.timeNs / 1_000_000n);
      return [this.safeTrade({ id: String(one.tradeSeq), timestamp, symbol,
        datetime: this.iso8601(timestamp), side: one.takerSide === "LONG" ? "buy" : "sell",
        price: String(one.price), amount: String(one.size),
        info: { sequence: one.sequence, liquidation: one.isLiquidation } }, this.market(symbol))];
    }

    async watchLiquidations(symbol: string): Rows {
      const market = await this.#market(symbol);
      const info: records.Liquidation = await this.#of(`liquidations ${symbol}`, (client, how) =>
        client.watchLiquidations(market, how));
      return [{ info, symbol, contracts: this.parseNumber(info.size), contractSize: 1,
        price: this.parseNumber(info.price), side: info.side === "LONG" ? "sell" : "buy",
        timestamp: info.time, datetime: this.iso8601(info.time) }];
    }

    async watchBidsAsks(symbols?: string[]): Row {
      const makes = new Map<string, Make<Bbo>>();
      for (const symbol of await this.#symbols(symbols)) {
        const market = await this.#market(symbol);
        makes.set(`bbo ${symbol}`, (client, how) => client.watchBbo(market, how));
      }
      return Object.fromEntries([...await this.#first(makes)].map(([key, one]) => {
        const symbol = key.slice("bbo ".length);
        const timestamp = Number(one.timeNs / 1_000_000n);
        return [symbol, this.safeTicker({ symbol, timestamp, datetime: this.iso8601(timestamp),
          bid: one.bidPrice?.toString(), bidVolume: one.bidSize?.toString(),
          ask: one.askPrice?.toString(), askVolume: one.askSize?.toString(),
          info: { seq: one.seq } })];
      }));
    }

    async watchTickers(symbols?: string[]): Row {
      const names = await this.#symbols(symbols);
      const makes = new Map<string, Make<Bbo | Mark>>();
      for (const symbol of names) {
        const market = await this.#market(symbol);
        makes.set(`ticker ${symbol}`, (client, how) => client.watchBbo(market, how));
        makes.set(`mark ${symbol}`, (client, how) => client.watchMark(market, how));
      }
      const owed = (): string[] => names.filter((symbol) => this.#owed.has(`tickers ${symbol}`));
      if (owed().length === 0) {
        for (const key of (await this.#first(makes)).keys()) {
          this.#owed.set(`tickers ${key.slice(key.indexOf(" ") + 1)}`, 0n);
        }
      }
      await this.#pace(`ticker ${names.join()}`);
      const moved = owed();
      const rows = await this.fetchTickers(moved.length > 0 ? moved : names);
      for (const symbol of moved) this.#owed.delete(`tickers ${symbol}`);
      return rows;
    }

    async watchTicker(symbol: string): Row {
      return (await this.watchTickers([symbol]))[symbol] as Dict;
    }

    async watchOHLCV(symbol: string, timeframe = "1m", since?: number, limit?: number)
      : Promise<number[][]> {
      const market = await this.#market(symbol);
      const key = `ohlcv ${symbol} ${timeframe}`;
      return this.#behind(key, async () => {
        const one: Trade = await this.#of(key, (client, how) =>
          newestOf(client.watchTrades(market, how), how.signal));
        return one.sequence;
      }, (least) => this._candles(symbol, timeframe, since, limit, least));
    }

    /** A read behind a change, whose sequence `wait` gives; one whose read failed is read by the next
     * call. */
    async #behind<Value>(key: string, wait: () => Promise<bigint>,
      read: (least: bigint | undefined) => Promise<Value>): Promise<Value> {
      if (!this.#owed.has(key)) this.#owed.set(key, await wait());
      await this.#pace(key);
      const least = this.#owed.get(key);
      const shown = await read(least);
      if (this.#owed.get(key) === least) this.#owed.delete(key);
      return shown;
    }

    /** The next event of this kind, of this portfolio. */
    async #event(kind: string, symbol: string | undefined): Promise<Dict> {
      await this.loadMarkets();
      const wanted = symbol === undefined ? undefined : this.market(symbol)["id"];
      const { subaccount = 0, portfolio = 0 } = this.options;
      for (;;) {
        const { event, data }: PrivateEvent = await this.#of(`${kind} ${symbol ?? ""}`,
          (client, how) => client.watchPrivate(how));
        if (event === kind && (wanted === undefined || data["market"] === wanted) &&
            Number(data["subaccount_index"]) === Number(subaccount) &&
            Number(data["portfolio_index"]) === Number(portfolio)) return data;
      }
    }

    async watchOrders(symbol?: string): Rows {
      return [this._order(await this.#event("order", symbol) as unknown as records.Order)];
    }

    async watchMyTrades(symbol?: string): Rows {
      return [this._fill(await this.#event("fill", symbol) as unknown as records.Fill)];
    }

    async #changed(key: string, path: string): Promise<unknown> {
      return this.#behind(key, async () => {
        const view: Account = await this.#of(key, (client, how) => client.watchAccount(how));
        return view.engineSeq;
      }, (least) => this._with(({ session }) => session.get(path, { isPrivate: true,
        parameters: session.placeParameters(), least })));
    }

    async watchBalance(): Row {
      return this._balance(await this.#changed("balance", "/portfolio/balance") as records.Balance);
    }

    async watchPositions(symbols?: string[]): Rows {
      await this.loadMarkets();
      const size = (row?: records.Position): string => row === undefined ? "" : row.side + row.size;
      const key = positionsKey(symbols && await this.#symbols(symbols));
      const before = this.#held.get(key) ?? new Map<string, records.Position>(); // of all that wait
      for (;;) {
        const found = await this.#changed(key, "/positions") as readonly records.Position[];
        const now = new Map(found.map((row) => [row.market, row]));
        this.#held.set(key, now);
        const rows = [...new Set([...before.keys(), ...now.keys()])]
          .filter((market) => size(before.get(market)) !== size(now.get(market)))
          .map((market) => {
            const row = now.get(market);
            return row !== undefined ? this._position(row) : this.safePosition({ info: {},
              symbol: this.safeSymbol(market), contracts: 0, contractSize: 1, marginMode: "cross" });
          }).filter((row) => symbols?.includes(String(row["symbol"])) ?? true);
        if (rows.length > 0) return rows;
      }
    }

    async unWatchOrderBook(symbol: string): Promise<void> {
      this.#depths.delete(symbol);
      await this.#leave(`book ${symbol}`);
    }

    async unWatchTrades(symbol: string): Promise<void> {
      await this.#leave(`trades ${symbol}`);
    }

    async unWatchOHLCV(symbol: string, timeframe = "1m"): Promise<void> {
      await this.#leave(`ohlcv ${symbol} ${timeframe}`);
    }

    async unWatchBidsAsks(symbols?: string[]): Promise<void> {
      for (const symbol of await this.#symbols(symbols)) await this.#leave(`bbo ${symbol}`);
    }

    async unWatchTickers(symbols?: string[]): Promise<void> {
      for (const symbol of await this.#symbols(symbols)) {
        this.#owed.delete(`tickers ${symbol}`);
        await this.#leave(`ticker ${symbol}`);
        await this.#leave(`mark ${symbol}`);
      }
    }

    async unWatchTicker(symbol: string): Promise<void> {
      return this.unWatchTickers([symbol]);
    }

    async unWatchOrders(symbol?: string): Promise<void> {
      await this.#leave(`order ${symbol ?? ""}`);
    }

    async unWatchMyTrades(symbol?: string): Promise<void> {
      await this.#leave(`fill ${symbol ?? ""}`);
    }

    async unWatchPositions(symbols?: string[]): Promise<void> {
      for (const key of [...this.#topics.keys()].filter((one) => one.startsWith("positions "))) {
        if (symbols !== undefined && key !== positionsKey(symbols)) continue;
        this.#held.delete(key);
        await this.#leave(key);
      }
    }

    /** Runs work on the same account whose signed requests go over its stream. */
    async #over(work: (exchange: Watch) => Row): Row {
      this.#overStream ??= new Watch({ apiKey: this.apiKey, privateKey: this.privateKey,
        timeout: this.timeout, urls: { api: this.urls["api"] },
        options: { ...this.options, streamOrders: true } });
      this.#overStream._told(this._least);
      const other = this.#overStream;
      const row = await work(other);
      this._told(other._least);
      return row;
    }

    async createOrderWs(symbol: string, type: string, side: string, amount: Number_, price?: Number_,
      params: Dict = {}): Row {
      return this.#over((exchange) => exchange.createOrder(symbol, type, side, amount, price, params));
    }

    async editOrderWs(id: string, symbol: string, type: string, side: string, amount: Number_,
      price: Number_, params: Dict = {}): Row {
      return this.#over((exchange) => exchange.editOrder(id, symbol, type, side, amount, price,
        params));
    }

    async cancelOrderWs(id: string): Row {
      return this.#over((exchange) => exchange.cancelOrder(id));
    }
  }
  return Watch;
}
