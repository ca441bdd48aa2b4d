/* Who trades on this page: the keys of this browser, and what the account has, read while it is shown. */
import type { Bodies } from './wire.gen';
import { type Account, Ledger, type Rows } from './account';
import { API, Problem, ask } from './api';
import { Arming } from './arming';
import { type Bytes, base64, uuidBytes } from './bytes';
import { serverNow } from './clock';
import type { ExchangeRecord } from './exchange';
import { big, writeJson } from './json';
import { type Master, PasskeyMaster, Wallets } from './master';
import { Model } from './model';
import { createPasskey } from './passkey';
import { type Payload, type Values, makePayload } from './payload';
import type { Stream } from './stream';
import { Submission } from './submission';
import type { Frame, Subscription } from './subscription';
import { type Credentials, Vault } from './vault';

const SESSION_DAYS = 7n;
const DAY_NS = 86_400_000_000_000n;
const WHOLE_ACCOUNT = -1n;
const TRADING_ONLY = 1n;
const READ_WRITE = 1n;
const READ_MS = 2000;
export const PLACE = 'subaccount_index=0&portfolio_index=0';
const ROWS = 50;
const ORDERS = ['OPEN', 'PARTIALLY_FILLED', 'UNTRIGGERED'].map((status) => `/orders?${PLACE}&limit=1000&status=${status}`);
const FILLS = `/fills?${PLACE}&limit=${ROWS}`;
const FUNDING = `/funding-payments?${PLACE}&limit=${ROWS}`;
/** What marks and fills move, and no event has whole. */
const POSITIONS = `/positions?${PLACE}`;
const BALANCE = `/portfolio/balance?${PLACE}`;
const PRIVATE = { channel: 'private' };
const MOVING_MS = 300;
/** What the requests of a master key are answered when they are executed, or were the first time. */
const SUCCESSES = new Set(['request_completed', 'account_created_with_session', 'account_created_session_failed', 'session_created', 'session_revoked']);

/** A key of this browser, which cannot be exported. */
type Session = { key: CryptoKey; publicKey: Bytes };

export class Trader extends Model {
  credentials: Credentials | null = null;
  account: Account | null = null;
  problem: string | null = null;
  /** What of the exchange master keys sign for. */
  readonly exchangeId: string;
  readonly wallets = new Wallets(() => this.changed());
  arming = new Arming(this);
  readonly #vault: Vault;
  readonly #rpId: string | null;
  #timer = 0;
  #ledger = new Ledger();
  #subscription: Subscription | null = null;
  #loading: Promise<void> | null = null;
  #moving = 0;
  #heard = 0n;
  #isResting = false;
  readonly #underWay = new Set<Promise<void>>();

  constructor(
    record: ExchangeRecord,
    readonly stream: Stream,
  ) {
    super();
    this.exchangeId = record.exchange_id;
    this.#vault = new Vault(record.exchange_id);
    const party = record.passkey;
    this.#rpId = party !== undefined && party.origins.includes(location.origin) ? party.rp_id : null;
  }

  /** Why no account can be used here; null if it can. */
  get obstacle(): string | null {
    if (!window.isSecureContext || crypto.subtle === undefined)
      return 'Browsers keep keys for https and localhost alone: open the console there.';
    return null;
  }

  /** Why no passkey can be used here; null if one can. */
  get passkeyObstacle(): string | null {
    return this.#rpId === null ? 'This exchange takes no passkeys from this address (exchange.passkey_origins).' : null;
  }

  async start(): Promise<void> {
    if (this.obstacle !== null) return this.changed();
    try {
      const kept = await this.#vault.load();
      this.credentials ??= kept; // an account may have been made while the browser looked
    } catch (problem) {
      this.problem = `the keys of this browser cannot be read: ${(problem as Error).message}`;
    }
    if (this.credentials !== null) this.#follow();
    this.changed();
  }

