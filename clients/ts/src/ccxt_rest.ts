// The usual reads and orders of the class of ccxt. What it makes obeys the shapes of ccxt; what it sends
// goes through Client alone.

import { Amount } from "./amount.js";
import type { Ccxt, CcxtExchange, Dict, Failures, Number_, RestExchange, Row, Rows }
  from "./ccxt_shape.js";
import { connect } from "./client.js";
import type { Client } from "./client.js";
import { Lost, NotExecuted, NotOnGrid, OutcomePending, Overrun, Problem, Rejected, WrongExchange }
  from "./errors.js";
import { idBytes, idText, idTimeMs } from "./ids.js";
import type { Market } from "./market.js";
import { Order } from "./order.js";
import type { Direction } from "./order.js";
import { SessionKey } from "./sign.js";
import type { SocketClass } from "./socket.js";
import type { LimitOptions, TimeInForce } from "./trading.js";
import type * as records from "./types.gen.js";

export const QUOTE = "USDC";
export const LIMIT_MAX = 1000;
const FRAMES = { "1m": "1m", "5m": "5m", "15m": "15m", "1h": "1h", "4h": "4h", "1d": "1d" };
const HAS = ["cancelAllOrders", "cancelOrder", "cancelOrders", "closePosition", "createLimitOrder",
  "createMarketOrder", "createOrder", "createPostOnlyOrder", "createReduceOnlyOrder",
  "createStopLossOrder", "createTakeProfitOrder", "createTriggerOrder", "editOrder", "fetchAccounts",
  "fetchBalance", "fetchBidsAsks", "fetchFundingRates", "fetchL3OrderBook", "fetchLedger",
  "fetchMarkPrices", "fetchOpenInterest", "fetchTradingFee", "fetchTradingFees",
  "fetchCanceledOrders", "fetchClosedOrders", "fetchFundingHistory",
  "fetchFundingRate", "fetchFundingRateHistory", "fetchL2OrderBook", "fetchMarkets", "fetchMyTrades",
  "fetchOHLCV", "fetchOpenOrders", "fetchOrder", "fetchOrderBook", "fetchOrders", "fetchPositions",
  "fetchStatus", "fetchTicker", "fetchTickers", "fetchTime", "fetchTrades", "setLeverage", "swap"];
const HAS_NOT = ["CORS", "spot", "margin", "future", "option", "createMarketOrderWs"];

const FAILURES: readonly (readonly [RegExp, string])[] = [
  [/^rate_limited|rejected_rate_limited|too_many_connections/, "RateLimitExceeded"],
  [/invalid_(signature|api_key|device_key)|unauthorized|signature_type_mismatch/, "AuthenticationError"],
  [/read_only_key|not_permitted/, "PermissionDenied"],
  [/insufficient/, "InsufficientFunds"],
  [/order_not_found|conditional_order_not_found/, "OrderNotFound"],
  [/post_only_would_cross_book/, "OrderImmediatelyFillable"],
  [/market_(halted|closed|reduce_only|post_only|cancel_only)|mark_price_zero/, "MarketClosed"],
  [/invalid_market|market_not_found/, "BadSymbol"],
  [/account_suspended/, "AccountSuspended"],
  [/not_ready|internal_error/, "ExchangeNotAvailable"],
  [/order|invalid_(price|size)|size_|trigger|slippage|self_trade/, "InvalidOrder"],
];

const STATE: Readonly<Record<records.Order["order_status"], string>> = {
  OPEN: "open", PARTIALLY_FILLED: "open", UNTRIGGERED: "open", FILLED: "closed",
  CANCELED: "canceled", REJECTED: "rejected", EXPIRED: "expired" };

/** RangeError when there is a parameter. */
export function noneOf(params: Dict): void {
  const unknown = Object.keys(params);
  if (unknown.length > 0) throw new RangeError(`no such parameter: ${unknown.join(", ")}`);
}

/** A request id that is given: RangeError when it is no UUID. */
function idOf(given: unknown): string | undefined {
  return given === undefined || given === null ? undefined : idText(idBytes(String(given)));
}

