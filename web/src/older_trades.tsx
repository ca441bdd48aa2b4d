/* Trades behind those that are shown: the list stands still while they are. */
import { useState } from 'preact/hooks';
import { get } from './api';
import type { Market } from './market';
import { ListEnd } from './older';
import type { Trade } from './tape';

const PAGE = 50;

type Props = { market: Market; rows: Trade[]; isHeld: boolean; onRows: (rows: Trade[] | null) => void };

export function OlderTrades({ market, rows, isHeld, onRows }: Props) {
  const [isEnd, setEnd] = useState(false);
  const [wrong, setWrong] = useState<string | null>(null);
  const more = async () => {
    const last = rows.at(-1)!;
    try {
      const { trades } = await get(`/markets/${market.name}/trades?limit=${PAGE}&before_sequence=${last.sequence}&before_index=${last.index}`);
      onRows([...rows, ...trades]);
      setEnd(trades.length < PAGE);
      setWrong(null);
    } catch (caught) {
      setWrong((caught as Error).message);
    }
  };
  const newest = () => (onRows(null), setEnd(false));
  return <><ListEnd older={{ isEnd: isEnd && isHeld, wrong, more }} />{isHeld && <p class="nothing">the list stands still <button type="button" class="button" onClick={newest}>newest</button></p>}</>;
}
