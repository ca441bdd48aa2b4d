// The signed requests of a session: orders, cancels, batches, the dead-man, cash.

import type { Account } from "./account.js";
import { addressOf } from "./address.js";
import type { AddressLike } from "./address.js";
import { Amount } from "./amount.js";
import type { AmountLike } from "./amount.js";
import { PerpdError, Rejected } from "./errors.js";
import { followingId, idBytes } from "./ids.js";
import type { Market } from "./market.js";
import { Order } from "./order.js";
import type { Change, Direction, Replacement } from "./order.js";
import type { Outcome, Waiting } from "./requests.js";
import type { Session } from "./session.js";
import type { Order as OrderRecord } from "./types.gen.js";
import type { BatchItem, Bodies, LiveTif, PortfolioId, Side, Stp, TriggerSource }
  from "./wire.gen.js";

export type TimeInForce = "GTC" | "IOC" | "FOK";
export type Trigger = "STOP_LIMIT" | "STOP_MARKET" | "TAKE_PROFIT" | "TAKE_PROFIT_MARKET";

const GTC = 2n ** 64n - 1n;
const EXPIRY: Readonly<Record<TimeInForce, bigint>> = { IOC: 0n, FOK: 1n, GTC };
const ALL_ASSETS = 0xffff;
const USDC_DECIMALS = 6;
const NO_ID = "00000000-0000-0000-0000-000000000000";

/** `requestId` repeats an intent that may have been sent before; with `isNew` it is that of a new one,
 * and stays it. */
export interface Sending extends Waiting {
  readonly requestId?: string | undefined;
  readonly isNew?: boolean;
}

export interface LimitOptions extends Sending {
  readonly postOnly?: boolean;
  readonly reduceOnly?: boolean;
  readonly tif?: TimeInForce;
  /** Instead of `tif`: good till that time. */
  readonly expiresAtNs?: bigint | undefined;
  readonly stp?: Stp;
}

export interface MarketOptions extends Sending {
  readonly reduceOnly?: boolean;
  readonly stp?: Stp;
  /** 0: the market's own. */
  readonly maxSlippagePpm?: number;
}

export interface TriggerOptions extends Sending {
  /** For STOP_LIMIT and TAKE_PROFIT, which then wait as GTC unless `liveTif` says otherwise; the
   * market kinds are IOC. */
  readonly price?: AmountLike | undefined;
  readonly source?: TriggerSource;
  readonly postOnly?: boolean;
  readonly reduceOnly?: boolean;
  readonly liveTif?: LiveTif;
  readonly expiresAtNs?: bigint | undefined;
  readonly stp?: Stp;
  readonly maxSlippagePpm?: number;
  readonly ocoGroup?: string | undefined;
}

/** A limit order of a batch. */
export interface Placement extends Omit<LimitOptions, keyof Sending> {
  readonly market: Market;
  readonly side: Direction;
  readonly size: AmountLike;
  readonly price: AmountLike;
}

const URGENT: ReadonlySet<string> = new Set(["conditional_order_cancel", "order_cancel",
  "cancel_all_orders", "schedule_cancel_all"]);

/** W3: positive buys, negative sells. RangeError for another side. */
function quantityOf(side: Direction, rawSize: bigint): bigint {
  if (side !== "buy" && side !== "sell") throw new RangeError("the side is 'buy' or 'sell'");
  return side === "buy" ? rawSize : -rawSize;
}

function expiryOf(how: LimitOptions): bigint {
  return how.expiresAtNs ?? EXPIRY[how.tif ?? "GTC"];
}

function expectedOf(market: Market, size: AmountLike | undefined): bigint {
  return size === undefined ? 0n : Amount.of(size).at(market.sizeDecimals);
}

/** Each method waits for the definite outcome, or throws OutcomePending when its waiting ends. A refusal
 * is Rejected. */
export class Trading {
  constructor(readonly session: Session) {}

  async #send<Name extends keyof Bodies>(name: Name, body: Bodies[Name], how: Sending)
    : Promise<Outcome> {
    const { sender } = this.session;
    return sender.result(await sender.begin(name, body, { requestId: how.requestId,
      signal: how.signal, isUrgent: URGENT.has(name), ...how.isNew === true && { isNew: true, hasOwnIds: true } }), how);
  }

  async orderRecord(orderId: string, least?: bigint): Promise<OrderRecord> {
    idBytes(orderId);
    return await this.session.get(`/orders/${orderId}`, { isPrivate: true, least }) as OrderRecord;
  }

