/* What the admin listener tells, read again and again: readiness and metrics each second, the audit and the
 * withdrawals each 10 s once there is a token, which stays in this page's memory. */
import { parseJson } from './json';
import { Metrics } from './metrics';
import { Model } from './model';

const PERIOD_MS = 1000;
const SLOW_PERIOD_MS = 10_000;
const KEPT = 600; // ten minutes
const ANSWER_MS = 5000;
const PAGE = 50;

export type Ready = { ready: boolean; reasons: string[]; applied: any; durable: any; lag_ms: any; clock_difference_ms: any; replay_percent: number; clock_gap_ns?: any };

async function read(path: string, token = ''): Promise<{ status: number; text: string }> {
  const headers: Record<string, string> = token === '' ? {} : { Authorization: `Bearer ${token}` };
  const answer = await fetch(path, { cache: 'no-store', credentials: 'omit', headers, signal: AbortSignal.timeout(ANSWER_MS) });
  return { status: answer.status, text: await answer.text() };
}

export class Watch extends Model {
  ready: Ready | null = null;
  /** Newest last. */
  readings: Metrics[] = [];
  /** [seconds of performance.now(), follower lag in ms], newest last. */
  lags: [number, number][] = [];
  audit: any = null;
  withdrawals: any[] | null = null;
  /** Where the older withdrawals begin; null: there are none. */
  older: string | null = null;
  /** Why the audit or the withdrawals are not there. */
  refusal: string | null = null;
  /** Since when perpd does not answer, of Date.now(); null: it does. */
  silentSince: number | null = null;
  #token = '';

  get now(): Metrics | null {
    return this.readings.at(-1) ?? null;
  }

  /** The reading of `seconds` ago, or the oldest there is; null: there is only one. */
  before(seconds: number): Metrics | null {
    const last = this.now;
    return last === null ? null : (this.readings.find((one) => one !== last && one.at >= last.at - seconds * 1000 - PERIOD_MS / 2) ?? null);
  }

  get hasToken(): boolean {
    return this.#token !== '';
  }

  set token(text: string) {
    this.#token = text.trim();
    this.audit = this.withdrawals = this.refusal = null;
    this.changed();
    void this.readSlow();
  }

  start(): void {
    const again = () => void this.readFast().finally(() => setTimeout(again, PERIOD_MS));
    const slowly = () => void this.readSlow().finally(() => setTimeout(slowly, SLOW_PERIOD_MS));
    again();
    slowly();
  }

  async readFast(): Promise<void> {
    try {
      const [ready, metrics] = await Promise.all([read('/readyz'), read('/metrics')]);
      this.ready = parseJson(ready.text);
      if (metrics.status !== 200) throw new Error('no metrics');
      const reading = new Metrics(metrics.text, performance.now());
      this.readings.push(reading);
      if (this.readings.length > 70) this.readings.shift(); // a minute and some
      this.lags.push([reading.at / 1000, Number(this.ready!.lag_ms)]);
      if (this.lags.length > KEPT) this.lags.shift();
      this.silentSince = null;
    } catch {
      this.silentSince ??= Date.now();
    }
    this.changed();
  }

  async readSlow(): Promise<void> {
    if (!this.hasToken) return;
    try {
      const audit = await this.#get('/audit');
      const list = await this.#get(`/admin/withdrawals?limit=${PAGE}`);
      this.audit = audit;
      this.withdrawals = list.withdrawals;
      this.#turnTo(list);
      this.refusal = null;
    } catch (caught) {
      this.refusal = (caught as Error).message;
    }
    this.changed();
  }

  /** The page of withdrawals before those that are shown; the newest come back by themselves. */
  async readOlder(): Promise<void> {
    try {
      const list = await this.#get(`/admin/withdrawals?limit=${PAGE}${this.older}`);
      this.withdrawals = list.withdrawals;
      this.#turnTo(list);
    } catch (caught) {
      this.refusal = (caught as Error).message;
    }
    this.changed();
  }

  #turnTo(list: any): void {
    this.older = list.next_before_sequence == null ? null
      : `&before_sequence=${list.next_before_sequence}&before_index=${list.next_before_index ?? 0}`;
  }

  async #get(path: string): Promise<any> {
    const { status, text } = await read(path, this.#token).catch(() => ({ status: 0, text: '{"detail":"perpd does not answer"}' }));
    const body = parseJson(text);
    if (status === 401) this.#token = '';
    if (status !== 200) throw new Error(body?.detail ?? `status ${status}`);
    return body;
  }
}
