/* What ends the orders when nobody looks after them: the exchange, once this page's connection breaks or it no longer says that it is there. */
import { serverNow } from './clock';
import { Model } from './model';
import { portfolioBytes } from './payload';
import type { Trader } from './trader';

export const GRACE_MS = 5000;
/** How long the exchange waits for the next word of the page, and how often it comes. */
export const DEAD_MAN_S = 60;
const AGAIN_MS = 15_000;

export class Arming extends Model {
  /** Whether orders end when the page no longer says that it is there. */
  isDeadMan = false;
  /** What went wrong with it last. */
  problem: string | null = null;
  #timer = 0;

  constructor(readonly trader: Trader) {
    super();
  }

  /** Whether orders end when the connection breaks; null: it has been asked for. */
  get disconnect(): boolean | null {
    return this.trader.stream.isArmed;
  }

  /** A page that is loaded has said it to nobody: the dead-man of one before it goes on until its time. */
  async setDeadMan(isOn: boolean): Promise<void> {
    clearInterval(this.#timer);
    this.isDeadMan = isOn;
    if (isOn) this.#timer = window.setInterval(() => void this.#say(true), AGAIN_MS);
    await this.#say(isOn);
  }

  async #say(isOn: boolean): Promise<void> {
    const { trader } = this;
    if (trader.credentials === null) return void this.setDeadMan(false);
    const deadline = isOn ? BigInt(Math.floor(serverNow()) + DEAD_MAN_S * 1000) * 1_000_000n : 0n;
    try {
      const said = await trader.sign('schedule_cancel_all', { portfolio_id: portfolioBytes(trader.credentials.account), deadline_ns: deadline });
      await said.send();
      this.problem = said.isDone ? null : said.status;
    } catch (caught) {
      this.problem = (caught as Error).message;
    }
    this.changed();
  }
}