  /** The order's record, and the sequence that it is of. */
  async orderAt(orderId: string, least?: bigint): Promise<readonly [OrderRecord, bigint]> {
    idBytes(orderId);
    const [record, at] = await this.session.getAt(`/orders/${orderId}`, {}, least);
    return [record as OrderRecord, at];
  }

  /** The account view, once it is live, kept until the client is closed; the orders of this client
   * follow their events from then on. */
  async followAccount(): Promise<Account> {
    throw new PerpdError("only a Client has a stream");
  }

  /** Waits for the next change of the account that is followed. */
  async accountChanged(): Promise<void> {
    throw new PerpdError("only a Client has a stream");
  }

  /** A limit order. */
  async place(market: Market, side: Direction, size: AmountLike, price: AmountLike,
    how: LimitOptions = {}): Promise<Order> {
    const order = new Order(this, NO_ID, market, side, Amount.of(price), Amount.of(size), how);
    return this.#placed(order, how, "place_limit_order", {
      portfolio_id: this.session.place, price: market.rawPrice(price),
      quantity: quantityOf(side, market.rawSize(size)), expiry: expiryOf(how),
      post_only: order.postOnly, reduce_only: order.reduceOnly, stp: how.stp ?? "EXPIRE_TAKER",
      asset: market.assetId });
  }

  async placeMarket(market: Market, side: Direction, size: AmountLike, how: MarketOptions = {})
    : Promise<Order> {
    const order = new Order(this, NO_ID, market, side, null, Amount.of(size), how);
    return this.#placed(order, how, "place_market_order", {
      portfolio_id: this.session.place, quantity: quantityOf(side, market.rawSize(size)),
      max_slippage_ppm: how.maxSlippagePpm ?? 0, asset: market.assetId,
      reduce_only: order.reduceOnly, stp: how.stp ?? "EXPIRE_TAKER" });
  }

  /** A conditional order. */
  async placeTrigger(market: Market, side: Direction, size: AmountLike, triggerPrice: AmountLike,
    kind: Trigger, how: TriggerOptions = {}): Promise<Order> {
    const price = how.price === undefined ? null : Amount.of(how.price);
    const order = new Order(this, NO_ID, market, side, price, Amount.of(size),
      { ...how, isConditional: true });
    return this.#placed(order, how, "place_conditional_order", {
      portfolio_id: this.session.place, trigger_price: market.rawPrice(triggerPrice),
      price: price === null ? 0n : market.rawPrice(price),
      quantity: quantityOf(side, market.rawSize(size)), expiry: how.expiresAtNs ?? GTC,
      post_only: order.postOnly, reduce_only: order.reduceOnly, stp: how.stp ?? "EXPIRE_TAKER",
      order_type: kind, asset: market.assetId, max_slippage_ppm: how.maxSlippagePpm ?? 0,
      trigger_source: how.source ?? "MARK",
      live_tif: how.liveTif ?? (price === null ? "IOC" : "GTC"),
      oco_group: how.ocoGroup ?? NO_ID });
  }

  async #placed<Name extends keyof Bodies>(order: Order, how: Sending, name: Name,
    body: Bodies[Name]): Promise<Order> {
    const outcome = await this.#send(name, body, how);
    order.id = outcome.requestId;
    return this.seen(order, outcome);
  }

  /** The order with what the outcome shows of it, or else with what a read shows. */
  protected async seen(order: Order, outcome: Outcome): Promise<Order> {
    return order.acknowledge(outcome) ? order : order.refresh(outcome.sequence ?? undefined);
  }

  /** `size` is the new remaining size. It is good till canceled then. */
  async replace(order: Order, price: AmountLike, size: AmountLike, how: Replacement = {})
    : Promise<Order> {
    const { market } = order;
    const outcome = await this.#send("order_replacement", {
      portfolio_id: this.session.place, order_id: order.id, price: market.rawPrice(price),
      quantity: quantityOf(order.side, market.rawSize(size)), expiry: GTC,
      post_only: how.postOnly ?? order.postOnly, reduce_only: order.reduceOnly,
      stp: "EXPIRE_TAKER", asset: market.assetId,
      expected_remaining: expectedOf(market, how.expectedRemaining) }, how);
    order.price = Amount.of(price);
    return this.seen(order, outcome);
  }

  async reduce(order: Order, by: AmountLike, how: Change = {}): Promise<Order> {
    const { market } = order;
    return this.seen(order, await this.#send("order_reduction", {
      portfolio_id: this.session.place, order_id: order.id, reduce_by: market.rawSize(by),
      expected_remaining: expectedOf(market, how.expectedRemaining), asset: market.assetId }, how));
  }

  async cancel(order: Order, waiting: Waiting = {}): Promise<Order> {
    const name = order.isConditional ? "conditional_order_cancel" : "order_cancel";
    return this.seen(order, await this.#send(name, { portfolio_id: this.session.place,
      order_id: order.id, asset: order.market.assetId }, waiting));
  }

  /** Every order of the portfolio, in one market or in all. */
  async cancelAll(market?: Market, how: Waiting & { readonly side?: Side;
    readonly includeConditional?: boolean; } = {}): Promise<Outcome> {
    return this.#send("cancel_all_orders", { portfolio_id: this.session.place,
      asset: market?.assetId ?? ALL_ASSETS, side: how.side ?? "BOTH",
      include_conditional: how.includeConditional ?? true }, how);
  }

  /** Places the placements and cancels the orders, in one request and in this order: of each the
   * order, or why it was refused. The ids of the orders follow from that of the request. An order that
   * could not be read afterwards is shown as it was placed or canceled. */
  async batch(items: readonly (Placement | Order)[], how: Sending & { readonly atomic?: boolean } =
  {}): Promise<(Order | Rejected)[]> {
    const { sender, place } = this.session;
    const batchId = how.requestId ?? sender.newId();
    const ids = items.map((item, at) => item instanceof Order ? item.id
      : followingId(batchId, at + 1));
    const request = await sender.begin("order_batch", { portfolio_id: place,
      atomic: how.atomic ?? false, items: items.map((item, at) => itemOf(item, ids[at] ?? NO_ID)) },
    { requestId: batchId, isNew: how.requestId === undefined, hasOwnIds: true, signal: how.signal });
    let outcome = await sender.result(request, how);
    if (!Array.isArray(outcome.answer["results"])) { // of a duplicate: its record has them
      outcome = await sender.settled(request.id);
    }
    const results = outcome.answer["results"] as readonly string[];
    return Promise.all(items.map(async (item, at) => {
      const [id, status] = [ids[at] ?? NO_ID, results[at] ?? ""];
      if (status !== "request_completed") return new Rejected(status, null, id);
      const order = item instanceof Order ? item : new Order(this, id, item.market, item.side,
        Amount.of(item.price), Amount.of(item.size), item);
      order.executed(outcome, item instanceof Order);
      // It is known what was done: to fail would have it repeated.
      return order.refresh(outcome.sequence ?? undefined).catch(() => order);
    }));
  }

  /** The dead-man: at this time of the exchange's clock every order is canceled, unless it is set again
   * before; null clears it. */
  async scheduleCancelAll(deadlineNs: bigint | null, waiting: Waiting = {}): Promise<Outcome> {
    return this.#send("schedule_cancel_all", { portfolio_id: this.session.place,
      deadline_ns: deadlineNs ?? 0n }, waiting);
  }

  /** USDC to another portfolio; needs a session of scope FULL_ACCESS. */
  async transfer(to: PortfolioId, amount: AmountLike, how: Sending = {}): Promise<Outcome> {
    return this.#send("transfer", { from: this.session.place, to,
      amount: Amount.of(amount).at(USDC_DECIMALS) }, how);
  }

  /** USDC to an address, whose checksum (EIP-55) is judged where its text has one; needs a session of
   * scope FULL_ACCESS. */
  async withdraw(amount: AmountLike, destination: AddressLike, how: Sending = {})
    : Promise<Outcome> {
    return this.#send("withdraw", { portfolio_id: this.session.place,
      amount: Amount.of(amount).at(USDC_DECIMALS), destination: addressOf(destination) }, how);
  }
}

function itemOf(item: Placement | Order, orderId: string): BatchItem {
  const empty = { post_only: false, reduce_only: false, stp: "EXPIRE_TAKER" as const,
    asset: item.market.assetId, price: 0n, quantity: 0n, expiry: 0n, order_id: orderId,
    expected_remaining: 0n };
  if (item instanceof Order) return { ...empty, op: "CANCEL" };
  return { ...empty, op: "PLACE_LIMIT", post_only: item.postOnly ?? false,
    reduce_only: item.reduceOnly ?? false, stp: item.stp ?? "EXPIRE_TAKER",
    price: item.market.rawPrice(item.price),
    quantity: quantityOf(item.side, item.market.rawSize(item.size)), expiry: expiryOf(item) };
}
