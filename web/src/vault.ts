/* What this browser keeps of an account: a session key that cannot be exported, and the API key under
 * another such key. One database an exchange, so that another one behind the address sees none of it. */
import type { Bytes } from './bytes';
import type { MasterId } from './master';

export type Credentials = {
  account: bigint;
  sessionKey: CryptoKey;
  sessionPublic: Bytes;
  sessionExpires: string;
  master: MasterId;
  apiKeyId: string;
  apiKey: string;
};

type Stored = Omit<Credentials, 'apiKey'> & { wrapKey: CryptoKey; nonce: Bytes; sealed: ArrayBuffer };

const STORE = 'credentials';
const ROW = 'own';

function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

export class Vault {
  readonly #name: string;

  constructor(exchangeId: string) {
    this.#name = `perpd-${exchangeId}`;
  }

  async #with<T>(mode: IDBTransactionMode, use: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
    const opening = indexedDB.open(this.#name, 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
    const database = await done(opening);
    try {
      return await done(use(database.transaction(STORE, mode).objectStore(STORE)));
    } finally {
      database.close();
    }
  }

  async save({ apiKey, ...open }: Credentials): Promise<void> {
    const wrapKey = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt']);
    const nonce = crypto.getRandomValues(new Uint8Array(12));
    const sealed = await crypto.subtle.encrypt({ name: 'AES-GCM', iv: nonce }, wrapKey, new TextEncoder().encode(apiKey));
    const stored: Stored = { ...open, wrapKey, nonce, sealed };
    await this.#with('readwrite', (store) => store.put(stored, ROW));
  }

  async load(): Promise<Credentials | null> {
    const stored = (await this.#with('readonly', (store) => store.get(ROW))) as Stored | undefined;
    if (stored?.master === undefined) return null;
    const { wrapKey, nonce, sealed, ...open } = stored;
    const plain = await crypto.subtle.decrypt({ name: 'AES-GCM', iv: nonce }, wrapKey, sealed);
    return { ...open, apiKey: new TextDecoder().decode(plain) };
  }

  forget(): Promise<unknown> {
    return done(indexedDB.deleteDatabase(this.#name));
  }
}
