/* The id of a row, short, to be copied whole. */
import { useState } from 'preact/hooks';

/** The end of an id; pressed, the clipboard has all of it. */
export function Id({ text }: { text: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = () => void navigator.clipboard.writeText(text).then(() => {
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  });
  return <td class="opt"><button type="button" class="id" title={`copy ${text}`} onClick={copy}>{isCopied ? 'copied' : `…${text.slice(-6)}`}</button></td>;
}
