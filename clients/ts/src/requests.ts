// The one way a signed request is sent: it cannot execute twice, and its outcome is known in the end.
//
// The bytes are made once. They are sent again, never made again, until an answer ends the matter or
// their id is too old; then GET /requests/{id} tells the outcome. A 404 counts as "not executed" only
// once the applied state has passed every moment at which the id could have been admitted. What nobody
// has admitted ends with the call that asked for it.
//
// Answers are believed: README.md says what who forges them can do.

import type { Clock } from "./clock.js";
import { payloadOf } from "./body.js";
import type { Buckets } from "./buckets.js";
import { Closed, Lost, NotExecuted, OutcomePending, PerpdError, Problem, Rejected }
  from "./errors.js";
import { jsonOf, problemOf } from "./http.js";
import type { Answer } from "./http.js";
import { Ids, idTimeMs } from "./ids.js";
import { envelopeOf, explained } from "./sign.js";
import type { Signer } from "./sign.js";
import { pause } from "./wait.js";
import { REQUESTS } from "./wire.gen.js";
import type { Bodies } from "./wire.gen.js";

const LIMITED = "rejected_rate_limited"; // by the account's own rate
const AGAIN: ReadonlySet<string> = new Set(["request_dropped", "retry_required", LIMITED]);
const DONE: ReadonlySet<string> = new Set(["request_completed", "session_created",
  "session_revoked", "account_created_with_session", "master_key_added", "master_key_removed"]);
const FINAL_READS: ReadonlySet<number> = new Set([400, 401, 403]);
const NO_TURN = "none; its call ended before its turn came";
const TOO_OLD = "none; its turn came when its id was too old";
const FIRST_WAIT_MS = 50;
const LONGEST_WAIT_MS = 2000;
const LEAST_TIMEOUT_MS = 100;
const MARGIN_MS = 2000; // before the end of the window: a sending takes time
const ENGINE_MS = 5000; // the engine admits an id that much longer than the network (W5)
const NS_PER_MS = 1_000_000n;

export type Members = Readonly<Record<string, unknown>>;

/** What became of a request. `answer` has the members of its acknowledgement or record; `isFirst` is
 * false when they are not of the sending that executed it. */
export interface Outcome {
  readonly requestId: string;
  readonly status: string;
  readonly reason: string | null;
  readonly sequence: bigint | null;
  readonly isFirst: boolean;
  readonly answer: Members;
}

/** One intent: its id, known before it is sent, and its bytes. */
export interface Request {
  id: string;
  payload: Uint8Array;
  envelope: string;
  readonly path: string;
  readonly name: keyof Bodies;
  readonly cost: number; // tokens of the account's rate
  readonly isResumed: boolean; // it may have been sent before
  readonly isUrgent: boolean;
  isOut: boolean; // it was sent, and no answer says that it was not executed
  isTold: boolean; // a caller was told this id: it is not made again with another one
  readonly gone: AbortController; // aborted: it is not sent
}

export type Pending = Request & { readonly outcome: Promise<Outcome> };

/** How long a call waits. When the deadline passes or the signal is aborted it throws OutcomePending,
 * and the request is looked after as before; NotExecuted where it waits for its turn, or pauses behind a
 * refusal: then it is not sent any more. */
export interface Waiting {
  readonly deadlineMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** How a request begins. `requestId`: of an intent that may have been sent before, which is then not
 * executed again, unless it `isNew`. `hasOwnIds`: the body has further ids of this time, so it is not
 * made again.
 * `isUrgent`: a cancel, which never goes over the stream. `signal`: when it is aborted before the bytes
 * are made, they are not sent. */
export interface Beginning {
  readonly requestId?: string | undefined;
  readonly isNew?: boolean;
  readonly hasOwnIds?: boolean;
  readonly isUrgent?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** What a Sender asks of the session. `proof` reads (time_ns, engine_seq) of the applied state, of any
 * market; `look` reads a request's record; `resync` asks for the exchange's time; a request is sent
 * when `buckets` let it. */
export interface Sources {
  readonly look: (requestId: string) => Promise<Answer>;
  readonly proof: () => Promise<readonly [timeNs: bigint, engineSeq: bigint]>;
  readonly resync: () => Promise<void>;
  readonly onIntent: (requestId: string, envelope: string) => void;
  readonly buckets: Buckets;
}

/** Of an answer that does not end the matter by itself. `final` is what ends it if no earlier sending
 * is unanswered; `isDoubtful`: who answered may have passed the request on; `isLimited`: the account
 * has used up its rate. */
interface Verdict {
  readonly said: string;
  readonly final?: PerpdError;
  readonly isStale?: boolean;
  readonly isDoubtful?: boolean;
  readonly isLimited?: boolean;
  readonly pauseMs?: number;
}

/** Sends an envelope to a path, for so many ms, urgent or not. */
export type Post = (path: string, envelope: string, timeoutMs: number, isUrgent: boolean)
  => Promise<Answer>;

/** Signs and sends. */
export class Sender {
  #ids: Ids;
  readonly #closing = new AbortController();

