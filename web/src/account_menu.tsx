/* The account in the headline: none, being made, or the one whose keys this browser has. */
import { useRef, useState } from 'preact/hooks';
import { Problem } from './api';
import { type Arming, DEAD_MAN_S, GRACE_MS } from './arming';
import { serverNow } from './clock';
import { Copy } from './copy';
import { shownText } from './decimal';
import type { Exchange } from './exchange';
import type { Master, MasterId, Provider } from './master';
import { useModel, useTick } from './model';
import type { FileMaster } from './secp_master';
import { saveFile } from './save_file';
import { statusText } from './code_text';
import type { Trader } from './trader';

const FAUCET = '10000';
const SOON_MS = 86_400_000;
const MINUTES_MS = 600_000;
const LOOK_MS = 20_000;

/** What the headline says of a key that ends, or has ended; null: it lives for long. */
function endText(expires: string): string | null {
  const left = Date.parse(expires) - serverNow();
  if (left >= SOON_MS) return null;
  return left <= 0 ? 'key has ended' : left < MINUTES_MS ? `key ends in ${Math.ceil(left / 60_000)} min` : 'key ends soon';
}

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

type Step = ReturnType<typeof useStep>;

/** A key that this page makes, saved as a file before it is used. */
function KeyFile({ trader, step }: { trader: Trader; step: Step }) {
  const [master, setMaster] = useState<FileMaster | null>(null);
  const [isSaved, setSaved] = useState(false);
  const make = async () => {
    const { FileMaster } = await import('./secp_master');
    setMaster(new FileMaster(trader.exchangeId));
  };
  const save = () => {
    saveFile('perpd.master', 'text/plain', master!.file);
    setSaved(true);
  };
  return (
    <section aria-label="Key file">
      <h3>A key in a file</h3>
      <p>The page makes the account's master key; you keep it as a file of <code>perp</code>. This browser does not keep it: who has the file has the account.</p>
      <div class="actions">
        {master === null && <button type="button" class="button" onClick={() => step.run('key', make)}>Make a key</button>}
        {master !== null && <button type="button" class="button" onClick={save}>1. Save the key file</button>}
        {master !== null && <button type="button" class="button" disabled={!isSaved || step.busy !== null} onClick={() => step.run('account', () => trader.createAccount(master))}>2. Create an account with it</button>}
      </div>
    </section>
  );
}

/** The wallets of this browser. */
function WalletChoice({ trader, step }: { trader: Trader; step: Step }) {
  const use = (provider: Provider, then: (master: Master) => Promise<void>) => async () => {
    const { WalletMaster } = await import('./secp_master');
    await then(await WalletMaster.connect(provider, trader.exchangeId));
  };
  return (
    <section aria-label="Wallets">
      <h3>A wallet</h3>
      {trader.wallets.all.length === 0 && <p class="dim">This browser has none.</p>}
      {trader.wallets.all.map(({ name, provider }, at) => (
        <div key={at} class="actions"><span class="wallet">{name}</span>
          <button type="button" class="button" disabled={step.busy !== null} onClick={() => step.run('account', use(provider, (master) => trader.createAccount(master)))}>Create by {name}</button>
          <button type="button" class="button" disabled={step.busy !== null} onClick={() => step.run('sign in', use(provider, (master) => trader.signIn(master)))}>Sign in by {name}</button>
        </div>
      ))}
    </section>
  );
}

const STEPS = ['a key', 'its consent', 'done'];

/** Where the way to an account has come to. */
function Steps({ at }: { at: number }) {
  return <ol class="steps">{STEPS.map((text, step) => <li key={text} aria-current={step === at ? 'step' : undefined}>{text}</li>)}</ol>;
}

/** What `perp` is told of this exchange and account, as a part of its file of settings. */
function configuration(trader: Trader): string {
  const { account, master } = trader.credentials!;
  return `[default]\nurl = ${location.origin}\naccount = ${account}\n${master.kind === 'file' ? 'master_key = perpd.master\n' : ''}session_key = my.session\n`;
}

function Configuration({ trader }: { trader: Trader }) {
  const text = configuration(trader);
  const isFile = trader.credentials!.master.kind === 'file';
  return (
    <details class="bytes">
      <summary>the same account with perp</summary>
      <pre class="command" tabIndex={0}>{text}</pre>
      <div class="actions">
        <Copy text={() => text}>copy</Copy>
        <button type="button" class="button" onClick={() => saveFile('perp.config', 'text/plain', text)}>save as a file</button>
      </div>
      <p class="dim">In <code>~/.config/perp/config</code>. This browser's key stays here: {isFile ? <><code>perp session create --new-key my.session</code> makes one for perp.</> : <><code>perp keys new ed25519 my.session</code> makes one; the pane Keys lets it trade.</>}</p>
    </details>
  );
}

/** What the exchange does with the orders when this page no longer says anything. */
function Arms({ arming }: { arming: Arming }) {
  useModel(arming);
  const { stream } = arming.trader;
  useModel(stream);
  return (
    <section aria-label="When this page is gone">
      <h3>When this page is gone</h3>
      <label class="switch"><input type="checkbox" id="arm-disconnect" checked={stream.isArmWanted} onChange={(event) => stream.arm(event.currentTarget.checked, GRACE_MS)} /> cancel my orders {GRACE_MS / 1000} s after its connection breaks</label>
      <label class="switch"><input type="checkbox" id="arm-dead-man" checked={arming.isDeadMan} onChange={(event) => arming.setDeadMan(event.currentTarget.checked)} /> cancel my orders when it has said nothing for {DEAD_MAN_S} s</label>
      {(stream.armProblem ?? arming.problem) !== null && <p class="outcome tone-bad" role="alert">{statusText((stream.armProblem ?? arming.problem)!)}</p>}
    </section>
  );
}

