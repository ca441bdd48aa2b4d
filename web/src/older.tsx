/* The rows behind those that are kept, a page at a time, down to the last. */
import { useState } from 'preact/hooks';
import { Problem, get } from './api';
import { statusText } from './code_text';
import { Nothing } from './pane';
import type { Trader } from './trader';

const PAGE = 50;

/** What was read behind the row `behind` of those that are kept. */
type Read = { behind: string | null; rows: any[]; isWhole: boolean };

/** What of it still follows: nothing, once that row is kept no more. */
export function behindKept({ behind, rows, isWhole }: Read, kept: any[]): Read {
  const ids = new Set(kept.map((row) => row.id));
  return ids.has(behind) ? { behind, isWhole, rows: rows.filter((row) => !ids.has(row.id)) } : { behind: null, rows: [], isWhole: false };
}

export type Older = { rows: any[]; isEnd: boolean; wrong: string | null; more: () => Promise<void> };

/** `kept`: the newest rows of a list, newest first. One that is in them already is not given again. */
export function useOlder(trader: Trader, path: string, kept: any[]): Older {
  const [read, setRead] = useState<Read>({ behind: null, rows: [], isWhole: false });
  const [wrong, setWrong] = useState<string | null>(null);
  const { behind, rows, isWhole } = behindKept(read, kept);
  const last = rows.at(-1) ?? kept.at(-1);
  const more = async () => {
    try {
      const page: any[] = await get(`${path}&limit=${PAGE}&before_sequence=${last.sequence}&before_index=${last.index}`, trader.credentials!.apiKey);
      setRead({ behind: behind ?? last.id, rows: [...rows, ...page], isWhole: page.length < PAGE });
      setWrong(null);
    } catch (caught) {
      setWrong(caught instanceof Problem ? `${statusText(caught.code)}${caught.detail && `: ${caught.detail}`}` : (caught as Error).message);
    }
  };
  return { rows, isEnd: isWhole || kept.length < PAGE, wrong, more };
}

/** The end of a list, or the way to it. */
export function ListEnd({ older: { isEnd, wrong, more } }: { older: Omit<Older, 'rows'> }) {
  if (isEnd) return <Nothing>that is all</Nothing>;
  return <p class="nothing" role="status">{wrong} <button type="button" class="button" onClick={() => void more()}>{wrong === null ? 'older' : 'try again'}</button></p>;
}
