// What the class of ccxt has beside the usual reads and orders: currencies, tiers, deposits, transfers,
// withdrawals, batches, orders with exits; what the exchange has not is refused.

import { LIMIT_MAX, QUOTE, flagOf, repeatedOf } from "./ccxt_rest.js";
import type { Ccxt, Dict, Failures, MoreExchange, Number_, OrderRequest, RestExchange, Row, Rows }
  from "./ccxt_shape.js";
import { Rejected } from "./errors.js";
import { followingId } from "./ids.js";
import type { Direction } from "./order.js";
import type { Outcome } from "./requests.js";
import type { Placement, TimeInForce } from "./trading.js";

const HAS = ["createOrderWithTakeProfitAndStopLoss", "createOrders", "fetchADLRank", "fetchCurrencies",
  "fetchDeposits", "fetchLeverage", "fetchLeverageTiers", "fetchPosition", "fetchTransfers",
  "fetchWithdrawals", "transfer", "withdraw"];
const HAS_NOT = ["borrowCrossMargin", "borrowIsolatedMargin", "createDepositAddress",
  "fetchDepositAddress", "setMarginMode", "setPositionMode"];
const [DEPOSITS, WITHDRAWALS] = [["deposit", "faucet"], ["withdrawal", "withdrawal_reverted"]];

function isNone(value: unknown): boolean {
  return value === undefined || value === null;
}

function usdc(code: string): void {
  if (code !== QUOTE) throw new RangeError(`${code}: only ${QUOTE} is held`);
}

