// What of ccxt is used, and what the class of perpd adds to it: the shapes of ccxt.ts.

import type { Client } from "./client.js";
import type { Market } from "./market.js";
import type { Order } from "./order.js";
import type * as records from "./types.gen.js";

export type Dict = Record<string, unknown>;
export type Number_ = string | number;
export type Row = Promise<Dict>;
export type Rows = Promise<Dict[]>;

/** What of ccxt.Exchange is used here. */
export interface CcxtExchange {
  has: Dict;
  options: Dict;
  urls: Dict;
  apiKey: string;
  privateKey: string;
  timeout: number;
  symbols: string[];
  deepExtend(...parts: object[]): Dict;
  describe(): Dict;
  loadMarkets(reload?: boolean): Promise<unknown>;
  market(symbol: string): Dict;
  safeSymbol(id: string): string;
  numberToString(value: Number_): string;
  parseNumber(text: string | null): number;
  iso8601(ms: number): string;
  safeMarketStructure(market: Dict): Dict;
  safeTicker(ticker: Dict, market?: Dict): Dict;
  safeTrade(trade: Dict, market?: Dict): Dict;
  safeOrder(order: Dict, market?: Dict): Dict;
  safePosition(position: Dict): Dict;
  safeBalance(balance: Dict): Dict;
  parseOrderBook(book: object, symbol: string, timestamp: number): Dict;
  filterBySymbolSinceLimit(rows: Dict[], symbol?: string, since?: number, limit?: number): Dict[];
  filterByArray(rows: Dict[], key: string, values?: string[]): Dict;
}

type Failure = new (message: string) => Error;
export type Failures = Record<string, Failure>;

/** The module ccxt. */
export interface Ccxt {
  readonly Exchange: new (config?: object) => object;
}

/** What the class adds. Numbers may be strings, which are exact; a float is taken by its shortest
 * decimal, and one between two ticks throws InvalidOrder with both neighbours. */
export interface UsualExchange extends CcxtExchange {
  /** Ends its connections. */
  close(): Promise<void>;
  fetchTime(): Promise<number>;
  fetchStatus(): Row;
  fetchMarkets(): Rows;
  fetchTicker(symbol: string): Row;
  fetchTickers(symbols?: string[]): Row;
  fetchOrderBook(symbol: string, limit?: number): Row;
  fetchTrades(symbol: string, since?: number, limit?: number): Rows;
  fetchOHLCV(symbol: string, timeframe?: string, since?: number, limit?: number)
    : Promise<number[][]>;
  fetchBidsAsks(symbols?: string[]): Row;
  fetchMarkPrices(symbols?: string[]): Row;
  fetchOpenInterest(symbol: string): Row;
  fetchL3OrderBook(symbol: string): Row;
  fetchAccounts(): Rows;
  fetchTradingFee(symbol: string): Row;
  fetchTradingFees(): Row;
  fetchLedger(code?: string, since?: number, limit?: number): Rows;
  fetchFundingRate(symbol: string): Row;
  fetchFundingRates(symbols?: string[]): Row;
  fetchFundingRateHistory(symbol: string, since?: number, limit?: number): Rows;
  fetchBalance(): Row;
  fetchPositions(symbols?: string[]): Rows;
  fetchMyTrades(symbol?: string, since?: number, limit?: number): Rows;
  fetchFundingHistory(symbol?: string, since?: number, limit?: number): Rows;
  fetchOrder(id: string): Row;
  fetchOrders(symbol?: string, since?: number, limit?: number): Rows;
  fetchOpenOrders(symbol?: string, since?: number, limit?: number): Rows;
  fetchClosedOrders(symbol?: string, since?: number, limit?: number): Rows;
  fetchCanceledOrders(symbol?: string, since?: number, limit?: number): Rows;
  /** `params`: timeInForce, postOnly, reduceOnly, requestId or clientOrderId (the order's id, a UUIDv7);
   * triggerPrice or stopLossPrice, or takeProfitPrice (of the mark) for an order that waits.
   * An outcome that is not known in `timeout` ms throws RequestTimeout with `requestId`; the same call
   * with it in `params` cannot execute twice. */
  createOrder(symbol: string, type: string, side: string, amount: Number_, price?: Number_,
    params?: Dict): Row;
  /** `amount` is what shall be left of the order, whose id stays. */
  editOrder(id: string, symbol: string, type: string, side: string, amount: Number_,
    price: Number_, params?: Dict): Row;
  cancelOrder(id: string): Row;
  cancelAllOrders(symbol?: string): Rows;
  /** All are sent, whatever becomes of the others; then the first failure is thrown. */
  cancelOrders(ids: string[]): Rows;
  /** The dead-man: in so many ms all orders are canceled, unless it is set again before; 0 clears it. */
  cancelAllOrdersAfter(timeout: number): Row;
  /** A market order that only reduces, of the position's size. InvalidOrder without a position. */
  closePosition(symbol: string): Row;
  setLeverage(leverage: number, symbol: string): Row;
}

/** An order of createOrders: a limit order. */
export interface OrderRequest {
  readonly symbol: string;
  readonly type: string;
  readonly side: string;
  readonly amount: Number_;
  readonly price?: Number_;
  readonly params?: Dict;
}

