/* Keys of the whole page, which are dead where text is typed and in dialogs. */
import { useEffect, useRef } from 'preact/hooks';
import { settings } from './settings';

const TWICE_MS = 1000;

export const KEYS: Record<string, string> = {
  '/': 'find a market', b: 'buy', s: 'sell', Enter: 'in the order: its bytes, and the button that sends it', 'Ctrl+Enter': 'in the order: sends it',
  'Esc Esc': 'cancel all orders (asks)', '1 to 9': 'panes of the account', '↑ ↓': 'in a table: the same button of the next row', '?': 'this list',
};

export type KeyActions = { find(): void; side(side: 'buy' | 'sell'): void; cancelAll(): void; pane(number: number): void; help(): void };

/** Goes to what is pressed in the same column of the next row that has it; whether there is one. */
function toRow(target: EventTarget | null, by: number): boolean {
  const cell = target instanceof HTMLElement && target.matches('button, a') ? target.closest<HTMLTableCellElement>('td, th') : null;
  const rows = [...(cell?.closest('table')?.rows ?? [])];
  for (let at = rows.findIndex((row) => row === cell!.parentElement) + by; at >= 0 && at < rows.length; at += by) {
    const next = rows[at].cells[cell!.cellIndex]?.querySelector<HTMLElement>('button, a');
    if (next == null) continue;
    next.focus();
    return true;
  }
  return false;
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('input, select, textarea, dialog') !== null;
}

export function useKeys(newest: KeyActions): void {
  const latest = useRef(newest);
  latest.current = newest;
  useEffect(() => {
    let escapedAt = -Infinity;
    const press = (event: KeyboardEvent) => {
      const actions = latest.current;
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === 'ArrowDown' || event.key === 'ArrowUp')
        return toRow(event.target, event.key === 'ArrowDown' ? 1 : -1) ? event.preventDefault() : undefined;
      if (event.repeat) return;
      if (event.key === 'Escape') {
        if (document.querySelector('dialog[open]') !== null) return;
        if (event.timeStamp - escapedAt < TWICE_MS) actions.cancelAll();
        escapedAt = event.timeStamp - escapedAt < TWICE_MS ? -Infinity : event.timeStamp;
        return;
      }
      if (isTyping(event.target) || settings.get('letters') === 'off') return;
      if (event.key === '/') actions.find();
      else if (event.key === 'b' || event.key === 's') actions.side(event.key === 'b' ? 'buy' : 'sell');
      else if (event.key === '?') actions.help();
      else if (/^[1-9]$/.test(event.key)) actions.pane(Number(event.key));
      else return;
      event.preventDefault();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  });
}