  constructor(private readonly post: Post, private readonly timeoutMs: number,
    private readonly clock: Clock, private readonly signer: Signer, private readonly pastMs: number,
    private readonly sources: Sources) {
    this.#ids = new Ids(() => clock.nowMs());
  }

  newId(): string {
    return this.#ids.next();
  }

  /** Signs, and sends until the outcome is known. */
  async begin<Name extends keyof Bodies>(name: Name, body: Bodies[Name], how: Beginning = {})
    : Promise<Pending> {
    const make = async (id: string): Promise<Pick<Request, "id" | "payload" | "envelope">> => {
      const payload = payloadOf(name, body, id, this.signer.signatureType);
      const envelope = await envelopeOf(payload, this.signer);
      this.sources.onIntent(id, envelope);
      return { id, payload, envelope };
    };
    const path = REQUESTS[name].path;
    if (path === null) throw new PerpdError(`${name} has no path`);
    const cost = "items" in body ? Math.max(1, body.items.length) : 1;
    const request: Request = { ...await make(how.requestId ?? this.newId()), path, name, cost,
      isResumed: how.requestId !== undefined && how.isNew !== true, isUrgent: how.isUrgent === true,
      isOut: false, isTold: false, gone: new AbortController() };
    if (how.signal?.aborted === true) withdrawn(request);
    const renew = how.hasOwnIds === true ? undefined : async (): Promise<void> => {
      Object.assign(request, await make(this.newId()));
    };
    const outcome = this.#run(request, renew);
    outcome.catch(() => undefined); // a caller that does not await it gets no warning
    return Object.assign(request, { outcome });
  }

  /** The outcome that was completed; Rejected, Problem, NotExecuted, OutcomePending. */
  async result(request: Pending, waiting: Waiting = {}): Promise<Outcome> {
    const outcome = await within(request, waiting);
    if (!DONE.has(outcome.status)) {
      throw new Rejected(outcome.status, outcome.reason, outcome.requestId);
    }
    return outcome;
  }

  /** Ends what waits with Closed. */
  close(): void {
    this.#closing.abort();
  }

  #leftMs(request: Request): number {
    return idTimeMs(request.id) + this.pastMs - MARGIN_MS - this.clock.nowMs();
  }

  async #run(request: Request, renew: (() => Promise<void>) | undefined): Promise<Outcome> {
    let [isUnanswered, waitMs, last, isSent] = [request.isResumed, FIRST_WAIT_MS, "none", false];
    let mayRenew = renew;
    for (;;) {
      if (this.#leftMs(request) <= 0 && (isSent || isUnanswered)) break;
      await this.sources.buckets.take(request.name, request.cost, this.#closing.signal,
        request.gone.signal);
      if (this.#leftMs(request) <= 0 && !request.gone.signal.aborted) {
        if (isSent || isUnanswered) break;
        if (renew === undefined) throw new NotExecuted(request.id, TOO_OLD);
        await renew(); // it waited for its turn: nobody has seen the old id
      }
      if (request.gone.signal.aborted) throw new NotExecuted(request.id, NO_TURN);
      const leftMs = this.#leftMs(request);
      isSent = request.isOut = true;
      let pauseMs = 0;
      const said = await this.#sendOnce(request, leftMs);
      if (said instanceof Lost) {
        isUnanswered ||= said.arrived;
        last = said.message;
      } else if ("requestId" in said) {
        return said;
      } else {
        last = said.said;
        if (said.isStale === true && !isUnanswered && mayRenew !== undefined && !request.isTold) {
          request.isOut = false;
          await this.sources.resync();
          if (request.gone.signal.aborted) break;
          this.#ids = new Ids(() => this.clock.nowMs()); // those of a wrong time do not count
          await mayRenew();
          mayRenew = undefined;
          continue;
        }
        if (said.final !== undefined && !isUnanswered) throw said.final;
        isUnanswered ||= said.isDoubtful === true;
        pauseMs = said.pauseMs ?? 0;
        if (said.isLimited === true) {
          this.sources.buckets.refused(request.name, pauseMs, request.cost);
        }
      }
      request.isOut = isUnanswered;
      await pause(Math.min(Math.max(waitMs, pauseMs), this.#leftMs(request)),
        this.#closing.signal);
      waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS);
    }
    if (!isUnanswered) throw new NotExecuted(request.id, last);
    return this.settled(request.id, last);
  }

  async #sendOnce(request: Request, leftMs: number): Promise<Outcome | Verdict | Lost> {
    if (this.#closing.signal.aborted) throw new Closed("the client is closed");
    try {
      const answer = await this.post(request.path, request.envelope,
        Math.max(LEAST_TIMEOUT_MS, Math.min(this.timeoutMs, leftMs)), request.isUrgent);
      const said = await judge(request, answer);
      if ("requestId" in said || answer.isAfterDoubt !== true) return said;
      // What would end the matter by itself does not: an earlier sending may have been executed.
      const { final: _final, ...open } = said;
      return { ...open, isDoubtful: true, isStale: false };
    } catch (error) {
      if (error instanceof Lost) return error;
      throw error;
    }
  }

  /** What became of a request that is no longer sent; NotExecuted with proof of it. */
  async settled(requestId: string, last = "none"): Promise<Outcome> {
    const passedNs = BigInt(idTimeMs(requestId) + this.pastMs + ENGINE_MS) * NS_PER_MS;
    let proved: bigint | undefined;
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
      try {
        const answer = await this.sources.look(requestId);
        if (answer.status === 200) return outcomeOf(requestId, jsonOf(answer) as Members);
        if (FINAL_READS.has(answer.status)) throw problemOf(answer);
        if (answer.status === 404) {
          const shown = BigInt(answer.headers.get("x-sequence") ?? "-1");
          if (proved !== undefined && shown >= proved) throw new NotExecuted(requestId, last);
          if (proved === undefined) {
            const [timeNs, engineSeq] = await this.sources.proof();
            if (timeNs > passedNs) {
              proved = engineSeq;
              continue;
            }
          }
        }
      } catch (error) {
        const isFinal = error instanceof Problem ? FINAL_READS.has(error.http)
          : !(error instanceof Lost);
        if (isFinal) throw error;
      }
      await pause(waitMs, this.#closing.signal);
    }
  }
}

/** Ends a request that cannot have been executed; whether it was one. */
function withdrawn(request: Request): boolean {
  request.isTold = true;
  if (!request.isOut && !request.isResumed) request.gone.abort();
  return request.gone.signal.aborted;
}

/** The outcome; when the caller waits no longer NotExecuted or OutcomePending. */
function within(request: Pending, waiting: Waiting): Promise<Outcome> {
  const { deadlineMs, signal } = waiting;
  if (deadlineMs === undefined && signal === undefined) return request.outcome;
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
      reject(withdrawn(request) ? new NotExecuted(request.id, NO_TURN) : new OutcomePending(request));
    };
    const timer = deadlineMs === undefined ? undefined : setTimeout(stop, deadlineMs);
    signal?.addEventListener("abort", stop, { once: true });
    request.outcome.then(resolve, reject).finally(() => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
    });
    if (signal?.aborted ?? false) stop();
  });
}

