// watch... of the class of ccxt, by the stream of the library.

import type { Account, PrivateEvent } from "./account.js";
import type { Book } from "./book.js";
import type { Ccxt, Dict, Failures, MoreExchange, Number_, PerpdExchange, Row, Rows }
  from "./ccxt_shape.js";
import type { Client } from "./client.js";
import { Overrun } from "./errors.js";
import type { Market } from "./market.js";
import type * as records from "./types.gen.js";
import type { Bbo, Mark, Trade } from "./views.js";

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

type Watching = { readonly signal: AbortSignal };
type Make<Value> = (client: Client, how: Watching) => AsyncGenerator<Value, void, undefined>;

export function watchOf(ccxt: Ccxt, More: new (config?: object) => MoreExchange)
  : new (config?: object) => PerpdExchange {
  const failures = ccxt as unknown as Failures;
  const broken = (text: string): Error => new (failures["NetworkError"] ?? Error)(`perpd ${text}`);

  class Watch extends More {
    readonly #topics = new Map<string, Topic<unknown>>();
    readonly #readMs = new Map<string, number>();
    #held = new Map<string, records.Position>();
    #overStream: Watch | undefined;

    override describe(): Dict {
      return this.deepExtend(super.describe(), { has: Object.fromEntries(
        HAS.map((name) => [name, true])) as object });
    }

    override async close(): Promise<void> {
      for (const key of [...this.#topics.keys()]) this.#leave(key);
      await this.#overStream?.close();
      this.#overStream = undefined;
      await super.close();
    }

    #leave(key: string): void {
      this.#topics.get(key)?.stop.abort();
      this.#topics.delete(key);
    }

    /** What comes first of these topics: [its key, its value]. */
    async #first<Value>(makes: ReadonlyMap<string, Make<Value>>): Promise<readonly [string, Value]> {
      return this._with(async (client) => {
        const waits = [...makes].map(async ([key, make]) => {
          let topic = this.#topics.get(key) as Topic<Value> | undefined;
          if (topic === undefined) {
            const stop = new AbortController();
            topic = new Topic(make(client, { signal: stop.signal }), stop);
            this.#topics.set(key, topic);
          }
          const wait = topic.waiting();
          try {
            return { key, topic, wait, got: await wait };
          } catch (error) {
            return { key, topic, wait, error };
          }
        });
        const first = await Promise.race(waits);
        first.topic.taken(first.wait);
        if (first.got?.done === false) return [first.key, first.got.value] as const;
        if (this.#topics.get(first.key) === first.topic) this.#topics.delete(first.key);
        if (first.got !== undefined) throw broken("it is not watched any more");
        throw first.error instanceof Overrun ? broken(first.error.message) : first.error;
      });
    }

    async #of<Value>(key: string, make: Make<Value>): Promise<Value> {
      return (await this.#first(new Map([[key, make]])))[1];
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
      return symbols ?? this.symbols;
    }

    async watchOrderBook(symbol: string, limit = 50): Row {
      const market = await this.#market(symbol);
      const depth = DEPTHS.find((one) => one >= limit) ?? 1000;
      let book: Book;
      do {
        book = await this.#of(`book ${symbol}`, (client, how) => client.watchBook(market, depth, how));
      } while (!book.isLive);
      const timestamp = Number(book.timeNs / 1_000_000n);
      const side = (levels: readonly (readonly [unknown, unknown])[]): number[][] =>
        levels.slice(0, limit).map((level) => level.map((one) => this.parseNumber(String(one))));
      return { symbol, bids: side(book.bids()), asks: side(book.asks()), timestamp,
        datetime: this.iso8601(timestamp), nonce: Number(book.seq) };
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
      const [key, one] = await this.#first(makes);
      const symbol = key.slice("bbo ".length);
      const timestamp = Number(one.timeNs / 1_000_000n);
      return { [symbol]: this.safeTicker({ symbol, timestamp, datetime: this.iso8601(timestamp),
        bid: one.bidPrice?.toString(), bidVolume: one.bidSize?.toString(),
        ask: one.askPrice?.toString(), askVolume: one.askSize?.toString(), info: { seq: one.seq } }) };
    }

    async watchTickers(symbols?: string[]): Row {
      const names = await this.#symbols(symbols);
      const makes = new Map<string, Make<Bbo | Mark>>();
      for (const symbol of names) {
        const market = await this.#market(symbol);
        makes.set(`ticker ${symbol}`, (client, how) => client.watchBbo(market, how));
        makes.set(`mark ${symbol}`, (client, how) => client.watchMark(market, how));
      }
      const [key] = await this.#first(makes);
      await this.#pace(`ticker ${names.join()}`);
      return this.fetchTickers([key.slice(key.indexOf(" ") + 1)]);
    }

    async watchTicker(symbol: string): Row {
      return (await this.watchTickers([symbol]))[symbol] as Dict;
    }

    async watchOHLCV(symbol: string, timeframe = "1m", since?: number, limit?: number)
      : Promise<number[][]> {
      const market = await this.#market(symbol);
      const key = `ohlcv ${symbol} ${timeframe}`;
      const one: Trade = await this.#of(key, (client, how) => client.watchTrades(market, how));
      await this.#pace(key);
      return this._candles(symbol, timeframe, since, limit, one.sequence);
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

    async #changed(name: string, path: string): Promise<unknown> {
      const view: Account = await this.#of(name, (client, how) => client.watchAccount(how));
      await this.#pace(name);
      return this._with(({ session }) => session.get(path, { isPrivate: true,
        parameters: session.placeParameters(), least: view.engineSeq }));
    }

    async watchBalance(): Row {
      return this._balance(await this.#changed("balance", "/portfolio/balance") as records.Balance);
    }

    async watchPositions(symbols?: string[]): Rows {
      await this.loadMarkets();
      const size = (row?: records.Position): string => row === undefined ? "" : row.side + row.size;
      for (;;) {
        const found = await this.#changed("positions", "/positions") as readonly records.Position[];
        const [before, now] = [this.#held, new Map(found.map((row) => [row.market, row]))];
        this.#held = now;
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
      this.#leave(`book ${symbol}`);
    }

    async unWatchTrades(symbol: string): Promise<void> {
      this.#leave(`trades ${symbol}`);
    }

    async unWatchOHLCV(symbol: string, timeframe = "1m"): Promise<void> {
      this.#leave(`ohlcv ${symbol} ${timeframe}`);
    }

    async unWatchBidsAsks(symbols?: string[]): Promise<void> {
      for (const symbol of await this.#symbols(symbols)) this.#leave(`bbo ${symbol}`);
    }

    async unWatchTickers(symbols?: string[]): Promise<void> {
      for (const symbol of await this.#symbols(symbols)) {
        this.#leave(`ticker ${symbol}`);
        this.#leave(`mark ${symbol}`);
      }
    }

    async unWatchTicker(symbol: string): Promise<void> {
      return this.unWatchTickers([symbol]);
    }

    async unWatchOrders(symbol?: string): Promise<void> {
      this.#leave(`order ${symbol ?? ""}`);
    }

    async unWatchMyTrades(symbol?: string): Promise<void> {
      this.#leave(`fill ${symbol ?? ""}`);
    }

    async unWatchPositions(): Promise<void> {
      this.#leave("positions");
    }

    /** Runs work on the same account whose signed requests go over its stream. */
    async #over(work: (exchange: Watch) => Row): Row {
      this.#overStream ??= new Watch({ apiKey: this.apiKey, privateKey: this.privateKey,
        timeout: this.timeout, urls: { api: this.urls["api"] },
        options: { ...this.options, streamOrders: true } });
      this.#overStream._least = this._least;
      const row = await work(this.#overStream);
      this._least = this.#overStream._least;
      return row;
    }

    async createOrderWs(symbol: string, type: string, side: string, amount: Number_, price?: Number_,
      params: Dict = {}): Row {
      return this.#over((exchange) => exchange.createOrder(symbol, type, side, amount, price, params));
    }

    async editOrderWs(id: string, symbol: string, type: string, side: string, amount: Number_,
      price: Number_): Row {
      return this.#over((exchange) => exchange.editOrder(id, symbol, type, side, amount, price));
    }

    async cancelOrderWs(id: string): Row {
      return this.#over((exchange) => exchange.cancelOrder(id));
    }
  }
  return Watch;
}