  /** Asks the browser for a new passkey. */
  async newPasskey(): Promise<Master> {
    return new PasskeyMaster(this.#rpId!, await createPasskey(this.#rpId!, `trader ${new Date().toISOString().slice(0, 16)}`));
  }

  /** The passkey that the user will choose. */
  anyPasskey(): Master {
    return new PasskeyMaster(this.#rpId!, null);
  }

  /** A master key becomes a new account with a session of this browser. */
  async createAccount(master: Master): Promise<void> {
    const session = await this.#newSession();
    const name = master.signer === 'passkey' ? 'create_account_passkey' : 'create_account_secp256k1';
    const made = await this.byMaster(master, makePayload(name, master.signer, {
      session_pub: session.publicKey, session_expires_at: this.#expiry(), label: '', session_scope: TRADING_ONLY,
    }));
    if (made.answer.session_id === undefined) throw new Problem(made.status, 'the account has no session', 200);
    await this.#admit(master, big(made.answer.account_id), session, made.answer.expires_at);
  }

  /** The account of a master key gets a new session of this browser. */
  async signIn(master: Master): Promise<void> {
    const found = await this.byMaster(master, makePayload('find_account', master.signer, {}));
    const account = big(found.answer.account_id);
    const { session, expires } = await this.#letTrade(master, account);
    await this.#admit(master, account, session, expires);
  }

  /** A new key of this browser takes the place of the one that ends: one signature of the master key. The old one ends by itself. */
  async renew(): Promise<void> {
    const master = await this.master();
    if (master === null) throw new Error('This browser does not keep the key file.');
    const { session, expires } = await this.#letTrade(master, this.credentials!.account);
    this.credentials = { ...this.credentials!, sessionKey: session.key, sessionPublic: session.publicKey, sessionExpires: expires };
    await this.#vault.save(this.credentials);
    this.changed();
  }

  /** The master key lets a new key of this browser trade. */
  async #letTrade(master: Master, account: bigint): Promise<{ session: Session; expires: string }> {
    const session = await this.#newSession();
    const made = await this.byMaster(master, makePayload('create_session', master.signer, {
      account_id: account, session_pub: session.publicKey, expires_at: this.#expiry(), subaccount_pin: WHOLE_ACCOUNT, scope: TRADING_ONLY,
    }));
    return { session, expires: made.answer.expires_at };
  }

  /** The account's master key; null: its owner has it in a file. Throws where it cannot be used now. */
  async master(): Promise<Master | null> {
    const { master } = this.credentials!;
    if (master.kind === 'file') return null;
    if (master.kind === 'passkey') return new PasskeyMaster(this.#rpId!, { id: master.id, publicKey: null });
    const { WalletMaster } = await import('./secp_master');
    const offered: string[] = [];
    for (const { provider } of this.wallets.all) {
      const wallet = await WalletMaster.connect(provider, this.exchangeId);
      if (wallet.address === master.address) return wallet;
      offered.push(wallet.address);
    }
    throw new Problem('wallet', `the account belongs to ${master.address}; ${offered.length === 0 ? 'there is no wallet in this browser' : `the wallet offers ${offered.join(', ')}`}; nothing was sent`, 0);
  }

  /** Ends the session, revokes the API key by the master key, and deletes what this browser keeps. */
  async forget(): Promise<void> {
    const kept = await this.#vault.load().catch(() => null);
    if (kept?.account === this.credentials!.account) this.credentials = kept; // another tab may have renewed it
    const { account, sessionPublic, apiKeyId } = this.credentials!;
    const end = await this.sign('revoke_session', { account_id: account, session_pub: sessionPublic }, `${API}/logout`);
    await end.send();
    if (end.state !== 'acknowledged') throw end.problem ?? new Problem('unknown', 'the session may still live', 0);
    await this.#rest(); // a read by a revoked key would be refused
    await this.#revokeApiKey(account, apiKeyId).catch((problem) => (this.problem = `the API key ${apiKeyId} lives on: ${problem.message}`));
    await this.#vault.forget();
    this.#leave();
    this.changed();
  }

  async #revokeApiKey(account: bigint, apiKeyId: string): Promise<void> {
    const master = await this.master();
    if (master === null) throw new Error('revoke it by perp and your key file');
    await this.byMaster(master, makePayload('revoke_api_key', master.signer, { account_id: account, api_key_id: uuidBytes(apiKeyId) }));
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

  /** Chooses the leverage of a market, and gives what is then in force. */
  async setLeverage(market: string, leverage: number): Promise<number> {
    return Number((await this.#write('PUT', '/leverage', { market, leverage })).leverage);
  }

  /** Test money, once: a request whose answer is lost is not sent again. */
  async faucet(amount: string): Promise<void> {
    await this.#write('POST', '/faucet', { amount });
  }

  async #write(method: string, path: string, members: object): Promise<any> {
    const { body } = await ask(API + path, {
      method,
      headers: { 'Content-Type': 'application/json', 'X-API-KEY': this.credentials!.apiKey },
      body: writeJson({ subaccount_index: 0, portfolio_index: 0, ...members }),
    });
    await this.read();
    return body;
  }

  /** Reads what no event tells whole, and all of it while the stream does not tell. */
  async read(): Promise<void> {
    if (this.#loading !== null) return this.#loading;
    const isTold = this.#subscription?.state === 'live' && !this.#ledger.isWaiting;
    await (isTold ? this.#readMoving() : this.#readAll());
  }

  /** The rows as of the newest sequence of which the stream has told, or later. */
  async #rows(path: string): Promise<Rows> {
    const headers = { 'X-API-KEY': this.credentials!.apiKey, 'X-Min-Sequence': this.#heard.toString() };
    const { body, sequence } = await ask(API + path, { headers });
    return { rows: body, sequence };
  }

  /** Runs reads of the account; what they throw is told, and read again later. */
  async #reading(reads: () => Promise<void>): Promise<void> {
    if (this.credentials === null || this.#isResting) return;
    const underWay = reads();
    this.#underWay.add(underWay);
    try {
      await underWay;
      this.problem = null;
    } catch (problem) {
      this.problem = (problem as Error).message;
    }
    this.#underWay.delete(underWay);
    this.changed();
  }

  /** Reads nothing of the account any more; ends when what was on its way has come. */
  async #rest(): Promise<void> {
    this.#isResting = true;
    clearInterval(this.#timer);
    this.stream.unsubscribe(PRIVATE);
    this.stream.login(null);
    await Promise.allSettled(this.#underWay);
  }

  /** Reads everything. Events that come meanwhile are taken in after it. */
  #readAll(): Promise<void> {
    this.#ledger.begin();
    const loading = this.#reading(async () => {
      const [fills, funding, positions, balance, ...orders] = await Promise.all(
        [FILLS, FUNDING, POSITIONS, BALANCE, ...ORDERS].map((path) => this.#rows(path)));
      if (loading !== this.#loading) return; // a later one is on its way, or nobody is here any more
      this.#ledger.load(orders, fills, funding);
      this.#show(positions.rows, balance.rows);
    }).finally(() => loading === this.#loading && (this.#loading = null));
    this.#loading = loading;
    return loading;
  }

  #readMoving(): Promise<void> {
    return this.#reading(async () => {
      const [positions, balance] = await Promise.all([POSITIONS, BALANCE].map((path) => this.#rows(path)));
      if (this.credentials !== null) this.#show(positions.rows, balance.rows);
    });
  }

  #show(positions: any[], balance: any): void {
    const { orders, fills, funding } = this.#ledger;
    this.account = { orders, fills, funding, positions, balance };
  }

  /** An event of the account: lists take it in at once; what it moves is read soon, once for many events. */
  #event(data: any, frame: Frame): void {
    const sequence = big(frame.engine_seq);
    this.#heard = sequence;
    if (data.subaccount_index !== 0 || data.portfolio_index !== 0) return;
    this.#ledger.event(sequence, data);
    if (this.account === null) return;
    this.#show(this.account.positions, this.account.balance);
    this.changed();
    this.#moving ||= window.setTimeout(() => {
      this.#moving = 0;
      void this.#readMoving();
    }, MOVING_MS);
  }

  /** Follows the account by the stream; marks move what it is worth without an event. */
  #follow(): void {
    if (this.#subscription !== null) return;
    const { stream } = this;
    stream.onRefusedLogin = (problem) => {
      stream.unsubscribe(PRIVATE);
      this.problem = `the exchange does not take this browser's key: ${problem.code}`;
      this.changed();
    };
    stream.onWord = () => this.arming.look();
    stream.login(this.credentials!.apiKey);
    this.#subscription = stream.subscribe(PRIVATE, {
      snapshot: (_data, frame) => {
        this.#heard = big(frame.engine_seq);
        void this.#readAll();
      },
      update: (data, frame) => this.#event(data, frame),
    });
    this.#timer = window.setInterval(() => document.hidden || void this.read(), READ_MS);
  }

