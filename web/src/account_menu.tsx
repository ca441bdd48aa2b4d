/* The account in the headline: none, being made, or the one whose keys this browser has. */
import { useRef, useState } from 'preact/hooks';
import { Problem } from './api';
import { shownText } from './decimal';
import type { Exchange } from './exchange';
import { useModel } from './model';
import { statusText } from './text';
import type { Trader } from './trader';

const FAUCET = '10000';
const SOON_MS = 86_400_000;

/** Runs one step at a time and says what went wrong with it. */
function useStep(): { busy: string | null; wrong: string | null; run: (name: string, step: () => Promise<unknown>) => void } {
  const [busy, setBusy] = useState<string | null>(null);
  const [wrong, setWrong] = useState<string | null>(null);
  const run = (name: string, step: () => Promise<unknown>) => {
    setBusy(name);
    setWrong(null);
    step().catch((caught: Error) => setWrong(inWords(caught))).finally(() => setBusy(null));
  };
  return { busy, wrong, run };
}

function inWords(caught: Error): string {
  if (caught.name === 'NotAllowedError') return 'The passkey was not used; nothing was sent.';
  return caught instanceof Problem ? `${statusText(caught.code)}${caught.detail === '' ? '' : `: ${caught.detail}`}.` : caught.message;
}

function Beginning({ trader, testnet, step }: { trader: Trader; testnet: boolean; step: ReturnType<typeof useStep> }) {
  if (trader.obstacle !== null) return <p>{trader.obstacle}</p>;
  return (
    <>
      <p>A passkey of this device is the account's master key. It admits a key of this browser, which can trade for seven days and cannot withdraw.</p>
      {testnet && <p class="badge warn">This exchange has test money.</p>}
      <div class="actions">
        <button type="button" class="button" disabled={step.busy !== null} onClick={() => step.run('account', () => trader.createAccount())}>Create an account</button>
        <button type="button" class="button" disabled={step.busy !== null} onClick={() => step.run('sign in', () => trader.signIn())}>I have one: sign in</button>
      </div>
      {step.busy !== null && <p aria-live="polite">confirm with your passkey: it is asked {step.busy === 'account' ? 'to be made, then twice to sign' : 'three times to sign'}</p>}
    </>
  );
}

function Own({ trader, testnet, step }: { trader: Trader; testnet: boolean; step: ReturnType<typeof useStep> }) {
  const { account, sessionExpires, apiKeyId } = trader.credentials!;
  return (
    <>
      <dl class="details">
        <div><dt>Account</dt><dd>{account.toString()}</dd></div>
        <div><dt>This browser's key lives until</dt><dd>{new Date(sessionExpires).toLocaleString()}</dd></div>
        <div><dt>API key</dt><dd>{apiKeyId}</dd></div>
      </dl>
      <div class="actions">
        {testnet && <button type="button" class="button" disabled={step.busy !== null} onClick={() => step.run('faucet', () => trader.faucet(FAUCET))}>Get {FAUCET} test USDC</button>}
        <button type="button" class="button" disabled={step.busy !== null} onClick={() => step.run('forget', () => trader.forget())}>Forget this device</button>
      </div>
    </>
  );
}

export function AccountMenu({ exchange, trader }: { exchange: Exchange; trader: Trader }) {
  useModel(trader);
  const dialog = useRef<HTMLDialogElement>(null);
  const step = useStep();
  const own = trader.credentials;
  const soon = own !== null && Date.parse(own.sessionExpires) - Date.now() < SOON_MS;
  const testnet = exchange.record?.testnet ?? false;
  return (
    <>
      {own !== null && trader.account !== null && <span class="equity">{shownText(trader.account.balance.equity, 2)} <span class="dim">USDC</span></span>}
      <button type="button" class={`chip account ${soon ? 'tone-warn' : ''}`} onClick={() => dialog.current?.showModal()}>
        {own === null ? 'Open account' : `Account ${own.account}`}{soon && ' · key ends soon'}
      </button>
      <dialog ref={dialog} aria-labelledby="account-title">
        <div class="pane-head"><h2 id="account-title">Account</h2>
          <div class="pane-tools"><button type="button" onClick={() => dialog.current?.close()}>close</button></div></div>
        <div class="dialog-body">
          {own === null ? <Beginning trader={trader} testnet={testnet} step={step} /> : <Own trader={trader} testnet={testnet} step={step} />}
          {step.wrong !== null && <p class="outcome tone-bad" role="alert">{step.wrong}</p>}
          {trader.problem !== null && <p class="outcome tone-warn" role="status">{trader.problem}</p>}
        </div>
      </dialog>
    </>
  );
}
