// A connection to one exchange: HTTP, its clock, its markets, and whom it is for.

import { Buckets } from "./buckets.js";
import { Clock } from "./clock.js";
import { Lost, PerpdError, Problem, WrongExchange } from "./errors.js";
import { goodOf } from "./http.js";
import type { Http, Origin } from "./http.js";
import type { Answer } from "./http.js";
import { formatJson } from "./json.js";
import { Market } from "./market.js";
import { isForAnother, Nodes } from "./nodes.js";
import { Sender } from "./requests.js";
import type { Signer } from "./sign.js";
import type * as records from "./types.gen.js";
import { REQUESTS } from "./wire.gen.js";
import type { PortfolioId } from "./wire.gen.js";

export const API = "/api/v1";
const TIME_SAMPLES = 5;
const DRIFT_MS = 30_000;
const TRIES = 6;
const WAIT_MS = 50;
const UNAVAILABLE = 503;
const BUSY: ReadonlySet<number> = new Set([408, 429]);

export type Parameters = Readonly<Record<string, string | number | bigint | undefined>>;

export interface Reading {
  readonly parameters?: Parameters;
  readonly isPrivate?: boolean;
  /** The sequence that the answer must show; 503 if it cannot within a second. */
  readonly least?: bigint | undefined;
}

export interface SessionOptions {
  readonly key?: Signer | undefined;
  readonly apiKey?: string | undefined;
  readonly subaccount: number;
  readonly portfolio: number;
  readonly allowPlain: boolean;
  readonly timeoutMs: number;
  readonly onIntent: (requestId: string, envelope: string) => void;
  readonly monotonicMs?: (() => number) | undefined;
}

/** What reads, trading and streams share. `open` asks the exchange who it is. */
export class Session {
  readonly clock: Clock;
  readonly nodes: Nodes;
  place: PortfolioId;
  markets: ReadonlyMap<string, Market> = new Map();
  exchange: records.Exchange | undefined;
  /** Sends a signed request over the stream; undefined when there is none for it. */
  overStream: ((envelope: string, timeoutMs: number) => Promise<Answer | undefined>) | undefined;
  readonly #apiKey: string | undefined;
  readonly #signer: Signer | undefined;
  #sender: Sender | undefined;
  #drift: ReturnType<typeof setInterval> | undefined;
  readonly #onIntent: SessionOptions["onIntent"];

  constructor(addresses: readonly string[], options: SessionOptions) {
    this.clock = new Clock(options.monotonicMs);
    this.nodes = new Nodes(addresses, { allowPlain: options.allowPlain,
      timeoutMs: options.timeoutMs, monotonicMs: this.clock.monotonicMs,
      onAnswer: (answer) => this.#heard(answer), onMove: () => this.clock.forget() });
    this.#apiKey = options.apiKey;
    this.#signer = options.key;
    this.#onIntent = options.onIntent;
    this.place = { account_id: 0n, subaccount_index: options.subaccount,
      portfolio_index: options.portfolio };
  }

  /** To the node that is asked now. */
  get http(): Http {
    return this.nodes.current;
  }

  get origins(): readonly Origin[] {
    return this.nodes.origins;
  }

  #heard(answer: Answer): void {
    const text = answer.headers.get("x-server-time-ns") ?? "";
    if (/^[0-9]{1,19}$/.test(text)) this.clock.add(BigInt(text), answer.sentMs, answer.gotMs);
  }

  /** WrongExchange: another than the key is bound to, or another version of the wire. */
  async open(): Promise<void> {
    await this.resync();
    const exchange = await this.get("/exchange") as records.Exchange;
    const known = new Map(Object.values(REQUESTS).map((row) => [row.code, row.name]));
    for (const { code, name } of exchange.request_types) {
      const here = known.get(code);
      if (here !== undefined && here !== name) {
        throw new WrongExchange(`request ${code} is ${name} there, and ${here} here: another version`);
      }
    }
    this.exchange = exchange;
    await this.loadMarkets();
    if (this.#apiKey !== undefined) {
      const account = await this.get("/account", { isPrivate: true }) as records.Account;
      this.place = { ...this.place, account_id: account.account_id };
      // The key sees the requests of this subaccount: else a 404 would prove nothing.
      await this.get("/portfolio/balance", { parameters: this.placeParameters(),
        isPrivate: true });
    }
    if (this.#signer !== undefined) {
      const buckets = new Buckets(() => this.get("/limits", { isPrivate: this.hasApiKey }));
      if (this.hasApiKey) await buckets.refresh();
      this.#bind(this.#signer, exchange, buckets);
    }
    this.#drift = setInterval(() => void this.#keepTime(), DRIFT_MS);
    if (typeof this.#drift === "object") (this.#drift as { unref?: () => void }).unref?.();
  }

  #bind(signer: Signer, exchange: records.Exchange, buckets: Buckets): void {
    const bound = signer.exchangeId;
    if (bound !== undefined && bound !== exchange.exchange_id) {
      throw new WrongExchange(`the key signs for the exchange ${bound} alone, and this is ` +
        exchange.exchange_id);
    }
    this.#sender = new Sender((...words) => this.#post(...words), this.http.timeoutMs, this.clock, signer, exchange.request_id_window_ms.past, {
      look: (id) => this.answer(`/requests/${id}`, { isPrivate: true }),
      proof: () => this.#applied(), resync: () => this.resync(),
      onIntent: this.#onIntent, buckets });
  }

  /** The answer to a signed request, over the stream while there is one for it. What the node of the
   * stream does not do goes on over HTTP, the same bytes; cancels always go so: there they wait for no
   * placement. */
  async #post(path: string, envelope: string, timeoutMs: number, isUrgent: boolean): Promise<Answer> {
    const told = isUrgent ? undefined : await this.overStream?.(envelope, timeoutMs);
    if (told !== undefined && !isForAnother(told)) return told;
    const isAfterDoubt = told?.status === UNAVAILABLE;
    try {
      return { ...await this.nodes.post(path, envelope, timeoutMs), isAfterDoubt };
    } catch (error) {
      throw error instanceof Lost ? new Lost(error.message, error.arrived || isAfterDoubt) : error;
    }
  }

