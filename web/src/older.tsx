/* The rows behind those that are kept, a page at a time, down to the last. */
import { useState } from 'preact/hooks';
import { Problem, get } from './api';
import { statusText } from './code_text';
import { Nothing } from './pane';
import type { Trader } from './trader';

const PAGE = 50;

export type Older = { rows: any[]; isEnd: boolean; wrong: string | null; more: () => Promise<void> };

/** `kept`: the newest rows of a list, newest first. One that is in them already is not given again. */
export function useOlder(trader: Trader, path: string, kept: any[]): Older {
  const [read, setRead] = useState<any[]>([]);
  const [isWhole, setWhole] = useState(false);
  const [wrong, setWrong] = useState<string | null>(null);
  const ids = new Set(kept.map((row) => row.id));
  const rows = read.filter((row) => !ids.has(row.id));
  const last = rows.at(-1) ?? kept.at(-1);
  const more = async () => {
    try {
      const page: any[] = await get(`${path}&limit=${PAGE}&before_sequence=${last.sequence}&before_index=${last.index}`, trader.credentials!.apiKey);
      setRead([...rows, ...page]);
      setWhole(page.length < PAGE);
      setWrong(null);
    } catch (caught) {
      setWrong(caught instanceof Problem ? `${statusText(caught.code)}${caught.detail && `: ${caught.detail}`}` : (caught as Error).message);
    }
  };
  return { rows, isEnd: isWhole || kept.length < PAGE, wrong, more };
}

/** The end of a list, or the way to it. */
export function ListEnd({ older: { isEnd, wrong, more } }: { older: Older }) {
  if (isEnd) return <Nothing>that is all</Nothing>;
  return <p class="nothing" role="status">{wrong} <button type="button" class="button" onClick={() => void more()}>{wrong === null ? 'older' : 'try again'}</button></p>;
}
