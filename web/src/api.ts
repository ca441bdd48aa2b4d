/* REST requests of this origin. */
import { clockSample } from './clock';
import { parseJson } from './json';

export const API = '/api/v1';

/** What the server, or the lack of one, said instead of an answer. */
export class Problem extends Error {
  constructor(
    readonly code: string,
    readonly detail: string,
    readonly status: number,
    readonly body: any = null,
  ) {
    super(detail === '' ? code : detail);
  }
}

export type Answer = { body: any; sequence: bigint; roundTrip: number };

const ANSWER_MS = 10_000;

function read(text: string, status: number): any {
  try {
    return text === '' ? null : parseJson(text);
  } catch {
    throw new Problem('unreadable_answer', text.slice(0, 120), status);
  }
}

/** Asks and parses; throws a Problem for every outcome but 2xx, and when no answer is whole in time. */
export async function ask(path: string, init: RequestInit = {}): Promise<Answer> {
  const sent = performance.now();
  let response: Response, text: string, received: number;
  try {
    response = await fetch(path, { cache: 'no-store', credentials: 'omit', signal: AbortSignal.timeout(ANSWER_MS), ...init });
    received = performance.now();
    text = await response.text();
  } catch {
    throw new Problem('no_answer', 'the exchange did not answer', 0);
  }
  clockSample(response.headers.get('X-Server-Time-Ns'), sent, received);
  const body = read(text, response.status);
  if (!response.ok)
    throw new Problem(body?.code ?? 'no_answer', body?.detail ?? response.statusText, response.status, body);
  const sequence = BigInt(response.headers.get('X-Sequence') ?? '0');
  return { body, sequence, roundTrip: received - sent };
}

export async function get(path: string, apiKey?: string): Promise<any> {
  const headers: Record<string, string> = apiKey === undefined ? {} : { 'X-API-KEY': apiKey };
  return (await ask(API + path, { headers })).body;
}
