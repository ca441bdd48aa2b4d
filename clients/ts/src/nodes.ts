// The nodes of one exchange: which one is asked next, and who leads (replication.md).

import { Lost } from "./errors.js";
import { Http, Origin, problemOf } from "./http.js";
import type { Answer, Sending } from "./http.js";

const MISDIRECTED = 421;
const UNAVAILABLE = 503;
const AGAIN = /"(request_dropped|retry_required)"/;

/** Whether a signed request with this answer is to be sent again, to another node. */
export function isForAnother({ status, text }: Answer): boolean {
  return status === MISDIRECTED || status === UNAVAILABLE || AGAIN.test(text);
}

export interface NodeOptions {
  readonly allowPlain: boolean;
  readonly timeoutMs: number;
  readonly monotonicMs: () => number;
  readonly onAnswer: (answer: Answer) => void;
  /** Is told of each change of the node that is asked. */
  readonly onMove: () => void;
}

/** One address or several. Reads go to the node that answered last; what is signed goes to the leader
 * that a node has told, or there too. */
export class Nodes {
  readonly #https: readonly Http[];
  #at = 0;
  #leader: Http | undefined;
  #newest = 0n; // the highest sequence that an answer has shown

  /** RangeError without an address. */
  constructor(addresses: readonly string[], private readonly options: NodeOptions) {
    if (addresses.length === 0) throw new RangeError("no address");
    this.#https = addresses.map((address) => this.#http(address));
  }

  #http(address: string): Http {
    const { allowPlain, timeoutMs, monotonicMs, onAnswer } = this.options;
    return new Http(new Origin(address, allowPlain), timeoutMs, (answer) => {
      const shown = answer.headers.get("x-sequence") ?? "";
      if (/^[0-9]{1,19}$/.test(shown) && BigInt(shown) > this.#newest) this.#newest = BigInt(shown);
      onAnswer(answer);
    }, monotonicMs);
  }

  get current(): Http {
    const found = this.#https[this.#at];
    if (found === undefined) throw new RangeError("no address");
    return found;
  }

  get origins(): readonly Origin[] {
    return this.#https.map(({ origin }) => origin);
  }

  /** What a read must show: of several nodes none goes back behind another's answer. */
  least(least: bigint | undefined): bigint | undefined {
    if (this.#https.length === 1 || this.#newest === 0n) return least;
    return least !== undefined && least > this.#newest ? least : this.#newest;
  }

  /** Sequences begin again: another epoch has begun. */
  forget(): void {
    this.#newest = 0n;
  }

  /** The next node is asked from now on. */
  #move(): void {
    if (this.#https.length === 1) return;
    this.#at = (this.#at + 1) % this.#https.length;
    this.options.onMove();
  }

  /** One answer; a node that gives none, or that is not ready, is not asked next. */
  async read(sending: Sending): Promise<Answer> {
    try {
      const answer = await this.current.request(sending);
      if (answer.status === UNAVAILABLE) this.#move();
      if (answer.status === MISDIRECTED) this.#follow(answer);
      return answer;
    } catch (error) {
      if (error instanceof Lost) this.#move();
      throw error;
    }
  }

  /** One answer to a signed request. One without an answer, or with 421, 503, request_dropped or
   * retry_required, is to be sent again: it goes to the leader told then, else to the next node. */
  async post(path: string, envelope: string, timeoutMs: number): Promise<Answer> {
    const asked = this.#leader ?? this.current;
    try {
      const answer = await asked.request({ method: "POST", target: path, body: envelope, timeoutMs,
        headers: { "Content-Type": "application/json", "X-Ack": "full" } });
      if (answer.status === MISDIRECTED) {
        this.#forget(asked);
        this.#follow(answer);
      } else if (isForAnother(answer)) {
        this.#passOver(asked);
      }
      return answer;
    } catch (error) {
      if (error instanceof Lost) this.#passOver(asked);
      throw error;
    }
  }

  #forget(asked: Http): void {
    if (asked === this.#leader) this.#leader = undefined;
  }

  #passOver(asked: Http): void {
    this.#forget(asked);
    if (asked === this.current) this.#move();
  }

  /** Who leads, by this answer of a node that does not. Where that is none of the addresses, only what
   * is signed goes there: no API key. */
  #follow(answer: Answer): void {
    const told = problemOf(answer).members["leader"];
    if (typeof told !== "string") {
      this.#move();
      return;
    }
    const at = this.#https.findIndex(({ origin }) => origin.url.host === told);
    if (at >= 0) {
      if (at !== this.#at) this.options.onMove();
      this.#at = at;
    } else if (this.#leader?.origin.url.host !== told) {
      try {
        this.#leader = this.#http(`${this.current.origin.url.protocol}//${told}`);
      } catch {
        this.#move(); // no address, or one that is not encrypted
      }
    }
  }

  close(): void {
    for (const http of this.#https) http.close();
    this.#leader?.close();
  }
}
