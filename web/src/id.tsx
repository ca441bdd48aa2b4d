/* The id of a row, short, to be copied whole. */
import { Copy } from './copy';

/** The end of an id; pressed, the clipboard has all of it. */
export function Id({ text }: { text: string }) {
  return <td class="opt"><Copy kind="id" title={`copy ${text}`} text={() => text}>{`…${text.slice(-6)}`}</Copy></td>;
}
