/* Money out of the exchange: what is typed, every byte of it, and the master key's signature. */
import { useState } from 'preact/hooks';
import { Problem } from './api';
import { ByteTable } from './byte_table';
import { apiText, parseRaw, shown } from './decimal';
import { type Payload, makePayload, portfolioBytes } from './payload';
import { statusText } from './code_text';
import type { Trader } from './trader';
import { typedData } from './typed_data';

const MICRO = 6;
const LEAST = 1_000_000n;

type State = { amount: string; destination: string };

/** What is wrong with what was typed; null: nothing. */
export function withdrawFault({ amount, destination }: State): string | null {
  const raw = parseRaw(amount, MICRO);
  if (raw === null) return 'an amount has at most 6 decimals';
  if (raw < LEAST) return 'the least is 1 USDC';
  return /^0x[0-9a-fA-F]{40}$/.test(destination) ? null : 'an address has 0x and 40 hexadecimal digits';
}

function Typed({ payload, trader }: { payload: Payload; trader: Trader }) {
  const { message } = typedData(payload, trader.exchangeId);
  return (
    <dl class="details typed">
      {Object.entries(message).map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{String(value)}</dd></div>)}
    </dl>
  );
}

export function Withdraw({ trader }: { trader: Trader }) {
  const [typed, setTyped] = useState<State>({ amount: '', destination: '' });
  const [payload, setPayload] = useState<Payload | null>(null);
  const [outcome, setOutcome] = useState<{ good: boolean; text: string } | null>(null);
  const [isBusy, setBusy] = useState(false);
  const { master, account } = trader.credentials!;
  if (master.kind === 'file') return <p class="health-line dim">Withdrawals of this account are signed by its key file: <code>perp withdraw</code>.</p>;
  const fault = withdrawFault(typed);
  const set = (change: Partial<State>) => {
    setTyped((before) => ({ ...before, ...change }));
    setPayload(null);
    setOutcome(null);
  };
  const review = async () => {
    const { fromHex, isAddress } = await import('./secp_master');
    if (!isAddress(typed.destination)) return setOutcome({ good: false, text: 'The capital letters of the address are not those of its checksum: it has a typing mistake.' });
    setOutcome(null);
    setPayload(makePayload('withdraw', master.kind === 'passkey' ? 'passkey' : 'secp256k1', {
      portfolio_id: portfolioBytes(account), amount: parseRaw(typed.amount, MICRO)!, destination: fromHex(typed.destination),
    }));
  };
  const sign = async () => {
    setBusy(true);
    try {
      const { answer } = await trader.byMaster((await trader.master())!, payload!);
      setOutcome({ good: true, text: `Withdrawal ${answer.withdrawal_id ?? ''} is on its way.` });
    } catch (caught) {
      setOutcome({ good: false, text: caught instanceof Problem ? `${statusText(caught.code)}${caught.detail && `: ${caught.detail}`}` : (caught as Error).message });
    }
    setPayload(null);
    setBusy(false);
    await trader.read();
  };
  return (
    <form class="withdraw" onSubmit={(event) => (event.preventDefault(), void (payload === null ? review().catch((caught: Error) => setOutcome({ good: false, text: caught.message })) : sign()))}>
      <h3>Withdraw</h3>
      <label>USDC <input id="withdraw-amount" inputMode="decimal" autocomplete="off" value={typed.amount} onInput={(event) => set({ amount: event.currentTarget.value.trim() })} /></label>
      <label>to <input id="withdraw-destination" autocomplete="off" spellcheck={false} value={typed.destination} onInput={(event) => set({ destination: event.currentTarget.value.trim() })} /></label>
      {fault !== null && typed.amount !== '' && <p class="fault">{fault}</p>}
      {payload !== null && <p class="sentence">Withdraw {shown(parseRaw(typed.amount, MICRO)!, MICRO)} USDC to {typed.destination}.</p>}
      {payload !== null && (master.kind === 'wallet' ? <Typed payload={payload} trader={trader} /> : null)}
      {payload !== null && <ByteTable payload={payload} command={master.kind === 'wallet' ? `perp withdraw ${apiText(parseRaw(typed.amount, MICRO)!, MICRO)} ${typed.destination} --signer master --account ${account} --url ${location.origin}` : undefined} />}
      <button type="submit" class="button" disabled={fault !== null || isBusy}>{payload === null ? 'Review' : isBusy ? 'asking your key …' : `Sign and withdraw ${apiText(parseRaw(typed.amount, MICRO)!, MICRO)} USDC`}</button>
      {outcome !== null && <p class={`outcome tone-${outcome.good ? 'good' : 'bad'}`} role="alert">{outcome.text}</p>}
    </form>
  );
}
