/* What the page did wrong by itself: an error that no part of it has caught is shown, not only written to the console. */
import { Model } from './model';

const TEXTS_MAX = 3;

class Faults extends Model {
  /** What was wrong, each text once. */
  texts: string[] = [];

  start(): void {
    addEventListener('unhandledrejection', ({ reason }) => this.#add(reason));
    addEventListener('error', ({ error }) => error != null && this.#add(error));
  }

  #add(fault: unknown): void {
    const text = fault instanceof Error ? fault.message : String(fault);
    if (this.texts.includes(text)) return;
    this.texts = [...this.texts, text].slice(-TEXTS_MAX);
    this.changed();
  }

  get line(): string | null {
    return this.texts.length === 0 ? null : `A part of this page has a fault (${this.texts.join('; ')}): reload it.`;
  }
}

export const faults = new Faults();
