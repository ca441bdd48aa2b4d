// HTTP to one origin by fetch: one answer of any status, or Lost.

import { Lost, PerpdError, Problem } from "./errors.js";
import { parseJson } from "./json.js";

const LOOPBACK: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);
const BODY_MAX = 64 << 20; // bytes of an answer
// What fetch of Node names as the cause where no connection was made. A browser names none: there a
// failed request counts as one that may have arrived.
const NOT_ARRIVED: ReadonlySet<string> = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN",
  "UND_ERR_CONNECT_TIMEOUT"]);

/** Status, headers, body, and the monotonic ms of sending and receiving. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly sentMs: number;
  readonly gotMs: number;
  /** An answer before it left open what became of the request. */
  readonly isAfterDoubt?: boolean;
}

/** The body's JSON; Lost (arrived) when it is none: somebody else answered. */
export function jsonOf(answer: Answer): unknown {
  try {
    return parseJson(answer.text);
  } catch {
    throw new Lost(`an answer ${answer.status} that is no JSON`, true);
  }
}

/** The problem object of the answer; one of its status alone when it has none. */
export function problemOf(answer: Answer): Problem {
  let members: unknown;
  try {
    members = parseJson(answer.text);
  } catch {
    members = null;
  }
  const isObject = typeof members === "object" && members !== null && !Array.isArray(members);
  return new Problem(answer.status, isObject ? members as Record<string, unknown> : {});
}

/** The JSON of an answer 200 or 201; else Problem. */
export function goodOf(answer: Answer): unknown {
  if (answer.status === 200 || answer.status === 201) return jsonOf(answer);
  throw problemOf(answer);
}

/** Scheme, host and port of an address. Plain http leaves the machine only when it is allowed: an API
 * key could be read on the way. */
export class Origin {
  readonly url: URL;

  constructor(address: string, allowPlain = false) {
    const url = new URL(address);
    if (url.protocol !== "http:" && url.protocol !== "https:") {
      throw new RangeError(`${address} is no http or https address`);
    }
    if (url.pathname !== "/" || url.search !== "" || url.hash !== "" || url.username !== "") {
      throw new RangeError(`${address} is more than scheme, host and port`);
    }
    if (url.protocol === "http:" && !LOOPBACK.has(url.hostname) && !allowPlain) {
      throw new PerpdError(`${address} is not encrypted: use https, or allowPlain: true`);
    }
    this.url = url;
  }

  /** The address of the stream. */
  stream(path: string): string {
    return new URL(path, this.url).href.replace(/^http/, "ws");
  }
}

export interface Sending {
  readonly method: string;
  readonly target: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly timeoutMs?: number;
}

export class Http {
  #closing = new AbortController();

  constructor(readonly origin: Origin, readonly timeoutMs: number,
    private readonly onAnswer: (answer: Answer) => void,
    private readonly monotonicMs: () => number) {}

  /** One answer of any status. Lost: there is none. */
  async request(sending: Sending): Promise<Answer> {
    const limit = AbortSignal.timeout(Math.ceil(sending.timeoutMs ?? this.timeoutMs));
    const sentMs = this.monotonicMs();
    try {
      const response = await fetch(new URL(sending.target, this.origin.url), {
        method: sending.method, headers: { ...sending.headers }, redirect: "manual",
        credentials: "omit", cache: "no-store",
        signal: AbortSignal.any([limit, this.#closing.signal]),
        ...(sending.body !== undefined && { body: sending.body }) });
      const headMs = this.monotonicMs();
      if (response.type === "opaqueredirect" || isRedirection(response.status)) {
        throw new Lost("an answer that leads elsewhere", true);
      }
      const text = await textOf(response);
      const answer = { status: response.status, headers: response.headers, text, sentMs,
        gotMs: headMs };
      this.onAnswer(answer);
      return answer;
    } catch (error) {
      if (error instanceof Lost) throw error;
      const cause = error instanceof Error && error.cause !== undefined ? String(error.cause) : "";
      throw new Lost(`no answer: ${String(error)} ${cause}`.trimEnd(),
        !NOT_ARRIVED.has(codeOf(error)));
    }
  }

  /** Ends every request under way with Lost. */
  close(): void {
    this.#closing.abort();
  }
}

/** The body, read no further than it may be long: an endless one would fill the memory. */
async function textOf(response: Response): Promise<string> {
  const [reader, decoder] = [response.body?.getReader(), new TextDecoder()];
  let [text, bytes] = ["", 0];
  for (;;) {
    const part = await reader?.read();
    if (part?.value === undefined) return text + decoder.decode();
    bytes += part.value.byteLength;
    if (bytes > BODY_MAX) {
      await reader?.cancel();
      throw new Lost("an answer of more than 64 MiB", true);
    }
    text += decoder.decode(part.value, { stream: true });
  }
}

/** redirect: "error" would do, but Node then fails to repeat what is answered 421. */
function isRedirection(status: number): boolean {
  return status >= 300 && status < 400;
}

/** The code of what fetch failed for; "" when it says none. */
function codeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const first = cause instanceof AggregateError ? cause.errors[0] as unknown : cause;
  return typeof first === "object" && first !== null && "code" in first ? String(first.code) : "";
}
