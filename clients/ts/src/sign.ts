// Session keys and the signed envelope of a request (W3, W4). Ed25519 is WebCrypto's.

const PKCS8 = [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];
const SEED_BYTES = 32;

export function base64(data: Uint8Array): string {
  return btoa(Array.from(data, (byte) => String.fromCharCode(byte)).join(""));
}

export function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
}

/** What signs requests: a SessionKey, or a device of one's own. What it signs names no exchange;
 * `exchangeId` (hex), where it is there, is the only one it signs for. */
export interface Signer {
  readonly publicKey: Uint8Array;
  readonly exchangeId?: string | undefined;
  sign(message: Uint8Array): Promise<Uint8Array>;
}

/** An Ed25519 key of WebCrypto. Its secret cannot be read again. */
export class SessionKey implements Signer {
  readonly #key: CryptoKey;

  private constructor(key: CryptoKey, readonly publicKey: Uint8Array,
    readonly exchangeId?: string | undefined) {
    this.#key = key;
  }

  /** A pair that WebCrypto made, as a browser keeps it. */
  static async ofPair(pair: CryptoKeyPair): Promise<SessionKey> {
    const raw = await crypto.subtle.exportKey("raw", pair.publicKey);
    return new SessionKey(pair.privateKey, new Uint8Array(raw));
  }

  /** Of the 32-byte seed and its public key. */
  static async ofSeed(seed: Uint8Array, exchangeId?: string): Promise<SessionKey> {
    if (seed.length !== SEED_BYTES) throw new RangeError(`a seed has ${SEED_BYTES} bytes`);
    const pkcs8 = new Uint8Array([...PKCS8, ...seed]);
    const known = await crypto.subtle.importKey("pkcs8", pkcs8, "Ed25519", true, ["sign"]);
    const { x } = await crypto.subtle.exportKey("jwk", known);
    const key = await crypto.subtle.importKey("pkcs8", pkcs8, "Ed25519", false, ["sign"]);
    const publicKey = fromBase64((x ?? "").replaceAll("-", "+").replaceAll("_", "/"));
    return new SessionKey(key, publicKey, exchangeId);
  }

  /** Of the text of a file that `perp keys new ed25519` writes, or of the seed in Base64. */
  static async ofText(text: string): Promise<SessionKey> {
    const parts = new Map([...text.matchAll(/^(\w+) = (.*)$/gm)]
      .map((match) => [match[1] ?? "", (match[2] ?? "").trim()]));
    let seed: Uint8Array;
    try {
      seed = fromBase64(parts.get("secret") ?? text.trim());
    } catch {
      throw new RangeError("the session key is no Base64 of a seed");
    }
    return SessionKey.ofSeed(seed, parts.get("exchange"));
  }

  async sign(message: Uint8Array): Promise<Uint8Array> {
    const data = new Uint8Array(message);
    return new Uint8Array(await crypto.subtle.sign("Ed25519", this.#key, data));
  }
}

/** The JSON that is sent: payload, public key and signature in Base64. */
export async function envelopeOf(payload: Uint8Array, signer: Signer): Promise<string> {
  return JSON.stringify({ payload: base64(payload), public_key: base64(signer.publicKey),
    signature: base64(await signer.sign(payload)) });
}