  /** Hands the API key to what logs in with it; PerpdError when there is none. */
  apiKey(): string {
    return this.#headers(true)["X-API-KEY"] ?? "";
  }

  get hasApiKey(): boolean {
    return this.#apiKey !== undefined;
  }

  get sender(): Sender {
    if (this.#sender === undefined) {
      throw new PerpdError("connect(url, { key, apiKey }) is needed to sign requests");
    }
    return this.#sender;
  }

  close(): void {
    clearInterval(this.#drift);
    this.#sender?.close();
    this.nodes.close();
  }

  /** Measures the exchange's clock again. Lost or Problem when it does not answer. */
  async resync(): Promise<void> {
    this.clock.forget();
    for (let count = 0; count < TIME_SAMPLES; count += 1) await this.get("/time");
    if (!this.clock.isSet) throw new WrongExchange("the answers tell no X-Server-Time-Ns");
  }

  async #keepTime(): Promise<void> {
    if (this.clock.monotonicMs() - this.clock.newestMs <= DRIFT_MS) return;
    try {
      await this.get("/time");
    } catch {
      // The next requests say so.
    }
  }

  async loadMarkets(): Promise<void> {
    const shown = await this.get("/markets") as records.Markets;
    this.markets = new Map(shown.markets.map((record) => [record.market, new Market(record)]));
  }

  placeParameters(): { subaccount_index: number; portfolio_index: number } {
    const { subaccount_index, portfolio_index } = this.place;
    return { subaccount_index, portfolio_index };
  }

  #headers(isPrivate: boolean): Record<string, string> {
    if (!isPrivate) return {};
    if (this.#apiKey === undefined) {
      throw new PerpdError("connect(url, { apiKey }) is needed to read an account");
    }
    return { "X-API-KEY": this.#apiKey };
  }

  /** One answer to a GET below /api/v1, of any status. */
  async answer(path: string, reading: Reading = {}): Promise<Answer> {
    const headers = this.#headers(reading.isPrivate ?? false);
    const least = this.nodes.least(reading.least);
    if (least !== undefined) headers["X-Min-Sequence"] = least.toString();
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(reading.parameters ?? {})) {
      if (value !== undefined) query.set(name, value.toString());
    }
    const target = API + path + (query.size > 0 ? `?${query.toString()}` : "");
    return this.nodes.read({ method: "GET", target, headers });
  }

  /** The JSON of a read; Problem, Lost. */
  async get(path: string, reading: Reading = {}): Promise<unknown> {
    return (await repeated(() => this.answer(path, reading), TRIES))[0];
  }

  /** The JSON of a private read, and the sequence that it is of; Problem, Lost. */
  async getAt(path: string, parameters: Parameters, least?: bigint)
    : Promise<readonly [unknown, bigint]> {
    const [shown, answer] = await repeated(
      () => this.answer(path, { parameters, isPrivate: true, least }), TRIES);
    return [shown, BigInt(answer.headers.get("x-sequence") ?? "0")];
  }

  /** The JSON of a plain write. One that says what shall be may be repeated, and is; `again` false: it
   * is sent once. */
  async write(method: string, path: string, members: object, again = true): Promise<unknown> {
    const headers = { ...this.#headers(true), "Content-Type": "application/json" };
    return (await repeated(() => this.nodes.read({ method, target: API + path, headers,
      body: formatJson(members) }), again ? TRIES : 1))[0];
  }

  async #applied(): Promise<readonly [timeNs: bigint, engineSeq: bigint]> {
    const [market] = this.markets.keys();
    const shown = await this.get(`/markets/${market ?? ""}/mark`) as records.Mark;
    return [shown.time_ns, shown.engine_seq];
  }
}

/** The JSON of a good answer, and it; asks again where the connection is lost, and on 408, 429, 5xx. */
async function repeated(ask: () => Promise<Answer>, tries: number)
  : Promise<readonly [unknown, Answer]> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const answer = await ask();
      return [goodOf(answer), answer];
    } catch (error) {
      const mayPass = error instanceof Lost ||
        (error instanceof Problem && (error.http >= 500 || BUSY.has(error.http) ||
          error.code === "not_leader"));
      if (!mayPass || attempt >= tries) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, WAIT_MS * 2 ** (attempt - 1)));
  }
}
