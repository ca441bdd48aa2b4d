// connect() and the Client: reads, plain writes, trading, streams of one exchange.

import { Account, Private } from "./account.js";
import type { PrivateEvent } from "./account.js";
import type { AmountLike } from "./amount.js";
import { Amount } from "./amount.js";
import { BinaryStream } from "./binary_stream.js";
import { Book } from "./book.js";
import type { Market } from "./market.js";
import type { Order } from "./order.js";
import type { Outcome } from "./requests.js";
import { API, Session } from "./session.js";
import type { Parameters } from "./session.js";
import type { Signer } from "./sign.js";
import type { SocketClass } from "./socket.js";
import { BookSink, Events, Newest, Trades } from "./sinks.js";
import { Arm, PRIVATE, Stream } from "./stream.js";
import type { Event } from "./stream.js";
import { Trading } from "./trading.js";
import type * as records from "./types.gen.js";
import { bboOf, markOf, tradeOf } from "./views.js";
import type { Bbo, Frame, Mark, Trade, TradeData, Traded } from "./views.js";
import { Consumer } from "./wait.js";

const PAGE = 1000;
const TRADES_ROOM = 10_000;

export interface Options {
  /** What signs. It needs an API key beside it, which proves what became of requests. */
  readonly key?: Signer | undefined;
  readonly apiKey?: string | undefined;
  readonly subaccount?: number;
  readonly portfolio?: number;
  readonly allowPlain?: boolean;
  readonly timeoutMs?: number;
  /** Gets the id and the bytes of each request before it is sent. */
  readonly onIntent?: (requestId: string, envelope: string) => void;
  /** Streams are of the subprotocol perps.bin.v1, which has books, best prices, trades and the account;
   * another watch throws RangeError then. */
  readonly binary?: boolean;
  /** Signed requests go over the stream while it is there, else over HTTP, as cancels always do. */
  readonly streamOrders?: boolean;
  /** The class of WebSockets; Node 20 has none of its own. */
  readonly WebSocket?: SocketClass | undefined;
  /** The monotonic clock, for tests. */
  readonly monotonicMs?: (() => number) | undefined;
}

/** A page of a list: rows before this place. */
export interface Paging {
  readonly limit?: number;
  readonly before_sequence?: bigint | undefined;
  readonly before_index?: number | undefined;
}

export interface Watching {
  /** Aborted, the iteration ends. */
  readonly signal?: AbortSignal | undefined;
}

/** A client of the exchange at this address, or at those of the nodes of its cluster; `close` it in the end. Its secrets are shown nowhere. */
export async function connect(address: string | readonly string[], options: Options = {})
  : Promise<Client> {
  if (options.key !== undefined && options.apiKey === undefined) {
    throw new RangeError("key needs apiKey: reads prove what became of requests");
  }
  const session = new Session(typeof address === "string" ? [address] : address, { key: options.key, apiKey: options.apiKey?.trim(),
    subaccount: options.subaccount ?? 0, portfolio: options.portfolio ?? 0,
    allowPlain: options.allowPlain ?? false, timeoutMs: options.timeoutMs ?? 10_000,
    onIntent: options.onIntent ?? (() => undefined), monotonicMs: options.monotonicMs });
  try {
    await session.open();
  } catch (error) {
    session.close();
    throw error;
  }
  const target = session.origins.map((origin) => origin.stream(`${API}/stream`));
  const how = { WebSocket: options.WebSocket,
    ...(session.hasApiKey && { apiKey: () => session.apiKey() }) };
  const client = new Client(session, options.binary === true
    ? new BinaryStream(target, how, session) : new Stream(target, how));
  if (options.streamOrders !== true) return client;
  try {
    await client.followAccount();
    session.overStream = (...words) => client.stream.signed(...words);
  } catch (error) {
    client.close();
    throw error;
  }
  return client;
}

/** One exchange, one portfolio. Amounts come as decimal strings in records (json.md) and as Amount
 * elsewhere. */
export class Client extends Trading {
  #followed: Private | undefined;

  constructor(session: Session, readonly stream: Stream) {
    super(session);
    stream.onEpoch = () => session.nodes.forget();
  }

