/* One signed request on its way: sent until its outcome is known, always as the same bytes. */
import { Problem, ask } from './api';
import { serverNow } from './clock';
import { latency } from './latency';
import { Model } from './model';
import type { Payload } from './payload';

export type SubmissionState = 'new' | 'sent' | 'acknowledged' | 'refused' | 'unknown';

const AGAIN_MS = 20_000;
const WAIT_MS = 500;

/** Whether nothing tells that the request was executed or refused. */
function isUnknown(problem: Problem): boolean {
  return problem.status === 0 || problem.status >= 500;
}

export class Submission extends Model {
  state: SubmissionState = 'new';
  answer: any = null;
  problem: Problem | null = null;
  attempts = 0;
  isSending = false;

  constructor(
    readonly payload: Payload,
    readonly envelope: object,
    readonly path: string = payload.request.path!,
  ) {
    super();
  }

  /** Sends, and the same bytes again while no outcome is known and the id is young. A second call does
   *  nothing. */
  async send(): Promise<void> {
    if (this.state !== 'new') return;
    this.state = 'sent';
    this.isSending = true;
    const until = serverNow() + AGAIN_MS;
    while (!(await this.#try()) && serverNow() < until) {
      this.state = 'unknown';
      this.changed();
      await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
    }
    this.isSending = false;
    this.changed();
  }

  async #try(): Promise<boolean> {
    this.attempts++;
    try {
      const { body, roundTrip } = await ask(this.path, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'X-Ack': 'full' },
        body: JSON.stringify(this.envelope),
      });
      this.answer = body;
      if (this.status === 'request_dropped' || this.status === 'retry_required') return false;
      this.state = 'acknowledged';
      if (this.attempts === 1 && body.timing_ns !== undefined) latency.add(this.payload.id, this.payload.request.name, body.timing_ns, roundTrip);
      return true;
    } catch (caught) {
      this.problem = caught as Problem;
      if (isUnknown(this.problem)) return false;
      this.state = 'refused';
      return true;
    }
  }

  /** The status of the outcome; of a repetition that of the first. */
  get status(): string {
    const { status, message, original_status } = this.answer ?? {};
    return original_status ?? status ?? message ?? this.problem?.code ?? 'unknown';
  }

  get isDone(): boolean {
    return this.state === 'acknowledged' && !/reject|insufficient|expired|closed|invalid|prevention|failed/.test(this.status);
  }
}
