/* The leverage of a market: what the account has chosen, and another choice. */
import { useState } from 'preact/hooks';
import { Problem } from './api';
import type { Market } from './market';
import { statusText } from './code_text';
import type { Trader } from './trader';

/** Nothing tells the setting but the position that it is in force for. */
export function shownLeverage(market: Market, trader: Trader): number | null {
  return trader.account?.positions.find((row) => row.market === market.name)?.leverage ?? null;
}

export function Leverage({ market, trader }: { market: Market; trader: Trader }) {
  const [typed, setTyped] = useState('');
  const [said, setSaid] = useState<{ good: boolean; text: string } | null>(null);
  const [isBusy, setBusy] = useState(false);
  const most = market.record.max_leverage;
  const now = shownLeverage(market, trader);
  const wanted = /^\d{1,3}$/.test(typed) ? Number(typed) : 0;
  const isRight = wanted >= 1 && wanted <= most;
  const put = async () => {
    setBusy(true);
    try {
      setSaid({ good: true, text: `The leverage of ${market.name} is ${await trader.setLeverage(market.name, wanted)}×.` });
      setTyped('');
    } catch (caught) {
      setSaid({ good: false, text: caught instanceof Problem ? `${statusText(caught.code)}${caught.detail && `: ${caught.detail}`}.` : (caught as Error).message });
    }
    setBusy(false);
  };
  /** Enter here is not the order's. */
  const press = (event: KeyboardEvent) => {
    if (event.key !== 'Enter') return;
    event.preventDefault();
    if (isRight && !isBusy && !event.repeat) void put();
  };
  return (
    <div class="leverage">
      <label for="leverage">Leverage{now !== null && ` ${now}×`} <span class="dim">1 to {most}</span></label>
      <input id="leverage" inputMode="numeric" autocomplete="off" value={typed} aria-invalid={typed !== '' && !isRight}
        onKeyDown={press} onInput={(event) => setTyped(event.currentTarget.value.trim())} />
      <button type="button" class="button" disabled={!isRight || isBusy} onClick={() => void put()}>set</button>
      {said !== null && <p class={`outcome tone-${said.good ? 'good' : 'bad'}`} role="alert">{said.text}</p>}
    </div>
  );
}
