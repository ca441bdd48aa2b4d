/* A button that puts a text into the clipboard, and says whether it did. */
import { useState } from 'preact/hooks';

const SAID_MS = 1500;

/** `text` gives what is copied when the button is pressed. */
export function Copy({ text, kind = 'button', title, children }: { text: () => string; kind?: string; title?: string; children: string }) {
  const [said, setSaid] = useState<string | null>(null);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text());
      setSaid('copied');
    } catch {
      setSaid('not copied'); // the browser refuses, or has no clipboard for this address
    }
    setTimeout(() => setSaid(null), SAID_MS);
  };
  return <button type="button" class={kind} title={title} onClick={() => void copy()}><span aria-live="polite">{said ?? children}</span></button>;
}
