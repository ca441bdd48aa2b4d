/* Master keys: what owns an account and signs for it. */
import type { Bytes } from './bytes';
import { type Passkey, signByPasskey } from './passkey';
import type { Payload, Signer } from './payload';

/** Which key it is; the key itself is in the authenticator, the wallet, or a file. */
export type MasterId = { kind: 'passkey'; id: Bytes } | { kind: 'wallet'; address: string } | { kind: 'file' };

export interface Master {
  readonly signer: Signer;
  readonly id: MasterId;
  /** The envelope of a payload, once its owner has agreed. */
  sign(payload: Payload): Promise<object>;
}

/** A passkey; null: the one that the user chooses, which it is from then on. */
export class PasskeyMaster implements Master {
  readonly signer = 'passkey';

  constructor(
    readonly rpId: string,
    public passkey: Passkey | null,
  ) {}

  get id(): MasterId {
    return { kind: 'passkey', id: this.passkey!.id };
  }

  async sign(payload: Payload): Promise<object> {
    const { envelope, id } = await signByPasskey(this.rpId, this.passkey, payload);
    this.passkey ??= { id, publicKey: null };
    return envelope;
  }
}

/** EIP-1193. */
export type Provider = { request(call: { method: string; params?: unknown[] }): Promise<any> };

export type Wallet = { name: string; provider: Provider };

/** The wallets that have told of themselves by EIP-6963; without one, window.ethereum. */
export class Wallets {
  #found = new Map<string, Wallet>();

  /** Calls `changed` when another has told of itself. */
  constructor(changed: () => void) {
    addEventListener('eip6963:announceProvider', (event) => {
      const { info, provider } = (event as CustomEvent).detail;
      this.#found.set(String(info.uuid), { name: String(info.name), provider });
      changed();
    });
    dispatchEvent(new Event('eip6963:requestProvider'));
  }

  get all(): Wallet[] {
    const old = (window as { ethereum?: Provider }).ethereum;
    return this.#found.size > 0 || old === undefined ? [...this.#found.values()] : [{ name: 'the browser’s wallet', provider: old }];
  }
}