/** What one answer says of the request. */
async function judge(request: Request, answer: Answer): Promise<Outcome | Verdict> {
  if (answer.status === 200) return judgeAck(request, answer);
  const problem = problemOf(answer);
  const said = `${problem.http} ${problem.code}`;
  if (answer.status === 408 || answer.status === 429 || answer.status >= 500) {
    const retry = answer.headers.get("retry-after") ?? "0";
    return { said, isDoubtful: answer.status !== 429,
      pauseMs: /^[0-9]{1,6}$/.test(retry) ? 1000 * Number(retry) : 0 };
  }
  if (problem.code === "not_leader") return { said }; // nothing was executed: to another node next
  const hint = problem.code === "invalid_signature"
    ? await explained(request.payload, request.envelope) : "";
  return { said, final: new Problem(problem.http, problem.members, request.id, hint),
    isStale: problem.code === "request_timestamp_out_of_window" };
}

function judgeAck(request: Request, answer: Answer): Outcome | Verdict {
  const members = jsonOf(answer);
  if (typeof members !== "object" || members === null || Array.isArray(members)) {
    throw new Lost("an answer that is no acknowledgement", true);
  }
  const ack = members as Members;
  const status = ack["status"] ?? ack["message"];
  if (typeof status !== "string") throw new Lost("an answer that is no acknowledgement", true);
  const reason = typeof ack["reason"] === "string" ? ack["reason"] : null;
  if (status === "duplicate_request_id") {
    return { requestId: request.id, status: String(ack["original_status"]), reason: null,
      sequence: null, isFirst: false, answer: ack };
  }
  if (typeof ack["sequence"] === "bigint") {
    return { requestId: request.id, status, reason, sequence: ack["sequence"], isFirst: true,
      answer: ack };
  }
  if (AGAIN.has(status)) {
    const pauseMs = ack["retry_after_ms"] === undefined ? 0 : ack["retry_after_ms"];
    if (typeof pauseMs !== "number" || !(pauseMs >= 0)) {
      throw new Lost(`a retry_after_ms of ${String(pauseMs)}`, true);
    }
    return { said: status, pauseMs, isLimited: status === LIMITED };
  }
  return { said: status, final: new Rejected(status, reason, request.id) };
}

/** The outcome that GET /requests/{id} tells (J2). */
function outcomeOf(requestId: string, record: Members): Outcome {
  return { requestId, status: String(record["status"]),
    reason: typeof record["reason"] === "string" ? record["reason"] : null,
    sequence: record["sequence"] as bigint, isFirst: false, answer: record };
}
