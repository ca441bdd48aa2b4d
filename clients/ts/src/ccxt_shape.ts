// What of ccxt is used, and what the class of perpd adds to it: the shapes of ccxt.ts.

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
export interface PerpdExchange extends CcxtExchange {
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
    price: Number_): Row;
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
