/* The keys of the account: sessions, API keys, master keys; the ends of those, and a session of another program. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { Problem, get } from './api';
import { ByteTable } from './byte_table';
import { type Bytes, hex, uuidBytes } from './bytes';
import { serverNow } from './clock';
import { useModel } from './model';
import { Loading, Nothing } from './pane';
import { type Payload, type Values, makePayload, timeOf } from './payload';
import { statusText } from './code_text';
import type { Trader } from './trader';

const READ_MS = 5000;
const DAY_MS = 86_400_000;
const YOUNG_MS = 10_000;
const TRADING_ONLY = 1n;
const KEY_BYTES = 32;
const DAYS = [1, 7, 30];

type Keys = { sessions: any[]; api: any[]; device: any[]; master: any[] };
type Said = { good: boolean; text: string } | null;

function keyBytes(base64: string): Bytes {
  return Uint8Array.from(atob(base64), (one) => one.charCodeAt(0));
}

/** The 32 bytes of a public key that was pasted, in hexadecimal or Base64; null: it is none. */
export function pastedKey(text: string): Bytes | null {
  const digits = text.replace(/^0x/, '');
  if (/^[0-9a-fA-F]{64}$/.test(digits)) return uuidBytes(digits);
  if (!/^[0-9a-zA-Z+/]{43}=$/.test(text)) return null;
  const bytes = keyBytes(text);
  return bytes.length === KEY_BYTES ? bytes : null;
}

const wrong = (caught: unknown): string =>
  caught instanceof Problem ? `${statusText(caught.code)}${caught.detail && `: ${caught.detail}`}` : (caught as Error).message;

/** Reads the keys now, each five seconds while they are seen, and when asked to. */
function useKeys(trader: Trader): { keys: Keys | null; problem: string | null; again: () => Promise<void> } {
  const [keys, setKeys] = useState<Keys | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const isHere = useRef(true);
  const again = async () => {
    const apiKey = trader.credentials?.apiKey;
    if (apiKey === undefined) return;
    try {
      const [sessions, api, master] = await Promise.all(['/auth/sessions', '/api-keys', '/auth/master-keys'].map((path) => get(path, apiKey)));
      if (!isHere.current) return;
      setKeys({ sessions, api: api.api_keys, device: api.device_keys, master: master.master_keys });
      setProblem(null);
    } catch (caught) {
      if (isHere.current) setProblem(wrong(caught));
    }
  };
  useEffect(() => {
    isHere.current = true;
    void again();
    const timer = setInterval(() => document.hidden || void again(), READ_MS);
    return () => {
      isHere.current = false;
      clearInterval(timer);
    };
  }, [trader]);
  return { keys, problem, again };
}

function time(text: string): string {
  return new Date(text).toLocaleString([], { dateStyle: 'short', timeStyle: 'short', hour12: false });
}

const WHOLE = 'whole account';
const pin = (row: any): string => (row.subaccount_index === undefined ? WHOLE : `subaccount ${row.subaccount_index}`);
const scope = (text: string | undefined): string => (text ?? 'all').toLowerCase().replaceAll('_', ' ');

type Name = 'revoke_session' | 'revoke_api_key' | 'create_session';

/** Shows what would be signed. */
type Ask = (title: string, name: Name, values: Values) => void;

function Sessions({ rows, own, onEnd, account }: { rows: any[]; own: string; onEnd: Ask | null; account: bigint }) {
  if (rows.length === 0) return <Nothing>no sessions</Nothing>;
  return (
    <table>
      <caption>Sessions, newest first: keys that trade</caption>
      <thead><tr><th scope="col">Public key</th><th scope="col">May</th><th scope="col" class="opt">Where</th><th scope="col">Ends</th><th scope="col"><span class="visually-hidden">Action</span></th></tr></thead>
      <tbody>{rows.map((row) => {
        const key = hex(keyBytes(row.session_public_key));
        const isOwn = key === own;
        const isSoon = Date.parse(row.expires_at) - Date.now() < DAY_MS;
        return <tr key={row.session_id} title={`${key}, made ${row.created_at}`}>
          <th scope="row">{key.slice(0, 8)}…{isOwn && <span class="dim"> this browser</span>}</th><td class="dim">{scope(row.scope)}</td><td class="dim opt">{pin(row)}</td>
          <td>{time(row.expires_at)}{isSoon && <span class="badge warn">soon</span>}</td>
          <td class="acts">{onEnd !== null && !isOwn && <button type="button" onClick={() => onEnd(`End the session ${key.slice(0, 8)}…`, 'revoke_session', { account_id: account, session_pub: keyBytes(row.session_public_key) })}>end</button>}</td>
        </tr>;
      })}</tbody>
    </table>
  );
}

function ApiKeys({ keys, own, onEnd, account }: { keys: Keys; own: string; onEnd: Ask | null; account: bigint }) {
  const rows = [...keys.api, ...keys.device.map((row) => ({ ...row, isDevice: true, api_key_id: row.device_key_id, scope: 'reads keys' }))];
  if (rows.length === 0) return <Nothing>no API keys</Nothing>;
  return (
    <table>
      <caption>API keys, newest first: keys that read</caption>
      <thead><tr><th scope="col">Label</th><th scope="col">May</th><th scope="col" class="opt">Where</th><th scope="col">Made</th><th scope="col"><span class="visually-hidden">Action</span></th></tr></thead>
      <tbody>{rows.map((row) => (
        <tr key={row.api_key_id} title={row.api_key_id}>
          <th scope="row">{row.isDevice ? 'device key' : (row.label ?? '–')}{row.api_key_id === own && <span class="dim"> this browser</span>}</th><td class="dim">{scope(row.scope)}</td><td class="dim opt">{pin(row)}</td><td>{time(row.created_at)}</td>
          <td class="acts">{onEnd !== null && row.api_key_id !== own && !row.isDevice && <button type="button" onClick={() => onEnd(`Revoke the key ${row.label ?? row.api_key_id}`, 'revoke_api_key', { account_id: account, api_key_id: uuidBytes(row.api_key_id) })}>revoke</button>}</td>
        </tr>
      ))}</tbody>
    </table>
  );
}

