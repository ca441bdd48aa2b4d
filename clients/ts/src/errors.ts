// What the library throws. Every class is a PerpdError.

import type { Outcome, Request } from "./requests.js";

export class PerpdError extends Error {
  override readonly name: string = this.constructor.name;
}

/** The exchange answered with a problem object (json.md J8): `code` says which. */
export class Problem extends PerpdError {
  readonly code: string;
  readonly detail: string;

  constructor(readonly http: number, readonly members: Readonly<Record<string, unknown>>,
    readonly requestId?: string | undefined, hint = "") {
    const code = String(members["code"] ?? "unknown");
    const detail = String(members["detail"] ?? "");
    super(`${http} ${code}: ${detail}${hint === "" ? "" : `\n${hint}`}`);
    this.code = code;
    this.detail = detail;
  }
}

/** The exchange executed the request's id and refused what it asks for. */
export class Rejected extends PerpdError {
  constructor(readonly status: string, readonly reason: string | null,
    readonly requestId: string) {
    super(status + (reason === null ? "" : ` (${reason})`));
  }
}

/** The request was not executed and never will be: a new one may be made. */
export class NotExecuted extends PerpdError {
  constructor(readonly requestId: string, last: string) {
    super(`request ${requestId} was not executed; the last answer: ${last}`);
  }
}

/** The connection ended without an answer. `arrived` is false where nothing can have been received:
 * no connection was made. */
export class Lost extends PerpdError {
  constructor(what: string, readonly arrived: boolean) {
    super(what);
  }
}

/** A price or size between two steps of the market. Nothing is rounded silently: `lower` and `upper`
 * are the neighbours. */
export class NotOnGrid extends PerpdError {
  constructor(what: string, value: { toString(): string }, readonly lower: { toString(): string },
    readonly upper: { toString(): string }) {
    super(`${what} ${value.toString()} is between ${lower.toString()} and ${upper.toString()}`);
  }
}

/** An address in large and small letters whose checksum (EIP-55) is wrong: a letter or digit of it is.
 * `given` and `right` are the two spellings of these digits. */
export class WrongChecksum extends PerpdError {
  constructor(readonly given: string, readonly right: string) {
    super(`${given} has a wrong checksum (EIP-55): its digits are spelled ${right}; ` +
      "compare all of them with the address you mean");
  }
}

/** The address is another exchange than the session key is bound to, or it speaks another version of
 * the wire. */
export class WrongExchange extends PerpdError {}

/** A consumer of trades was too slow: its queue was full, and its iteration ends. */
export class Overrun extends PerpdError {}

/** The client was closed while something waited for it. */
export class Closed extends PerpdError {}

/** The deadline passed, or the signal was aborted, before the outcome is known. The request is still
 * looked after: await `request.outcome`. A new request for the same intent could execute it twice. */
export class OutcomePending extends PerpdError {
  readonly requestId: string;

  constructor(readonly request: Request & { readonly outcome: Promise<Outcome> }) {
    super(`the outcome of request ${request.id} is not known yet`);
    this.requestId = request.id;
  }
}