export function moreOf(ccxt: Ccxt, Rest: new (config?: object) => RestExchange)
  : new (config?: object) => MoreExchange {
  const failures = ccxt as unknown as Failures;
  const raised = (name: string, text: string): Error =>
    new (failures[name] ?? Error)(`perpd ${text}`);

  class More extends Rest {
    override describe(): Dict {
      const has = [...HAS.map((name) => [name, true]), ...HAS_NOT.map((name) => [name, false])];
      return this.deepExtend(super.describe(), { has: Object.fromEntries(has) as object });
    }

    async fetchCurrencies(): Row {
      return { [QUOTE]: { id: QUOTE, code: QUOTE, name: "USD Coin", type: "crypto", active: true,
        deposit: false, withdraw: true, fee: undefined, precision: 1e-6, networks: {}, info: {},
        limits: { amount: { min: 1e-6, max: undefined }, withdraw: { min: 1, max: undefined } } } };
    }

    async fetchLeverageTiers(symbols?: string[]): Row {
      await this.loadMarkets();
      const markets = await this._with((client) => client.markets());
      const rows = markets.map(({ name, record }): readonly [string, Dict[]] => {
        const symbol = this.safeSymbol(name);
        let minNotional = 0;
        return [symbol, record.tiers.map((tier, at) => {
          const maxNotional = tier.upper_notional === null ? undefined
            : this.parseNumber(tier.upper_notional);
          const row = { tier: at + 1, symbol, currency: QUOTE, minNotional, maxNotional,
            maintenanceMarginRate: tier.mmr_ppm / 1e6, maxLeverage: tier.max_leverage, info: tier };
          minNotional = maxNotional ?? minNotional;
          return row;
        })];
      });
      return Object.fromEntries(rows.filter(([symbol]) => symbols?.includes(symbol) ?? true));
    }

    async fetchLeverage(symbol: string): Row {
      const held = await this.fetchPosition(symbol);
      if (held === undefined) throw raised("ExchangeError", `no position in ${symbol}, which shows it`);
      const { leverage } = held["info"] as { leverage: number };
      return { info: held["info"], symbol, marginMode: "cross", longLeverage: leverage,
        shortLeverage: leverage };
    }

    async fetchPosition(symbol: string): Promise<Dict | undefined> {
      return this._at(symbol, async (client, market) => {
        const [held] = await client.positions(market);
        return held === undefined ? undefined : this._position(held);
      });
    }

    async fetchADLRank(symbol: string): Row {
      return this._at(symbol, async (client, market) => {
        const [info] = await client.positions(market);
        return { info, symbol, rank: info?.adl_quantile, rating: undefined, percentage: undefined,
          timestamp: undefined, datetime: undefined };
      });
    }

    /** The newest rows of the cash history of these kinds, oldest first. */
    async #ofKinds(kinds: readonly string[], code: string | undefined, since: number | undefined,
      limit = 50): Rows {
      if (code !== undefined && code !== QUOTE) return [];
      return this._with(async (client) => {
        const rows = [];
        const wanted = Math.min(limit, LIMIT_MAX);
        let paging: object = {};
        for (;;) {
          const page = await client.cashHistory({ limit: LIMIT_MAX, ...paging });
          rows.push(...page.history.filter(({ kind }) => kinds.includes(kind)));
          if (rows.length >= wanted || page.next_before_sequence === null ||
              (page.history.at(-1)?.time ?? 0) < (since ?? 0)) break;
          paging = { beforeSequence: page.next_before_sequence,
            beforeIndex: page.next_before_index ?? undefined };
        }
        return rows.slice(0, wanted).filter(({ time }) => since === undefined || time >= since)
          .map((row) => ({ ...this._cash(row), txid: undefined, address: undefined, tag: undefined,
            fee: undefined, network: undefined, updated: undefined, internal: false })).reverse();
      });
    }

    async fetchDeposits(code?: string, since?: number, limit?: number): Rows {
      return (await this.#ofKinds(DEPOSITS, code, since, limit)).map((row) =>
        ({ ...row, type: "deposit" }));
    }

    async fetchWithdrawals(code?: string, since?: number, limit?: number): Rows {
      return (await this.#ofKinds(WITHDRAWALS, code, since, limit)).map((row) => ({ ...row,
        type: "withdrawal", id: row["referenceId"],
        status: row["direction"] === "in" ? "failed" : undefined }));
    }

    async fetchTransfers(code?: string, since?: number, limit?: number): Rows {
      return (await this.#ofKinds(["transfer"], code, since, limit)).map((row) => {
        const out = row["direction"] === "out";
        return { ...row, fromAccount: out ? row["account"] : undefined,
          toAccount: out ? undefined : row["account"] };
      });
    }

    async transfer(code: string, amount: Number_, fromAccount: string, toAccount: string,
      params: Dict = {}): Row {
      const done = await this._with(async (client) => {
        usdc(code);
        const requestId = repeatedOf(params);
        if (!/^[0-9]+$/.test(String(toAccount))) {
          throw new RangeError(`${JSON.stringify(toAccount)} is no id of an account`);
        }
        const { place } = client.session;
        if (fromAccount !== String(place.subaccount_index)) {
          throw new RangeError(`this one is of subaccount ${place.subaccount_index}`);
        }
        return client.transfer({ ...place, subaccount_index: Number(toAccount), portfolio_index: 0 },
          this._amount(amount), { requestId, deadlineMs: this.timeout });
      });
      return { ...this.#moved(done, code, amount), status: "ok", fromAccount, toAccount };
    }

    async withdraw(code: string, amount: Number_, address: string, tag?: null, params: Dict = {})
      : Row {
      const done = await this._with(async (client) => {
        usdc(code);
        if (tag !== undefined && tag !== null) throw new RangeError("an address has no tag");
        return client.withdraw(this._amount(amount), address,
          { requestId: repeatedOf(params), deadlineMs: this.timeout });
      });
      return { ...this.#moved(done, code, amount), status: "pending", address, type: "withdrawal" };
    }

    #moved(done: Outcome, code: string, amount: Number_): Dict {
      this._told(done.sequence);
      return { id: done.requestId, currency: code, timestamp: undefined, datetime: undefined,
        amount: this.parseNumber(this._amount(amount)), info: done.answer };
    }

    async createOrders(orders: readonly OrderRequest[], params: Dict = {}): Rows {
      await this.loadMarkets();
      const done = await this._with(async (client) => {
        const requestId = repeatedOf(params);
        const items = await Promise.all(orders.map(async (one): Promise<Placement> => {
          const { timeInForce = "GTC", postOnly, reduceOnly, ...others } = one.params ?? {};
          const tif = timeInForce === "PO" ? "GTC" : timeInForce as TimeInForce;
          if (one.type !== "limit" || one.price === undefined || Object.keys(others).length > 0 ||
              !["GTC", "IOC", "FOK"].includes(tif)) {
            throw new RangeError("a batch has limit orders, GTC, IOC, FOK or PO");
          }
          return { market: await client.market(String(this.market(one.symbol)["id"])), tif,
            side: one.side as Direction, size: this._amount(one.amount),
            price: this._amount(one.price),
            postOnly: flagOf("postOnly", postOnly) || timeInForce === "PO",
            reduceOnly: flagOf("reduceOnly", reduceOnly) };
        }));
        return client.batch(items, { requestId, deadlineMs: this.timeout });
      });
      return done.map((one, at) => {
        const { symbol = "", side } = orders[at] ?? {};
        if (!(one instanceof Rejected)) return this._own(one, symbol, "limit");
        return this.safeOrder({ id: one.requestId, symbol, type: "limit", side, status: "rejected",
          info: { status: one.status } });
      });
    }

    async createOrderWithTakeProfitAndStopLoss(symbol: string, type: string, side: string,
      amount: Number_, price: Number_ | undefined, takeProfit: Number_, stopLoss: Number_,
      params: Dict = {}): Row {
      if (isNone(takeProfit) || isNone(stopLoss)) {
        throw raised("BadRequest", "it takes takeProfit and stopLoss");
      }
      const isNew = isNone(params["requestId"] ?? params["clientOrderId"]);
      const other = side === "buy" ? "sell" : "buy";
      const exits = [[stopLoss, "STOP_MARKET"], [takeProfit, "TAKE_PROFIT_MARKET"]] as const;
      await this._at(symbol, async (_, market) => {
        market.rawSize(this._amount(amount));
        for (const [trigger] of exits) {
          if (market.rawPrice(this._amount(trigger)) <= 0n) {
            throw new RangeError("the price of an exit is above 0");
          }
        }
      });
      const made = await this.createOrder(symbol, type, side, amount, price, params);
      const id = String(made["id"]);
      await this._at(symbol, async (client, market) => {
        for (const [at, [trigger, name]] of exits.entries()) {
          await client.placeTrigger(market, other, this._amount(amount), this._amount(trigger), name,
            { reduceOnly: true, ocoGroup: followingId(id, 3), requestId: followingId(id, at + 1), isNew,
              deadlineMs: this.timeout });
        }
      }).catch((error: unknown) => {
        const { constructor: { name }, message } = error as Error;
        throw Object.assign(raised("InvalidOrder",
          `order ${id} is placed; of its exits: ${name} ${message}`),
        { cause: error, order: made, requestId: id });
      });
      return made;
    }

    async setMarginMode(): Promise<never> {
      throw raised("NotSupported", "setMarginMode(): every position is of cross margin");
    }

    async setPositionMode(): Promise<never> {
      throw raised("NotSupported", "setPositionMode(): a market has one position, long or short");
    }

    async fetchDepositAddress(): Promise<never> {
      throw raised("NotSupported", "fetchDepositAddress(): what is deposited is credited by the " +
        "operator, no address belongs to an account");
    }
  }
  return More;
}