function MasterKeys({ rows }: { rows: any[] }) {
  return (
    <table>
      <caption>Master keys, oldest first: keys that own the account</caption>
      <thead><tr><th scope="col">Public key</th><th scope="col">Curve</th><th scope="col">Kind</th><th scope="col" class="opt">May</th><th scope="col">Made</th></tr></thead>
      <tbody>{rows.map((row) => {
        const key = hex(keyBytes(row.public_key));
        return <tr key={key} title={key}>
          <th scope="row">{key.slice(0, 10)}…</th><td class="dim">{row.curve.toLowerCase()}</td><td class="dim">{row.kind.toLowerCase()}</td><td class="dim opt">{scope(row.scope)}, {pin(row)}</td><td>{time(row.created_at)}</td>
        </tr>;
      })}</tbody>
    </table>
  );
}

/** A session of a key that another program has made and keeps. */
function Add({ account, onAdd, isBusy }: { account: bigint; onAdd: Ask; isBusy: boolean }) {
  const [text, setText] = useState('');
  const [days, setDays] = useState(7);
  const key = pastedKey(text);
  const add = () => onAdd(`Let the key ${hex(key!).slice(0, 8)}… trade for ${days === 1 ? 'a day' : `${days} days`}`, 'create_session', {
    account_id: account, session_pub: key!, expires_at: BigInt(Math.floor(serverNow()) + days * DAY_MS) * 1_000_000n, subaccount_pin: -1n, scope: TRADING_ONLY,
  });
  return (
    <form class="withdraw" onSubmit={(event) => (event.preventDefault(), key !== null && !isBusy && add())}>
      <h3>Let another program trade</h3>
      <label>Key <input id="session-key" autocomplete="off" spellcheck={false} value={text} onInput={(event) => setText(event.currentTarget.value.trim())} /></label>
      {text !== '' && key === null && <p class="fault">a public key has 64 hexadecimal digits, or 44 characters of Base64</p>}
      <label>for <select value={days} onChange={(event) => setDays(Number(event.currentTarget.value))}>{DAYS.map((one) => <option key={one} value={one}>{one === 1 ? '1 day' : `${one} days`}</option>)}</select></label>
      <button type="submit" class="button" disabled={key === null || isBusy}>Review</button>
    </form>
  );
}

/** What will be signed, and the question whether it shall be. */
type Asked = { title: string; name: Name; values: Values; payload: Payload };

export function KeysPane({ trader }: { trader: Trader }) {
  useModel(trader);
  const { keys, problem, again } = useKeys(trader);
  const [asked, setAsked] = useState<Asked | null>(null);
  const [said, setSaid] = useState<Said>(null);
  const [isBusy, setBusy] = useState(false);
  const { account, sessionPublic, apiKeyId, master } = trader.credentials!;
  const signer = master.kind === 'passkey' ? 'passkey' : 'secp256k1';
  const ask: Ask = (title, name, values) => {
    setSaid(null);
    setAsked({ title, name, values, payload: makePayload(name, signer, values) });
  };
  const sign = async ({ title, name, values, payload }: Asked) => {
    setBusy(true);
    try {
      const isOld = BigInt(Math.floor(serverNow())) - timeOf(payload) > BigInt(YOUNG_MS);
      await trader.byMaster((await trader.master())!, isOld ? makePayload(name, signer, values) : payload);
      setSaid({ good: true, text: `${title}: done.` });
    } catch (caught) {
      setSaid({ good: false, text: `${title}: ${wrong(caught)}` });
    }
    setAsked(null);
    setBusy(false);
    await again();
  };
  if (keys === null) return problem === null ? <Loading what="keys" /> : <Nothing>{problem} <button type="button" class="button" onClick={() => void again()}>try again</button></Nothing>;
  const onEnd = master.kind === 'file' || isBusy ? null : ask;
  return (
    <div class="pane-keys">
      {problem !== null && <p class="outcome tone-warn" role="status">These may have changed: {problem}</p>}
      {said !== null && <p class={`outcome tone-${said.good ? 'good' : 'bad'}`} role="alert">{said.text}</p>}
      {asked !== null && (
        <div class="withdraw" role="group" aria-label="What will be signed">
          <p class="sentence">{asked.title}.</p>
          <ByteTable payload={asked.payload} />
          <div class="actions">
            <button type="button" class="button" disabled={isBusy} onClick={() => void sign(asked)}>{isBusy ? 'asking your key …' : 'Sign by the master key'}</button>
            <button type="button" class="button" disabled={isBusy} onClick={() => setAsked(null)}>leave it</button>
          </div>
        </div>
      )}
      <Sessions rows={keys.sessions} own={hex(sessionPublic)} onEnd={onEnd} account={account} />
      <ApiKeys keys={keys} own={apiKeyId} onEnd={onEnd} account={account} />
      <MasterKeys rows={keys.master} />
      {master.kind === 'file' ? <p class="health-line dim">Keys of this account are made and ended by its key file: <code>perp session</code>, <code>perp apikey</code>.</p>
        : <Add account={account} isBusy={isBusy} onAdd={ask} />}
    </div>
  );
}