  #leave(): void {
    this.#isResting = false;
    this.#subscription = null;
    this.#loading = null;
    this.#heard = 0n;
    this.credentials = null;
    this.account = null;
    this.arming = new Arming(this);
  }

  async #newSession(): Promise<Session> {
    const pair = (await crypto.subtle.generateKey('Ed25519', false, ['sign', 'verify'])) as CryptoKeyPair;
    return { key: pair.privateKey, publicKey: new Uint8Array(await crypto.subtle.exportKey('raw', pair.publicKey)) };
  }

  #expiry(): bigint {
    return BigInt(Math.floor(serverNow())) * 1_000_000n + SESSION_DAYS * DAY_NS;
  }

  /** Signs a payload by the master key and sends it; throws for every outcome but success. */
  async byMaster(master: Master, payload: Payload): Promise<Submission> {
    return this.#outcome(new Submission(payload, await master.sign(payload)));
  }

  async #outcome(submission: Submission): Promise<Submission> {
    await submission.send();
    const { problem, status } = submission;
    if (submission.state === 'acknowledged' && SUCCESSES.has(status)) return submission;
    throw problem ?? new Problem(status, submission.answer?.reason ?? '', 200);
  }

  /** With the API key, by which the account is read, the browser has all that it needs. */
  async #admit(master: Master, account: bigint, session: Session, expires: string): Promise<void> {
    let answer: any;
    for (let turn = 0; answer?.api_key === undefined; turn++) { // of a repetition it has no key
      if (turn === 2) throw new Problem('no_answer', 'the API key is lost: sign in', 0);
      ({ answer } = await this.byMaster(master, makePayload('create_api_key', master.signer, {
        account_id: account, subaccount_pin: WHOLE_ACCOUNT, scope: READ_WRITE,
        label: `console ${new Date().toISOString().slice(0, 10)}`,
      })));
    }
    this.credentials = {
      account, sessionKey: session.key, sessionPublic: session.publicKey, sessionExpires: expires,
      master: master.id, apiKeyId: answer.api_key_id, apiKey: answer.api_key,
    };
    await this.#vault.save(this.credentials);
    this.#follow();
    this.changed();
  }
}