  close(): void {
    this.stream.close();
    this.session.close();
  }

  /** The market; RangeError when there is none of this name. */
  async market(name: string): Promise<Market> {
    if (!this.session.markets.has(name)) await this.session.loadMarkets();
    const found = this.session.markets.get(name);
    if (found === undefined) throw new RangeError(`no market ${JSON.stringify(name)}`);
    return found;
  }

  async markets(): Promise<Market[]> {
    await this.session.loadMarkets();
    return [...this.session.markets.values()];
  }

  async exchange(): Promise<records.Exchange> {
    return await this.session.get("/exchange") as records.Exchange;
  }

  async status(): Promise<records.State> {
    return await this.session.get("/status") as records.State;
  }

  /** How long the stages of requests took since the exchange started, in its own buckets: the
   * difference of two answers is what happened between them. Problem 404 where net.latency keeps it
   * from the public. */
  async latency(): Promise<records.Latency> {
    return await this.session.get("/latency") as records.Latency;
  }

  async mark(market: Market): Promise<Mark> {
    const shown = await this.session.get(`/markets/${market.name}/mark`) as records.Mark;
    return markOf(shown, shown as unknown as Readonly<Record<string, unknown>>);
  }

  async bookSnapshot(market: Market, depth = 50): Promise<records.Book> {
    return await this.session.get(`/markets/${market.name}/book`,
      { parameters: { depth } }) as records.Book;
  }

  /** Newest first; a page further back by the last one's next_before_*. */
  async trades(market: Market, paging: Paging = {}): Promise<records.Trades> {
    return await this.session.get(`/markets/${market.name}/trades`,
      { parameters: { limit: 50, ...paging } }) as records.Trades;
  }

  async ticker(market: Market): Promise<records.Ticker> {
    return await this.session.get(`/markets/${market.name}/ticker`) as records.Ticker;
  }

  async tickers(): Promise<readonly records.Ticker[]> {
    return (await this.session.get("/tickers") as records.Tickers).tickers;
  }

  async fundingRates(market: Market, paging: Paging = {}): Promise<records.FundingRates> {
    return await this.session.get(`/markets/${market.name}/funding-rates`,
      { parameters: { limit: 50, ...paging } }) as records.FundingRates;
  }

  async account(): Promise<records.Account> {
    return await this.session.get("/account", { isPrivate: true }) as records.Account;
  }

  async balance(): Promise<records.Balance> {
    return await this.#list("/portfolio/balance") as records.Balance;
  }