/** The `requestId` of what takes no other parameter. */
export function repeatedOf(params: Dict): string | undefined {
  const { requestId, ...others } = params;
  noneOf(others);
  return idOf(requestId);
}

/** A flag; RangeError when it is no boolean. */
export function flagOf(name: string, flag: unknown): boolean {
  if (flag !== undefined && flag !== null && typeof flag !== "boolean") {
    throw new RangeError(`${name} is true or false, not ${String(flag)}`);
  }
  return flag === true;
}

/** What needs one request, or a few. */
export function restOf(ccxt: Ccxt): new (config?: object) => RestExchange {
  const Base = ccxt.Exchange as new (config?: object) => CcxtExchange;
  const failures = ccxt as unknown as Failures;

  function failure(name: string, error: Error): Error {
    const made = new (failures[name] ?? Error)(`perpd ${error.message}`);
    return Object.assign(made, { cause: error });
  }

  function translated(error: unknown): unknown {
    if (error instanceof NotOnGrid) return failure("InvalidOrder", error);
    if (error instanceof RangeError || error instanceof TypeError) return failure("BadRequest", error);
    if (error instanceof OutcomePending) {
      return Object.assign(failure("RequestTimeout", error), { requestId: error.requestId });
    }
    if (error instanceof Lost || error instanceof Overrun) return failure("NetworkError", error);
    if (error instanceof NotExecuted || error instanceof WrongExchange) {
      return failure("ExchangeError", error);
    }
    const code = error instanceof Problem ? error.code : error instanceof Rejected ? error.status : "";
    if (code === "") return error;
    const found = FAILURES.find(([words]) => words.test(code));
    return failure(found?.[1] ?? "ExchangeError", error as Error);
  }

  class Perpd extends Base {
    #opened: Promise<Client> | undefined;
    _least: bigint | undefined; // the sequence of the newest own request

    override describe(): Dict {
      const has = [...HAS.map((name) => [name, true]), ...HAS_NOT.map((name) => [name, false])];
      return this.deepExtend(super.describe(), { id: "perpd", name: "perpd", countries: [],
        has: Object.fromEntries(has) as object, timeframes: FRAMES, precisionMode: 4, rateLimit: 5,
        requiredCredentials: { apiKey: true, secret: false, privateKey: true },
        urls: { api: "http://127.0.0.1:8080" } });
    }

    /** Runs work on the client, which the first one connects. Errors are those of ccxt. */
    async _with<Result>(work: (client: Client) => Promise<Result>): Promise<Result> {
      try {
        this.#opened ??= this.#connect();
        return await work(await this.#opened);
      } catch (error) {
        throw translated(error);
      }
    }

    async #connect(): Promise<Client> {
      try {
        const text = this.privateKey;
        const key = text ? await SessionKey.ofText(text) : undefined;
        const { subaccount, portfolio, allowPlain } = this.options;
        return await connect(String(this.urls["api"]), { key, apiKey: this.apiKey || undefined,
          subaccount: Number(subaccount ?? 0), portfolio: Number(portfolio ?? 0),
          allowPlain: allowPlain === true, streamOrders: this.options["streamOrders"] === true,
          timeoutMs: this.timeout, ...this.options["WebSocket"] === undefined ? {} : {
            WebSocket: this.options["WebSocket"] as SocketClass } });
      } catch (error) {
        this.#opened = undefined; // the next call tries again
        throw error;
      }
    }

    /** Runs work on a market, given by its symbol. */
    async _at<Result>(symbol: string, work: (client: Client, market: Market, info: Dict) =>
    Promise<Result>): Promise<Result> {
      await this.loadMarkets();
      const info = this.market(symbol);
      return this._with(async (client) => work(client, await client.market(String(info["id"])), info));
    }

    async _perhapsAt<Result>(symbol: string | undefined, work: (client: Client, market?: Market) =>
    Promise<Result>): Promise<Result> {
      if (symbol !== undefined) return this._at(symbol, work);
      await this.loadMarkets();
      return this._with((client) => work(client));
    }

    async close(): Promise<void> {
      const opened = this.#opened;
      this.#opened = undefined;
      (await opened?.catch(() => undefined))?.close();
    }

    async fetchTime(): Promise<number> {
      return this._with(async ({ session }) => {
        await session.get("/time");
        return session.clock.nowMs();
      });
    }

    async fetchStatus(): Row {
      return this._with(async (client) => {
        const info = await client.status();
        return { status: info.state === "ready" ? "ok" : "maintenance", updated: undefined,
          eta: undefined, url: undefined, info };
      });
    }

    async fetchMarkets(): Rows {
      return this._with(async (client) => (await client.markets()).map(({ record }) => {
        const number = (text: string): number => this.parseNumber(text);
        const { base } = record;
        const [fee] = record.fees;
        return this.safeMarketStructure({ id: record.market, symbol: `${base}/${QUOTE}:${QUOTE}`, base,
          quote: QUOTE, settle: QUOTE, baseId: base, quoteId: QUOTE, settleId: QUOTE, type: "swap",
          spot: false, margin: false, swap: true, future: false, option: false,
          active: record.state === "ACTIVE", contract: true, linear: true, inverse: false,
          contractSize: 1, maker: fee && number(fee.maker_fee_rate),
          taker: fee && number(fee.taker_fee_rate),
          precision: { price: number(record.tick_size), amount: number(record.lot_size) },
          limits: { amount: { min: number(record.min_size), max: number(record.max_order_size) },
            price: { min: number(record.tick_size), max: number(record.max_price) },
            cost: { min: number(record.min_notional), max: undefined },
            leverage: { min: 1, max: record.max_leverage } }, info: record });
      }));
    }

    #ticker(info: records.Ticker): Dict {
      return this.safeTicker({ symbol: this.safeSymbol(info.market),
        high: info.high_24h ?? undefined, low: info.low_24h ?? undefined,
        bid: info.bid_price ?? undefined, ask: info.ask_price ?? undefined,
        open: info.open_24h ?? undefined, last: info.last_price ?? undefined,
        close: info.last_price ?? undefined, baseVolume: info.volume_24h,
        quoteVolume: info.notional_24h, markPrice: info.mark_price ?? undefined,
        indexPrice: info.index_price ?? undefined, info });
    }

    async fetchTicker(symbol: string): Row {
      return this._at(symbol, async (client, market) => this.#ticker(await client.ticker(market)));
    }

    async fetchTickers(symbols?: string[]): Row {
      return this._perhapsAt(undefined, async (client) => this.filterByArray(
        (await client.tickers()).map((row) => this.#ticker(row)), "symbol", symbols));
    }

    async fetchBidsAsks(symbols?: string[]): Row {
      return this.fetchTickers(symbols);
    }

    async fetchMarkPrices(symbols?: string[]): Row {
      return this.fetchTickers(symbols);
    }

    async fetchOpenInterest(symbol: string): Row {
      return this._at(symbol, async (client, market) => {
        const info = await client.ticker(market);
        return { symbol, openInterestAmount: this.parseNumber(info.open_interest),
          openInterestValue: undefined, timestamp: undefined, datetime: undefined, info };
      });
    }

    async fetchL3OrderBook(symbol: string): Row {
      return this._at(symbol, async ({ session }, market) => {
        const book = await session.get(`/markets/${market.name}/book/l3`) as records.BookOrders;
        const side = (name: string): unknown => book.orders.filter((row) => row.side === name)
          .map((row) => [this.parseNumber(row.price), this.parseNumber(row.size), `${row.handle}`]);
        const timestamp = Number(book.time_ns / 1_000_000n);
        return { symbol, bids: side("LONG"), asks: side("SHORT"), timestamp,
          datetime: this.iso8601(timestamp), nonce: Number(book.seq) };
      });
    }

    async fetchAccounts(): Rows {
      return this._with(async ({ session }) => {
        const rows = await session.get("/subaccounts", { isPrivate: true });
        return (rows as readonly records.Subaccount[]).map((info) => ({
          id: String(info.subaccount_index), type: "swap", code: QUOTE, info }));
      });
    }

    async fetchTradingFees(): Row {
      await this.loadMarkets();
      return this._with(async (client) => {
        const info = await client.account();
        return Object.fromEntries((await client.markets()).map(({ name }) => {
          const symbol = this.safeSymbol(name);
          return [symbol, { symbol, info, maker: this.parseNumber(info.maker_fee_rate),
            taker: this.parseNumber(info.taker_fee_rate), percentage: true, tierBased: true }];
        }));
      });
    }

    async fetchTradingFee(symbol: string): Row {
      await this._at(symbol, async () => undefined);
      return (await this.fetchTradingFees())[symbol] as Dict;
    }

    _cash(row: records.CashRow): Dict {
      const [amount, after] = [Amount.of(row.amount), Amount.of(row.balance_after)];
      return { id: `${row.sequence}-${row.index}`, timestamp: row.time,
        datetime: this.iso8601(row.time), direction: amount.raw < 0n ? "out" : "in",
        account: String(row.subaccount_index), referenceId: row.ref_id ?? undefined,
        type: row.kind, currency: QUOTE, status: "ok", info: row,
        amount: Math.abs(this.parseNumber(row.amount)), after: this.parseNumber(`${after}`),
        before: this.parseNumber(`${after.minus(amount)}`) };
    }

    async fetchLedger(code?: string, since?: number, limit = 50): Rows {
      if (code !== undefined && code !== QUOTE) return [];
      return this._with(async (client) => {
        const { history } = await client.cashHistory({ limit: Math.min(limit, LIMIT_MAX) });
        const rows = history.map((row) => this._cash(row));
        return rows.reverse().filter((row) => since === undefined || Number(row["timestamp"]) >= since);
      });
    }

    async fetchFundingRates(symbols?: string[]): Row {
      await this.loadMarkets();
      const names = await this._with((client) => client.markets());
      const rows = await Promise.all(names.map(({ name }) =>
        this.fetchFundingRate(this.safeSymbol(name))));
      return this.filterByArray(rows, "symbol", symbols);
    }

    async fetchOrderBook(symbol: string, limit = 50): Row {
      return this._at(symbol, async (client, market) => {
        const book = await client.bookSnapshot(market, limit);
        return { ...this.parseOrderBook(book, symbol, Number(book.time_ns / 1_000_000n)),
          nonce: Number(book.seq) };
      });
    }

    async fetchTrades(symbol: string, since?: number, limit = 50): Rows {
      return this._at(symbol, async (client, market, info) => {
        const { trades } = await client.trades(market, { limit: Math.min(limit, LIMIT_MAX) });
        return this.filterBySymbolSinceLimit(trades.map((row) => this.safeTrade({
          id: String(row.trade_seq), timestamp: row.time, datetime: this.iso8601(row.time), symbol,
          side: row.taker_side === "LONG" ? "buy" : "sell", price: row.price, amount: row.size,
          info: row }, info)).reverse(), symbol, since, limit);
      });
    }

    async fetchOHLCV(symbol: string, timeframe = "1m", since?: number, limit?: number)
      : Promise<number[][]> {
      return this._candles(symbol, timeframe, since, limit, undefined);
    }

    async _candles(symbol: string, timeframe: string, since: number | undefined,
      limit: number | undefined, least: bigint | undefined): Promise<number[][]> {
      return this._at(symbol, async ({ session }, market) => {
        const shown = await session.get(`/markets/${market.name}/candles`, { least, parameters: {
          interval: timeframe, limit: Math.min(limit ?? 100, LIMIT_MAX) } }) as records.Candles;
        return shown.candles.map((row) => [row.start_time, ...[row.open, row.high, row.low, row.close,
          row.volume].map((text) => this.parseNumber(text))])
          .sort((a, b) => (a[0] ?? 0) - (b[0] ?? 0))
          .filter(([start = 0]) => since === undefined || start >= since);
      });
    }

    async fetchFundingRate(symbol: string): Row {
      return this._at(symbol, async (client, market) => {
        const info = await client.session.get(`/markets/${market.name}/mark`) as records.Mark;
        const timestamp = Number(info.time_ns / 1_000_000n);
        const next = (Math.floor(timestamp / 3_600_000) + 1) * 3_600_000;
        return { info, symbol, markPrice: this.parseNumber(info.mark_price),
          indexPrice: this.parseNumber(info.index_price), timestamp, datetime: this.iso8601(timestamp),
          fundingRate: this.parseNumber(info.predicted_funding_rate), fundingTimestamp: next,
          fundingDatetime: this.iso8601(next), interval: "1h" };
      });
    }

    async fetchFundingRateHistory(symbol: string, since?: number, limit = 50): Rows {
      return this._at(symbol, async (client, market) => {
        const shown = await client.fundingRates(market, { limit: Math.min(limit, LIMIT_MAX) });
        return this.filterBySymbolSinceLimit(shown.funding_rates.map((row) => ({ info: row, symbol,
          fundingRate: this.parseNumber(row.funding_rate), timestamp: row.time,
          datetime: this.iso8601(row.time) })).reverse(), symbol, since, limit);
      });
    }

    async fetchBalance(): Row {
      return this._with(async (client) => this._balance(await client.balance()));
    }

    _balance(info: records.Balance): Dict {
      return this.safeBalance({ info, [QUOTE]: { total: info.equity, free: info.cash_balance } });
    }

    _position(row: records.Position): Dict {
      return this.safePosition({ info: row, id: row.id, symbol: this.safeSymbol(row.market),
        side: row.side === "LONG" ? "long" : "short", contracts: this.parseNumber(row.size),
        contractSize: 1, entryPrice: this.parseNumber(row.average_entry_price),
        markPrice: this.parseNumber(row.mark_price), leverage: row.leverage, hedged: false,
        unrealizedPnl: this.parseNumber(row.unrealized_pnl), marginMode: "cross",
        liquidationPrice: row.liquidation_price === null
          ? undefined : this.parseNumber(row.liquidation_price),
        initialMargin: this.parseNumber(row.initial_margin),
        maintenanceMargin: this.parseNumber(row.maintenance_margin) });
    }

    async fetchPositions(symbols?: string[]): Rows {
      return this._perhapsAt(undefined, async (client) => {
        const rows = (await client.positions()).map((row) => this._position(row));
        return symbols === undefined ? rows
          : rows.filter((row) => symbols.includes(String(row["symbol"])));
      });
    }

    async fetchMyTrades(symbol?: string, since?: number, limit = 50): Rows {
      return this._perhapsAt(symbol, async (client, market) => {
        const rows = await client.fills({ limit: Math.min(limit, LIMIT_MAX), ...market && { market } });
        return this.filterBySymbolSinceLimit(rows.map((row) => this._fill(row)).reverse(), symbol,
          since, limit);
      });
    }

    _fill(row: records.Fill): Dict {
      return this.safeTrade({ id: row.id, order: row.request_id, timestamp: row.time,
        datetime: this.iso8601(row.time), symbol: this.safeSymbol(row.market),
        side: row.side === "LONG" ? "buy" : "sell", takerOrMaker: row.liquidity.toLowerCase(),
        price: row.price, amount: row.quantity, fee: { cost: row.fee, currency: QUOTE }, info: row });
    }

    async fetchFundingHistory(symbol?: string, since?: number, limit = 50): Rows {
      return this._perhapsAt(symbol, async (client, market) => {
        const rows = await client.fundingPayments({ limit: Math.min(limit, LIMIT_MAX),
          ...market && { market } });
        return this.filterBySymbolSinceLimit(rows.map((row) => ({ info: row, id: row.id,
          symbol: this.safeSymbol(row.market), code: QUOTE, timestamp: row.time,
          datetime: this.iso8601(row.time), amount: this.parseNumber(row.payment) })).reverse(),
        symbol, since, limit);
      });
    }

    _order(info: records.Order): Dict {
      return this.safeOrder({ id: info.id, clientOrderId: info.id, timestamp: info.time,
        datetime: this.iso8601(info.time), symbol: this.safeSymbol(info.market),
        lastUpdateTimestamp: Number(info.updated_at_ns / 1_000_000n),
        type: info.order_type.includes("MARKET") ? "market" : "limit",
        side: info.side === "LONG" ? "buy" : "sell", price: info.price ?? undefined,
        amount: info.initial_size, filled: info.filled_size, remaining: info.remaining_size,
        average: info.average_price ?? undefined, status: STATE[info.order_status],
        timeInForce: info.post_only ? "PO" : info.time_in_force, postOnly: info.post_only,
        reduceOnly: info.reduce_only, triggerPrice: info.trigger_price ?? undefined, info });
    }

    /** What the acknowledgement of an order showed. */
    _own(order: Order, symbol: string, type: string): Dict {
      const timestamp = idTimeMs(order.id);
      this._told(order.outcome?.sequence);
      return this.safeOrder({ id: order.id, clientOrderId: order.id, timestamp,
        datetime: this.iso8601(timestamp), symbol, type, side: order.side,
        price: order.price?.toString(), amount: order.size.toString(),
        filled: order.filled.toString(), remaining: order.remaining.toString(),
        average: order.averagePrice?.toString(), status: STATE[order.status as keyof typeof STATE],
        postOnly: order.postOnly, reduceOnly: order.reduceOnly,
        info: order.outcome?.answer ?? {} });
    }

    async fetchOrder(id: string): Row {
      return this._perhapsAt(undefined, async (client) =>
        this._order(await client.orderRecord(id, this._least)));
    }

    #orders(statuses: readonly (string | undefined)[], symbol: string | undefined,
      since: number | undefined, limit = 50): Rows {
      return this._perhapsAt(symbol, async (client, market) => {
        const lists = await Promise.all(statuses.map((status) => client.orders({
          limit: Math.min(limit, LIMIT_MAX), ...status && { status }, ...market && { market } })));
        const rows = lists.flat().sort((a, b) => Number(a.time_ns - b.time_ns));
        return this.filterBySymbolSinceLimit(rows.map((row) => this._order(row)), symbol, since,
          limit);
      });
    }

    async fetchOrders(symbol?: string, since?: number, limit?: number): Rows {
      return this.#orders([undefined], symbol, since, limit);
    }

    async fetchOpenOrders(symbol?: string, since?: number, limit?: number): Rows {
      return this.#orders(["OPEN", "PARTIALLY_FILLED", "UNTRIGGERED"], symbol, since, limit);
    }

    async fetchClosedOrders(symbol?: string, since?: number, limit?: number): Rows {
      return this.#orders(["FILLED"], symbol, since, limit);
    }

    async fetchCanceledOrders(symbol?: string, since?: number, limit?: number): Rows {
      return this.#orders(["CANCELED"], symbol, since, limit);
    }

    /** Reads of own orders are as of this sequence or later. */
    _told(sequence: bigint | null | undefined): void {
      if (sequence !== null && sequence !== undefined && sequence > (this._least ?? -1n)) {
        this._least = sequence;
      }
    }

    _amount(value: Number_): string {
      return typeof value === "string" ? value : this.numberToString(value);
    }

    async createOrder(symbol: string, type: string, side: string, amount: Number_, price?: Number_,
      params: Dict = {}): Row {
      const { timeInForce, postOnly, reduceOnly, requestId, clientOrderId, triggerPrice,
        stopLossPrice, takeProfitPrice, ...others } = params;
      return this._at(symbol, async (client, market) => {
        noneOf(others);
        const isPostOnly = flagOf("postOnly", postOnly);
        if (type !== "limit" && type !== "market") throw new RangeError("the type is limit or market");
        if (type === "limit" && price === undefined) throw new RangeError("a limit order has a price");
        const how: LimitOptions = { reduceOnly: flagOf("reduceOnly", reduceOnly),
          deadlineMs: this.timeout, requestId: idOf(requestId ?? clientOrderId) };
        const size = this._amount(amount);
        const direction = side as Direction;
        const [given, ...more] = Object.entries({ triggerPrice, stopLossPrice, takeProfitPrice })
          .filter(([, value]) => value !== undefined && value !== null);
        if (given !== undefined) {
          if (more.length > 0 || timeInForce !== undefined) {
            throw new RangeError("an order that waits takes one trigger and no timeInForce");
          }
          const trigger = Amount.of(this._amount(given[1] as Number_));
          if (trigger.raw <= 0n) throw new RangeError(`${given[0]} is above 0`);
          const isStop = given[0] !== "takeProfitPrice";
          const kind = isStop ? "STOP" : "TAKE_PROFIT";
          const limit = type === "limit" ? this._amount(price ?? 0) : undefined;
          const name = limit === undefined ? `${kind}_MARKET` as const
            : isStop ? "STOP_LIMIT" : "TAKE_PROFIT";
          return this._own(await client.placeTrigger(market, direction, size, trigger, name,
            { ...how, price: limit, postOnly: isPostOnly }), symbol, type);
        }
        if (type === "market") {
          if (isPostOnly || timeInForce !== undefined) {
            throw new RangeError("a market order takes neither postOnly nor timeInForce");
          }
          return this._own(await client.placeMarket(market, direction, size, how), symbol, type);
        }
        const tif = timeInForce === "PO" ? "GTC" : (timeInForce ?? "GTC") as TimeInForce;
        if (!["GTC", "IOC", "FOK"].includes(tif)) throw new RangeError(`no such timeInForce: ${tif}`);
        return this._own(await client.place(market, direction, size, this._amount(price ?? 0),
          { ...how, tif, postOnly: isPostOnly || timeInForce === "PO" }), symbol, type);
      });
    }

    /** The order of this id, as of the newest own request or later. */
    async #known(client: Client, id: string): Promise<readonly [Order, records.Order]> {
      const record = await client.orderRecord(id, this._least);
      const order = new Order(client, id, await client.market(record.market),
        record.side === "LONG" ? "buy" : "sell", null, Amount.of(record.initial_size),
        { isConditional: record.order_status === "UNTRIGGERED", postOnly: record.post_only,
          reduceOnly: record.reduce_only });
      return [order, record];
    }

    async editOrder(id: string, symbol: string, type: string, side: string, amount: Number_,
      price: Number_, params: Dict = {}): Row {
      return this._at(symbol, async (client, market) => {
        noneOf(params);
        const [order, record] = await this.#known(client, id);
        if (record.market !== market.name || order.side !== side || type !== "limit") {
          throw new RangeError(`order ${id} is a limit order to ${order.side} ${record.market}`);
        }
        await order.replace(this._amount(price), this._amount(amount), { deadlineMs: this.timeout });
        return this._own(order, symbol, type);
      });
    }

    async cancelOrder(id: string): Row {
      return this._perhapsAt(undefined, async (client) => {
        const [order, record] = await this.#known(client, id);
        await order.cancel({ deadlineMs: this.timeout });
        return this._own(order, this.safeSymbol(record.market), "limit");
      });
    }

    async cancelAllOrders(symbol?: string): Rows {
      return this._perhapsAt(symbol, async (client, market) => {
        const { answer, sequence } = await client.cancelAll(market, { deadlineMs: this.timeout });
        this._told(sequence);
        return [this.safeOrder({ info: answer })];
      });
    }

    async cancelOrders(ids: string[]): Rows {
      await this.loadMarkets();
      const done = await Promise.allSettled(ids.map((id) => this.cancelOrder(id)));
      const rows = done.flatMap((one) => one.status === "fulfilled" ? [one.value] : []);
      for (const one of done) if (one.status === "rejected") throw one.reason;
      return rows;
    }

    async cancelAllOrdersAfter(timeout: number): Row {
      return this._with(async (client) => {
        const atNs = BigInt(Math.ceil(client.session.clock.nowMs() + timeout)) * 1_000_000n;
        const outcome = await client.scheduleCancelAll(timeout === 0 ? null : atNs,
          { deadlineMs: this.timeout });
        return { info: outcome.answer };
      });
    }

    async closePosition(symbol: string): Row {
      return this._at(symbol, async (client, market) => {
        const [held] = await client.positions(market);
        if (held === undefined) throw failure("InvalidOrder", new Error(`no position in ${symbol}`));
        return this._own(await client.placeMarket(market, held.side === "LONG" ? "sell" : "buy",
          held.size, { reduceOnly: true, deadlineMs: this.timeout }), symbol, "market");
      });
    }

    async setLeverage(leverage: number, symbol: string): Row {
      return this._at(symbol, async (client, market) =>
        ({ info: await client.setLeverage(market, leverage) }));
    }
  }
  return Perpd;
}
