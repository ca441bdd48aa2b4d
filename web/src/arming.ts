/* What ends the orders when nobody looks after them: the exchange, once this page's connection breaks or it no longer says that it is there. */
import { serverNow } from './clock';
import { Model } from './model';
import { portfolioBytes } from './payload';
import type { Trader } from './trader';

export const GRACE_MS = 5000;
/** How long the exchange waits for the next word of the page, and how often it comes. */
export const DEAD_MAN_S = 60;
const AGAIN_MS = 15_000;

/** Of one account: that of another has its own. */
export class Arming extends Model {
  /** Whether orders shall end when the page no longer says that it is there. */
  isDeadMan = false;
  /** When they end, in ms, as the exchange has last acknowledged. */
  deadline = 0;
  /** What went wrong with it last. */
  problem: string | null = null;
  /** Whether the exchange may hold another thing than what is wanted, or soon will. */
  #isOpen = false;
  #againAt = 0;
  #last = Promise.resolve();
  #isWaiting = false;

  constructor(readonly trader: Trader) {
    super();
  }

  /** A page that is loaded has said it to nobody: the dead-man of one before it goes on until its time. */
  setDeadMan(isOn: boolean): void {
    this.isDeadMan = isOn;
    this.#isOpen = true;
    this.#say();
  }

  /** Says again that the page is there, or that it is no longer needed, when it is time. Called each second, and by what comes: timers of a hidden page rest. */
  look(): void {
    if (this.#isOpen && performance.now() > this.#againAt) this.#say();
  }

  /** One word after another, each of what is wanted by then: none arrives behind a later one. */
  #say(): void {
    this.#againAt = performance.now() + AGAIN_MS;
    this.changed();
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    this.#last = this.#last.then(() => this.#tell());
  }

  async #tell(): Promise<void> {
    this.#isWaiting = false;
    const { trader, isDeadMan } = this;
    if (trader.arming !== this) return; // the account has left
    const deadline = isDeadMan ? Math.floor(serverNow()) + DEAD_MAN_S * 1000 : 0;
    try {
      const said = await trader.sign('schedule_cancel_all', { portfolio_id: portfolioBytes(trader.credentials!.account), deadline_ns: BigInt(deadline) * 1_000_000n });
      await said.send();
      if (said.isDone) this.deadline = deadline;
      this.problem = said.isDone ? null : said.status;
      if (this.#isWaiting) return; // it is said again
      if (said.isDone) this.#isOpen = isDeadMan;
      // What is refused stays so: what was acknowledged before goes on to its end.
      else if (said.state !== 'unknown' && !/rate_limited/.test(said.status)) this.isDeadMan = this.#isOpen = false;
    } catch (caught) {
      this.problem = (caught as Error).message;
    }
    this.changed();
  }
}