/** Money, tiers, batches. */
export interface More {
  fetchCurrencies(): Row;
  fetchLeverageTiers(symbols?: string[]): Row;
  /** Of the position; ExchangeError without one. */
  fetchLeverage(symbol: string): Row;
  fetchPosition(symbol: string): Promise<Dict | undefined>;
  /** `rank` 0 to 4: 4 is deleveraged first. */
  fetchADLRank(symbol: string): Row;
  fetchDeposits(code?: string, since?: number, limit?: number): Rows;
  /** What left, and what came back of it: `status` is "failed" then. Else it is undefined: the exchange
   * shows an account what it reverted, and not what it has settled. */
  fetchWithdrawals(code?: string, since?: number, limit?: number): Rows;
  fetchTransfers(code?: string, since?: number, limit?: number): Rows;
  /** Between subaccounts, by the ids of fetchAccounts; needs a session of scope FULL_ACCESS. `params`:
   * requestId repeats it, as in createOrder. */
  transfer(code: string, amount: Number_, fromAccount: string, toAccount: string, params?: Dict): Row;
  /** Its id is that of the request; needs a session of scope FULL_ACCESS. `params`: requestId repeats
   * it, as in createOrder; an address has no tag. It is pending until the operator settles it. */
  withdraw(code: string, amount: Number_, address: string, tag?: null, params?: Dict): Row;
  /** In one request; a refused one is a row with status "rejected". `params`: requestId repeats the
   * whole, as in createOrder. */
  createOrders(orders: readonly OrderRequest[], params?: Dict): Rows;
  /** The order, and two that close at the market when the mark is there, of which one ends the other.
   * InvalidOrder with `order` when that was placed and an exit failed: `requestId` is the order's, and
   * the same call with it in `params` places what is missing, nothing twice. */
  createOrderWithTakeProfitAndStopLoss(symbol: string, type: string, side: string, amount: Number_,
    price: Number_ | undefined, takeProfit: Number_, stopLoss: Number_, params?: Dict): Row;
  setMarginMode(): Promise<never>;
  setPositionMode(): Promise<never>;
  fetchDepositAddress(): Promise<never>;
}

/** Each watch waits for what is new since the one before: trades, orders and fills each once, NetworkError
 * where some may be missing; of the others the newest state. */
export interface PerpdExchange extends UsualExchange, More {
  watchOrderBook(symbol: string, limit?: number): Row;
  watchTrades(symbol: string): Rows;
  watchBidsAsks(symbols?: string[]): Row;
  /** Behind a change of a best price or a mark: at most one read a second. */
  watchTicker(symbol: string): Row;
  watchTickers(symbols?: string[]): Row;
  /** Behind a trade: at most one read a second. */
  watchOHLCV(symbol: string, timeframe?: string, since?: number, limit?: number): Promise<number[][]>;
  watchLiquidations(symbol: string): Rows;
  watchOrders(symbol?: string): Rows;
  watchMyTrades(symbol?: string): Rows;
  /** Behind a change of the account: at most one read a second. */
  watchBalance(): Row;
  /** The same; one that was closed has `contracts` 0. */
  watchPositions(symbols?: string[]): Rows;
  unWatchOrderBook(symbol: string): Promise<void>;
  unWatchTrades(symbol: string): Promise<void>;
  unWatchBidsAsks(symbols?: string[]): Promise<void>;
  unWatchTicker(symbol: string): Promise<void>;
  unWatchTickers(symbols?: string[]): Promise<void>;
  unWatchOHLCV(symbol: string, timeframe?: string): Promise<void>;
  unWatchOrders(symbol?: string): Promise<void>;
  unWatchMyTrades(symbol?: string): Promise<void>;
  /** Of these symbols as they were watched; without any, all that is watched of positions. */
  unWatchPositions(symbols?: string[]): Promise<void>;
  createOrderWs(symbol: string, type: string, side: string, amount: Number_, price?: Number_,
    params?: Dict): Row;
  editOrderWs(id: string, symbol: string, type: string, side: string, amount: Number_, price: Number_,
    params?: Dict): Row;
  /** Over HTTP, as every cancel: it waits behind no order. */
  cancelOrderWs(id: string): Row;
}

/** What the layers of the class share. */
export interface RestExchange extends UsualExchange {
  _least: bigint | undefined;
  _told(sequence: bigint | null | undefined): void;
  _with<Result>(work: (client: Client) => Promise<Result>): Promise<Result>;
  _at<Result>(symbol: string, work: (client: Client, market: Market, info: Dict) => Promise<Result>)
    : Promise<Result>;
  _perhapsAt<Result>(symbol: string | undefined, work: (client: Client, market?: Market) =>
  Promise<Result>): Promise<Result>;
  _order(info: records.Order): Dict;
  _own(order: Order, symbol: string, type: string): Dict;
  _fill(row: records.Fill): Dict;
  _cash(row: records.CashRow): Dict;
  _position(row: records.Position): Dict;
  _balance(info: records.Balance): Dict;
  _amount(value: Number_): string;
  _candles(symbol: string, timeframe: string, since: number | undefined, limit: number | undefined,
    least: bigint | undefined): Promise<number[][]>;
}

export interface MoreExchange extends RestExchange, More {}
