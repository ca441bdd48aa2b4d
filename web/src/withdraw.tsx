/* What moves money by the master key: what is typed, every byte of it, and the key's signature. */
import { useState } from 'preact/hooks';
import { Problem } from './api';
import { ByteTable } from './byte_table';
import { apiText, parseRaw, shown } from './decimal';
import { type Payload, type Values, makePayload, portfolioBytes } from './payload';
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

function transferFault({ amount }: State): string | null {
  const raw = parseRaw(amount, MICRO);
  return raw === null || raw <= 0n ? 'an amount is above 0 and has at most 6 decimals' : null;
}

function Typed({ payload, trader }: { payload: Payload; trader: Trader }) {
  const { message } = typedData(payload, trader.exchangeId);
  return (
    <dl class="details typed">
      {Object.entries(message).map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{String(value)}</dd></div>)}
    </dl>
  );
}

/** One way for money to go: out of the exchange, or to another portfolio of the account. */
type Way = {
  name: 'withdraw' | 'transfer';
  /** Of a transfer: the portfolios that it may go to. */
  places?: string[];
  fault: (typed: State) => string | null;
  /** The members of the request but its amount. */
  values: (account: bigint, destination: string) => Promise<Values>;
  command: (amount: string, destination: string) => string;
  done: (answer: any) => string;
};

const WITHDRAW: Way = {
  name: 'withdraw',
  fault: withdrawFault,
  async values(account, destination) {
    const { fromHex, isAddress } = await import('./secp_master');
    if (!isAddress(destination)) throw new Error('The capital letters of the address are not those of its checksum: it has a typing mistake.');
    return { portfolio_id: portfolioBytes(account), destination: fromHex(destination) };
  },
  command: (amount, destination) => `withdraw ${amount} ${destination}`,
  done: ({ withdrawal_id }) => `Withdrawal ${withdrawal_id ?? ''} is on its way.`,
};

/** A portfolio's name is SUBACCOUNT/PORTFOLIO. */
const transferTo = (places: string[]): Way => ({
  name: 'transfer',
  places,
  fault: transferFault,
  values: async (account, destination) => ({ from: portfolioBytes(account), to: portfolioBytes(account, ...destination.split('/').map(BigInt)) }),
  command: (amount, destination) => `transfer ${amount} 0/0 ${destination}`,
  done: () => 'The money has moved.',
});

export function Withdraw({ trader, places }: { trader: Trader; places: string[] }) {
  if (trader.credentials!.master.kind === 'file') return <p class="health-line dim">Withdrawals and transfers of this account are signed by its key file: <code>perp withdraw</code>, <code>perp transfer</code>.</p>;
  return <><Form trader={trader} way={WITHDRAW} />{places.length > 0 && <Form trader={trader} way={transferTo(places)} />}</>;
}

function Form({ trader, way }: { trader: Trader; way: Way }) {
  const [typed, setTyped] = useState<State>({ amount: '', destination: way.places?.[0] ?? '' });
  const [payload, setPayload] = useState<Payload | null>(null);
  const [outcome, setOutcome] = useState<{ good: boolean; text: string } | null>(null);
  const [isBusy, setBusy] = useState(false);
  const { master, account } = trader.credentials!;
  const fault = way.fault(typed);
  const set = (change: Partial<State>) => {
    setTyped((before) => ({ ...before, ...change }));
    setPayload(null);
    setOutcome(null);
  };
  const { name } = way;
  const raw = parseRaw(typed.amount, MICRO) ?? 0n;
  const amount = apiText(raw, MICRO);
  const title = name === 'withdraw' ? 'Withdraw' : 'Transfer';
  const review = async () => {
    setOutcome(null);
    setPayload(makePayload(name, master.kind === 'passkey' ? 'passkey' : 'secp256k1', { amount: raw, ...await way.values(account, typed.destination) }));
  };
  const sign = async () => {
    setBusy(true);
    try {
      const { answer } = await trader.byMaster((await trader.master())!, payload!);
      setOutcome({ good: true, text: way.done(answer) });
    } catch (caught) {
      setOutcome({ good: false, text: caught instanceof Problem ? `${statusText(caught.code)}${caught.detail && `: ${caught.detail}`}` : (caught as Error).message });
    }
    setPayload(null);
    setBusy(false);
    await trader.read();
  };
  const command = `perp ${way.command(amount, typed.destination)} --signer master --account ${account} --url ${location.origin}`;
  return (
    <form class="withdraw" onSubmit={(event) => (event.preventDefault(), void (payload === null ? review().catch((caught: Error) => setOutcome({ good: false, text: caught.message })) : sign()))}>
      <h3>{title}</h3>
      <label>USDC <input id={`${name}-amount`} inputMode="decimal" autocomplete="off" value={typed.amount} onInput={(event) => set({ amount: event.currentTarget.value.trim() })} /></label>
      <label>to {way.places === undefined ? <input id="withdraw-destination" autocomplete="off" spellcheck={false} value={typed.destination} onInput={(event) => set({ destination: event.currentTarget.value.trim() })} />
        : <select id="transfer-destination" value={typed.destination} onChange={(event) => set({ destination: event.currentTarget.value })}>{way.places.map((one) => <option key={one}>{one}</option>)}</select>}</label>
      {fault !== null && typed.amount !== '' && <p class="fault">{fault}</p>}
      {payload !== null && <p class="sentence">{title} {shown(raw, MICRO)} USDC to {typed.destination}.</p>}
      {payload !== null && master.kind === 'wallet' && <Typed payload={payload} trader={trader} />}
      {payload !== null && <ByteTable payload={payload} command={master.kind === 'wallet' ? command : undefined} />}
      <button type="submit" class="button" disabled={fault !== null || isBusy}>{payload === null ? 'Review' : isBusy ? 'asking your key …' : `Sign and ${name} ${amount} USDC`}</button>
      {outcome !== null && <p class={`outcome tone-${outcome.good ? 'good' : 'bad'}`} role="alert">{outcome.text}</p>}
    </form>
  );
}