  async #list(path: string, parameters: Parameters = {}): Promise<unknown> {
    return this.session.get(path, { isPrivate: true,
      parameters: { ...this.session.placeParameters(), ...parameters } });
  }

  async positions(market?: Market): Promise<readonly records.Position[]> {
    return await this.#list("/positions", { market: market?.name }) as records.Position[];
  }

  /** Newest first; a page further back by sequence and index of the last row. */
  async orders(filter: Paging & { readonly market?: Market; readonly status?: string } = {})
    : Promise<readonly records.Order[]> {
    const { market, ...rest } = filter;
    return await this.#list("/orders", { limit: 50, ...rest, market: market?.name }) as
      records.Order[];
  }

  async fills(filter: Paging & { readonly market?: Market } = {}): Promise<readonly records.Fill[]> {
    const { market, ...rest } = filter;
    return await this.#list("/fills", { limit: 50, ...rest, market: market?.name }) as
      records.Fill[];
  }

  async fundingPayments(filter: Paging & { readonly market?: Market } = {})
    : Promise<readonly records.FundingPayment[]> {
    const { market, ...rest } = filter;
    return await this.#list("/funding-payments", { limit: 50, ...rest, market: market?.name }) as
      records.FundingPayment[];
  }

  /** Every change of the portfolio's cash, newest first. */
  async cashHistory(paging: Paging = {}): Promise<records.CashHistory> {
    return await this.#list("/cash/history", { limit: 50, ...paging }) as records.CashHistory;
  }

  /** What became of a request of this account, also of one that another process sent: waits until it is
   * definite; NotExecuted. */
  async outcome(requestId: string): Promise<Outcome> {
    return this.session.sender.settled(requestId);
  }

  async setLeverage(market: Market, leverage: number): Promise<records.LeverageSet> {
    return await this.session.write("PUT", "/leverage", { leverage, market: market.name,
      ...this.session.placeParameters() }) as records.LeverageSet;
  }

  /** Cancels every order of the market, and closes its position at the market, reducing only; what the
   * book has no one for stays. Placements of this client whose calls still wait are not ended by it:
   * end those calls before, by their `signal`. */
  async flatten(market: Market): Promise<void> {
    await this.cancelAll(market);
    for (const { side, size } of await this.positions(market)) {
      await this.placeMarket(market, side === "LONG" ? "sell" : "buy", size, { reduceOnly: true });
    }
  }

  /** Test money. It is sent once: the write has no id, so a repeat could credit twice. After Lost read
   * the balance. */
  async faucet(amount: AmountLike): Promise<records.Balance> {
    return await this.session.write("POST", "/faucet", { amount: Amount.of(amount).toString(),
      ...this.session.placeParameters() }, false) as records.Balance;
  }

  /** What happens to the stream and its subscriptions. */
  watchEvents(watching: Watching = {}): AsyncGenerator<Event, void, undefined> {
    return this.stream.events(watching.signal);
  }

  async* #newest<View>(channel: string, market: Market, view: (frame: Frame) => View,
    stop: AbortSignal | undefined): AsyncGenerator<View, void, undefined> {
    const subscription = this.stream.subscribe(channel, market.name, () => new Newest());
    const sink = subscription.sink as Newest;
    let count: number | undefined = 0;
    try {
      while (count !== undefined) {
        if (sink.value !== undefined) {
          count = sink.signal.count;
          yield view(sink.value);
        }
        count = await sink.signal.after(count, stop);
      }
    } finally {
      this.stream.release(subscription);
    }
  }

  /** The sink of the account's channel, which is kept until the client is closed. */
  #private(): Private {
    if (this.#followed === undefined) {
      this.session.apiKey();
      const sink = new Private(new Account(this.session));
      this.stream.subscribe(PRIVATE, "", () => sink, undefined, () => sink.caughtUp());
      this.#followed = sink;
    }
    return this.#followed;
  }

  /** The account view of this portfolio, once it is live, kept until the client is closed. The orders of
   * this client show what their events say from then on. Problem: the key is refused. */
  override async followAccount(): Promise<Account> {
    const { account, signal } = this.#private();
    let count: number | undefined = signal.count - 1;
    while (!account.isLive) count = await signal.after(count ?? signal.count);
    return account;
  }

  override async accountChanged(): Promise<void> {
    const { signal } = this.#private();
    await signal.after(signal.count);
  }

  protected override async seen(order: Order, outcome: Outcome): Promise<Order> {
    await super.seen(order, outcome); // first: an event of before would show a former price
    this.#followed?.account.follow(order);
    return order;
  }

  /** The same Account after each change, also when it is lost: see `isLive`. */
  async* watchAccount(watching: Watching = {}): AsyncGenerator<Account, void, undefined> {
    const { account, signal } = this.#private();
    let count: number | undefined = signal.count;
    if (account.isLive) yield account;
    for (;;) {
      count = await signal.after(count, watching.signal);
      if (count === undefined) return;
      yield account;
    }
  }

  /** Every event of the account (J9) from now on, also those of a time without connection. Overrun when
   * `room` of them were not taken, or when the exchange keeps them no more. */
  async* watchPrivate(watching: Watching & { readonly room?: number } = {})
    : AsyncGenerator<PrivateEvent, void, undefined> {
    const { consumers } = this.#private();
    const consumer = new Consumer<Frame>(watching.room ?? TRADES_ROOM);
    consumers.add(consumer);
    try {
      for (;;) {
        const frame = await consumer.next(watching.signal);
        if (frame === undefined) return;
        yield { event: String(frame.data["event"]), data: frame.data, seq: frame.seq,
          engineSeq: frame.engine_seq, timeNs: frame.time_ns };
      }
    } finally {
      consumers.delete(consumer);
    }
  }

  /** The exchange cancels the orders of this subaccount when the connection is lost and does not come
   * back within the grace (wire.md W9); returns when that is durable. The account is followed then.
   * `keepOnDisconnect` ends it. Problem: it was refused. */
  async cancelOnDisconnect(graceMs = 2000): Promise<Arm> {
    await this.followAccount();
    const arm = new Arm(this.session.place.subaccount_index, graceMs);
    await this.stream.arm(arm);
    return arm;
  }

  /** Ends what `cancelOnDisconnect` began: the orders stay. Lost, Problem: perhaps not. */
  async keepOnDisconnect(arm: Arm): Promise<void> {
    await this.stream.disarm(arm);
  }

  /** The mark price; a consumer that is slow gets the newest value only. */
  watchMark(market: Market, watching: Watching = {}): AsyncGenerator<Mark, void, undefined> {
    return this.#newest("mark", market, (frame) => markOf(frame, frame.data), watching.signal);
  }

  /** The best bid and ask; a consumer that is slow gets the newest value only. */
  watchBbo(market: Market, watching: Watching = {}): AsyncGenerator<Bbo, void, undefined> {
    return this.#newest("bbo", market, (frame) => bboOf(frame, frame.data), watching.signal);
  }

  /** The same Book after each change, also when it is lost: see `isLive`. */
  async* watchBook(market: Market, depth = 50, watching: Watching = {})
    : AsyncGenerator<Book, void, undefined> {
    const subscription = this.stream.subscribe("book", market.name,
      () => new BookSink(new Book(market, depth)), depth);
    const sink = subscription.sink as BookSink;
    let count: number | undefined = 0;
    try {
      for (;;) {
        count = await sink.signal.after(count, watching.signal);
        if (count === undefined) return;
        yield sink.book;
      }
    } finally {
      this.stream.release(subscription);
    }
  }

  /** Every trade from now on, also those of a time without connection; Overrun when `room` of them
   * were not taken. */
  async* watchTrades(market: Market, watching: Watching & { readonly room?: number } = {})
    : AsyncGenerator<Trade, void, undefined> {
    const subscription = this.stream.subscribe("trades", market.name,
      () => new Trades((last) => this.#tradesAfter(market, last)));
    const consumer = new Consumer<Traded>(watching.room ?? TRADES_ROOM);
    const { consumers } = subscription.sink as Trades;
    consumers.add(consumer);
    try {
      for (;;) {
        const trade = await consumer.next(watching.signal);
        if (trade === undefined) return;
        yield tradeOf(trade);
      }
    } finally {
      consumers.delete(consumer);
      this.stream.release(subscription);
    }
  }

  /** Every liquidation from now on; Overrun ends it where some may be missing: behind a break of the
   * connection, and when `room` were not taken. The reads have them all. */
  async* watchLiquidations(market: Market, watching: Watching & { readonly room?: number } = {})
    : AsyncGenerator<records.Liquidation, void, undefined> {
    const subscription = this.stream.subscribe("liquidations", market.name, () => new Events());
    const consumer = new Consumer<Frame>(watching.room ?? TRADES_ROOM);
    const { consumers } = subscription.sink as Events;
    consumers.add(consumer);
    try {
      for (;;) {
        const frame = await consumer.next(watching.signal);
        if (frame === undefined) return;
        yield frame.data as unknown as records.Liquidation;
      }
    } finally {
      consumers.delete(consumer);
      this.stream.release(subscription);
    }
  }

  /** The trades above this number, oldest first. */
  async #tradesAfter(market: Market, last: bigint): Promise<readonly TradeData[]> {
    const found: TradeData[] = [];
    let page = await this.trades(market, { limit: PAGE });
    for (;;) {
      const rows = page.trades.filter((row) => row.trade_seq > last);
      found.push(...rows);
      if (rows.length < page.trades.length || page.next_before_sequence === null) break;
      page = await this.trades(market, { limit: PAGE,
        before_sequence: page.next_before_sequence,
        before_index: page.next_before_index ?? undefined });
    }
    return found.reverse();
  }
}
