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

const HEAD_BYTES = 8;
const ID_END = 24;

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** For a signature that the exchange refuses: whether it is good here, and the bytes that were signed.
 * So a wrong key is told apart from a wrong payload. */
export async function explained(payload: Uint8Array, envelope: string): Promise<string> {
  const parts = JSON.parse(envelope) as { readonly public_key: string; readonly signature: string };
  const publicKey = fromBase64(parts.public_key);
  const key = await crypto.subtle.importKey("raw", new Uint8Array(publicKey), "Ed25519", false,
    ["verify"]);
  const isGood = await crypto.subtle.verify("Ed25519", key,
    new Uint8Array(fromBase64(parts.signature)), new Uint8Array(payload));
  const rows: [name: string, bytes: Uint8Array][] = [["header", payload.subarray(0, HEAD_BYTES)],
    ["request_id", payload.subarray(HEAD_BYTES, ID_END)], ["body", payload.subarray(ID_END)],
    ["public_key", publicKey]];
  return [isGood ? "the signature is good for these bytes under this key"
    : "the signature is not of these bytes under this key: the signer is at fault",
    ...rows.map(([name, bytes]) => `${name.padEnd(11)} ${hex(bytes)}`)].join("\n");
}
