/* The id of a row, short, to be copied whole. */
import { useState } from 'preact/hooks';

/** The end of an id; pressed, the clipboard has all of it. */
export function Id({ text }: { text: string }) {
  const [said, setSaid] = useState<string | null>(null);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid('copied');
    } catch {
      setSaid('not copied'); // the browser refuses, or has no clipboard for this address
    }
    setTimeout(() => setSaid(null), 1500);
  };
  return <td class="opt"><button type="button" class="id" title={`copy ${text}`} onClick={() => void copy()}>{said ?? `…${text.slice(-6)}`}</button></td>;
}