/** What is armed, for the headline. */
function Armed({ arming, onOpen }: { arming: Arming; onOpen: () => void }) {
  useModel(arming);
  const { isArmWanted, isArmed } = useModel(arming.trader.stream);
  const { isDeadMan, deadline } = arming;
  const isHeld = deadline > serverNow();
  const texts = [(isArmWanted || isArmed !== false) && 'disconnect', (isDeadMan || isHeld) && `${DEAD_MAN_S} s`].filter(Boolean);
  if (texts.length === 0) return null;
  const isSure = isArmWanted === isArmed && isDeadMan === isHeld;
  return <button type="button" class={`chip tone-${isSure ? 'warn' : 'bad'}`} title="Orders are cancelled when this page is gone" onClick={onOpen}>⚑ {isSure ? 'armed' : 'not confirmed'}: {texts.join(', ')}</button>;
}

function Beginning({ trader, testnet, step }: { trader: Trader; testnet: boolean; step: Step }) {
  if (trader.obstacle !== null) return <p>{trader.obstacle}</p>;
  const { passkeyObstacle } = trader;
  return (
    <>
      <Steps at={step.busy === null ? 0 : 1} />
      <p>The account belongs to who has its master key: a passkey{testnet ? ', a wallet or a file' : ' or a wallet'}. The master key lets this browser trade for seven days; the browser alone cannot withdraw.</p>
      {testnet && <p><span class="badge warn">This exchange has test money.</span></p>}
      <section aria-label="Passkey">
        <h3>A passkey of this device</h3>
        {passkeyObstacle !== null ? <p class="dim">{passkeyObstacle}</p> : <div class="actions">
          <button type="button" class="button" autoFocus disabled={step.busy !== null} onClick={() => step.run('account', async () => trader.createAccount(await trader.newPasskey()))}>Create an account</button>
          <button type="button" class="button" disabled={step.busy !== null} onClick={() => step.run('sign in', () => trader.signIn(trader.anyPasskey()))}>I have one: sign in</button>
        </div>}
      </section>
      <WalletChoice trader={trader} step={step} />
      {testnet && <KeyFile trader={trader} step={step} />}
      {step.busy !== null && <p aria-live="polite">confirm with your key: a passkey is asked {step.busy === 'account' ? 'to be made, then twice to sign' : 'three times to sign'}, a wallet {step.busy === 'account' ? 'twice' : 'three times'}</p>}
    </>
  );
}

const MASTER: Record<MasterId['kind'], string> = { passkey: 'a passkey', wallet: 'a wallet', file: 'a key file, which you have' };

function Own({ trader, testnet, step }: { trader: Trader; testnet: boolean; step: Step }) {
  const { account, sessionExpires, apiKeyId, master } = trader.credentials!;
  const isPoor = trader.account?.balance.equity === '0';
  return (
    <>
      {isPoor && <Steps at={2} />}
      <dl class="details">
        <div><dt>Account</dt><dd>{account.toString()}</dd></div>
        <div><dt>This browser's key lives until</dt><dd>{new Date(sessionExpires).toLocaleString()}</dd></div>
        <div><dt>Master key</dt><dd>{MASTER[master.kind]}{master.kind === 'wallet' && ` ${master.address}`}</dd></div>
        <div><dt>API key</dt><dd>{apiKeyId}</dd></div>
      </dl>
      {isPoor && <p>The account is there, and has no money yet{testnet ? ': take test money below' : ''}.</p>}
      <div class="actions">
        {testnet && <button type="button" class="button" autoFocus disabled={step.busy !== null} onClick={() => step.run('faucet', () => trader.faucet(FAUCET))}>Get {FAUCET} test USDC</button>}
        {master.kind !== 'file' && <button type="button" class="button" disabled={step.busy !== null} onClick={() => step.run('renew', () => trader.renew())}>Renew for 7 days</button>}
        <button type="button" class="button" disabled={step.busy !== null} onClick={() => step.run('forget', () => trader.forget())}>Forget this device</button>
      </div>
      <Arms arming={trader.arming} />
      <Configuration trader={trader} />
    </>
  );
}

export function AccountMenu({ exchange, trader }: { exchange: Exchange; trader: Trader }) {
  useModel(trader);
  const dialog = useRef<HTMLDialogElement>(null);
  const step = useStep();
  const own = trader.credentials;
  const soon = own === null ? null : endText(own.sessionExpires);
  useTick(LOOK_MS);
  const testnet = exchange.record?.testnet ?? false;
  return (
    <>
      {own !== null && <Armed arming={trader.arming} onOpen={() => dialog.current?.showModal()} />}
      {own !== null && trader.account !== null && <span class="equity">{shownText(trader.account.balance.equity, 2)} <span class="dim">USDC</span></span>}
      <button type="button" class={`chip account ${soon !== null ? 'tone-warn' : ''}`} onClick={() => dialog.current?.showModal()}>
        {own === null ? 'Open account' : `Account ${own.account}`}{soon !== null && ` · ${soon}`}
      </button>
      <dialog ref={dialog} class="account-dialog" aria-labelledby="account-title">
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
