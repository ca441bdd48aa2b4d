/* Who trades on this page: the keys of this browser, and what the account has, read while it is shown. */
import type { Bodies } from './wire.gen';
import { API, Problem, ask, get } from './api';
import { type Bytes, base64, uuidBytes } from './bytes';
import { serverNow } from './clock';
import type { ExchangeRecord } from './exchange';
import { big, writeJson } from './json';
import { Model } from './model';
import { type Passkey, createPasskey, signByPasskey } from './passkey';
import { type Payload, type Values, makePayload } from './payload';
import { Submission } from './submission';
import { type Credentials, Vault } from './vault';

const SESSION_DAYS = 7n;
const DAY_NS = 86_400_000_000_000n;
const WHOLE_ACCOUNT = -1n;
const TRADING_ONLY = 1n;
const READ_WRITE = 1n;
const READ_MS = 2000;
const PLACE = 'subaccount_index=0&portfolio_index=0';
const LISTS = {
  open: `/orders?${PLACE}&status=OPEN`,
  partial: `/orders?${PLACE}&status=PARTIALLY_FILLED`,
  positions: `/positions?${PLACE}`,
  fills: `/fills?${PLACE}&limit=50`,
  balance: `/portfolio/balance?${PLACE}`,
};

export type Account = { orders: any[]; positions: any[]; fills: any[]; balance: any };

export class Trader extends Model {
  credentials: Credentials | null = null;
  account: Account | null = null;
  problem: string | null = null;
  readonly #vault: Vault;
  readonly #rpId: string | null;
  #timer = 0;

  constructor(record: ExchangeRecord) {
    super();
    this.#vault = new Vault(record.exchange_id);
    const party = record.passkey;
    this.#rpId = party !== undefined && party.origins.includes(location.origin) ? party.rp_id : null;
  }

  /** Why no account can be used here; null if it can. */
  get obstacle(): string | null {
    if (!window.isSecureContext || crypto.subtle === undefined)
      return 'Browsers keep keys for https and localhost alone: open the console there.';
    if (this.#rpId === null) return 'This exchange takes no passkeys from this address (exchange.passkey_origins).';
    return null;
  }

  async start(): Promise<void> {
    if (this.obstacle !== null) return this.changed();
    try {
      this.credentials = await this.#vault.load();
    } catch (problem) {
      this.problem = `the keys of this browser cannot be read: ${(problem as Error).message}`;
    }
    if (this.credentials !== null) this.#follow();
    this.changed();
  }

  /** A new passkey becomes a new account with a session of this browser. */
  async createAccount(): Promise<void> {
    const passkey = await createPasskey(this.#rpId!, `trader ${new Date().toISOString().slice(0, 16)}`);
    const session = await this.#newSession();
    const made = await this.#byPasskey(passkey, 'create_account_passkey', {
      session_pub: session.publicKey, session_expires_at: this.#expiry(), label: '', session_scope: TRADING_ONLY,
    });
    if (made.answer.session_id === undefined) throw new Problem(made.status, 'the account has no session', 200);
    await this.#admit(passkey, big(made.answer.account_id), session, made.answer.expires_at);
  }

