/* What the reader has chosen of the page's look and keys; the browser keeps it. */
import { Model } from './model';

/** The first of each is in force until another is chosen. */
export const CHOICES = {
  theme: { system: 'as the system', light: 'light', dark: 'dark' },
  sides: { green: 'green and red', blue: 'blue and orange' },
  letters: { on: 'on', off: 'off' },
  spoken: { off: 'not spoken', on: 'spoken, at most each 10 seconds' },
} as const;
export type Setting = keyof typeof CHOICES;

class Settings extends Model {
  get(name: Setting): string {
    return document.documentElement.dataset[name] ?? Object.keys(CHOICES[name])[0];
  }

  /** Puts it in force, and keeps it where the browser lets a page keep anything. */
  set(name: Setting, value: string): void {
    const isFirst = value === Object.keys(CHOICES[name])[0];
    try {
      if (isFirst) localStorage.removeItem(name);
      else localStorage.setItem(name, value);
    } catch { /* it holds until the page is left */ }
    this.#use(name, isFirst ? null : value);
    this.changed();
  }

  /** Takes over what was kept. */
  start(): void {
    for (const name of Object.keys(CHOICES) as Setting[]) {
      let kept: string | null = null;
      try {
        kept = localStorage.getItem(name);
      } catch { /* nothing is kept */ }
      if (kept !== null && kept in CHOICES[name]) this.#use(name, kept);
    }
  }

  #use(name: Setting, value: string | null): void {
    if (value === null) delete document.documentElement.dataset[name];
    else document.documentElement.dataset[name] = value;
  }
}

export const settings = new Settings();
