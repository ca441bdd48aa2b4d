// Master keys on secp256k1: they open accounts and let session keys and API keys in. BigInt is not constant
// time: a secret that an attacker of this machine may time belongs into a wallet.

import { secp256k1 } from "@noble/curves/secp256k1.js";

import { bytesOfHex } from "./hex.js";
import { partsOfKey } from "./sign.js";
import type { Signer } from "./sign.js";
import { digestOf, typedDataOf } from "./typed_data.js";

/** A key that owns an account. It signs EIP-712 typed data, which names the exchange. Its secret is shown
 * nowhere. */
export class MasterKey implements Signer {
  readonly #secret: Uint8Array;
  readonly signatureType = 1;
  readonly publicKey: Uint8Array;

  /** RangeError for bytes that are no key of secp256k1, or no id of an exchange (hexadecimal). */
  constructor(secret: Uint8Array, readonly exchangeId: string) {
    if (bytesOfHex(exchangeId).length !== 32) throw new RangeError("an exchange's id has 32 bytes");
    if (!secp256k1.utils.isValidSecretKey(secret)) {
      throw new RangeError("the secret is no key of secp256k1");
    }
    this.#secret = new Uint8Array(secret);
    this.publicKey = secp256k1.getPublicKey(secret, true);
  }

  static generate(exchangeId: string): MasterKey {
    return new MasterKey(crypto.getRandomValues(new Uint8Array(32)), exchangeId);
  }

  /** Of the text of a file that `perp keys new secp256k1` writes, or of the secret in Base64. A line
   * `exchange = ` binds the key; without it `exchangeId` is needed. */
  static ofText(text: string, exchangeId?: string): MasterKey {
    const { secret, exchange = exchangeId } = partsOfKey(text);
    if (exchange === undefined || (exchangeId ?? exchange) !== exchange) {
      throw new RangeError("a master key signs for one exchange, and this is none or another");
    }
    return new MasterKey(secret, exchange);
  }

  /** The 64-byte signature of a payload, by RFC 6979 and with the lower s; RangeError for one that no
   * master key signs. */
  async sign(payload: Uint8Array): Promise<Uint8Array> {
    return secp256k1.sign(digestOf(typedDataOf(payload, this.exchangeId)), this.#secret,
      { prehash: false, lowS: true });
  }
}