  /** The account of a passkey that the user chooses gets a new session of this browser. */
  async signIn(): Promise<void> {
    const payload = makePayload('find_account', 'passkey', {});
    const { envelope, id } = await signByPasskey(this.#rpId!, null, payload);
    const found = await this.#outcome(new Submission(payload, envelope));
    const passkey: Passkey = { id, publicKey: null };
    const account = big(found.answer.account_id);
    const session = await this.#newSession();
    const made = await this.#byPasskey(passkey, 'create_session', {
      account_id: account, session_pub: session.publicKey, expires_at: this.#expiry(),
      subaccount_pin: WHOLE_ACCOUNT, scope: TRADING_ONLY,
    });
    await this.#admit(passkey, account, session, made.answer.expires_at);
  }

  /** Ends the session, revokes the API key by the passkey, and deletes what this browser keeps. */
  async forget(): Promise<void> {
    const { account, sessionPublic, passkeyId, apiKeyId } = this.credentials!;
    const end = await this.sign('revoke_session', { account_id: account, session_pub: sessionPublic }, `${API}/logout`);
    await end.send();
    if (end.state !== 'acknowledged') throw end.problem ?? new Problem('unknown', 'the session may still live', 0);
    await this.#byPasskey({ id: passkeyId, publicKey: null }, 'revoke_api_key', {
      account_id: account, api_key_id: uuidBytes(apiKeyId),
    }).catch((problem) => (this.problem = `the API key lives on: ${problem.message}`));
    await this.#vault.forget();
    clearInterval(this.#timer);
    this.credentials = null;
    this.account = null;
    this.changed();
  }

  /** Signs a request by the session. */
  async sign(name: keyof Bodies, values: Values, path?: string): Promise<Submission> {
    const payload = makePayload(name, 'session', values);
    return this.signPayload(payload, path);
  }

  async signPayload(payload: Payload, path?: string): Promise<Submission> {
    const { sessionKey, sessionPublic } = this.credentials!;
    const signature = await crypto.subtle.sign('Ed25519', sessionKey, payload.bytes);
    const envelope = { payload: base64(payload.bytes), public_key: base64(sessionPublic), signature: base64(signature) };
    return new Submission(payload, envelope, path);
  }

  /** Test money, once: a request whose answer is lost is not sent again. */
  async faucet(amount: string): Promise<void> {
    await ask(`${API}/faucet`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-API-KEY': this.credentials!.apiKey },
      body: writeJson({ subaccount_index: 0, portfolio_index: 0, amount }),
    });
    await this.read();
  }

  async read(): Promise<void> {
    const key = this.credentials?.apiKey;
    if (key === undefined) return;
    try {
      const [open, partial, positions, fills, balance] = await Promise.all(
        Object.values(LISTS).map((path) => get(path, key)));
      const orders = [...open, ...partial].sort((a, b) => (big(a.sequence) < big(b.sequence) ? 1 : -1));
      this.account = { orders, positions, fills, balance };
      this.problem = null;
    } catch (problem) {
      this.problem = (problem as Error).message;
    }
    this.changed();
  }

  #follow(): void {
    void this.read();
    this.#timer = window.setInterval(() => document.hidden || void this.read(), READ_MS);
  }

  async #newSession(): Promise<{ key: CryptoKey; publicKey: Bytes }> {
    const pair = (await crypto.subtle.generateKey('Ed25519', false, ['sign', 'verify'])) as CryptoKeyPair;
    return { key: pair.privateKey, publicKey: new Uint8Array(await crypto.subtle.exportKey('raw', pair.publicKey)) };
  }

  #expiry(): bigint {
    return BigInt(Math.floor(serverNow())) * 1_000_000n + SESSION_DAYS * DAY_NS;
  }

  async #byPasskey(passkey: Passkey, name: keyof Bodies, values: Values): Promise<Submission> {
    const payload = makePayload(name, 'passkey', values);
    const { envelope } = await signByPasskey(this.#rpId!, passkey, payload);
    return this.#outcome(new Submission(payload, envelope));
  }

  async #outcome(submission: Submission): Promise<Submission> {
    await submission.send();
    const { answer, problem, status } = submission;
    if (submission.state === 'acknowledged' && (answer.success === true || answer.original_status !== undefined)) return submission;
    throw problem ?? new Problem(status, answer?.reason ?? '', 200);
  }

  /** With the API key, by which the account is read, the browser has all that it needs. */
  async #admit(passkey: Passkey, account: bigint, session: { key: CryptoKey; publicKey: Bytes }, expires: string): Promise<void> {
    const made = await this.#byPasskey({ id: passkey.id, publicKey: null }, 'create_api_key', {
      account_id: account, subaccount_pin: WHOLE_ACCOUNT, scope: READ_WRITE,
      label: `console ${new Date().toISOString().slice(0, 10)}`,
    });
    this.credentials = {
      account, sessionKey: session.key, sessionPublic: session.publicKey, sessionExpires: expires,
      passkeyId: passkey.id, apiKeyId: made.answer.api_key_id, apiKey: made.answer.api_key,
    };
    await this.#vault.save(this.credentials);
    this.#follow();
    this.changed();
  }
}

