// Session keys and the signed envelope of a request (W3, W4). Ed25519 is WebCrypto's.

import { hexOf, numberOf } from "./hex.js";

const PKCS8 = [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];
const SEED_BYTES = 32;

export function base64(data: Uint8Array): string {
  return btoa(Array.from(data, (byte) => String.fromCharCode(byte)).join(""));
}

export function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
}

/** What signs requests: a SessionKey, a MasterKey, or a device of one's own. `exchangeId` (hex), where it
 * is there, is the only one it signs for: what a session key signs names no exchange. `signatureType` is that
 * of the header: 0, Ed25519, where it is not there. */
export interface Signer {
  readonly signatureType?: number;
  readonly publicKey: Uint8Array;
  readonly exchangeId?: string | undefined;
  sign(message: Uint8Array): Promise<Uint8Array>;
}

/** The secret bytes and the exchange of a key file's text; RangeError for no Base64. */
export function partsOfKey(text: string)
  : { readonly secret: Uint8Array; readonly exchange?: string } {
  const parts = new Map([...text.matchAll(/^(\w+) = (.*)$/gm)]
    .map((match) => [match[1] ?? "", (match[2] ?? "").trim()]));
  const exchange = parts.get("exchange");
  try {
    const secret = fromBase64(parts.get("secret") ?? text.trim());
    return exchange === undefined ? { secret } : { secret, exchange };
  } catch {
    throw new RangeError("the key is no Base64 of its secret");
  }
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
    const { secret, exchange } = partsOfKey(text);
    return SessionKey.ofSeed(secret, exchange);
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

const PRIME = 2n ** 255n - 19n;
const Y8 = 0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd83d3d706a17c7n;
/** y of the points whose order divides 8, without the sign of x. */
const SMALL: ReadonlySet<bigint> = new Set([0n, 1n, PRIME - 1n, Y8, PRIME - Y8]);

const yOf = (bytes: Uint8Array): bigint =>
  numberOf(Uint8Array.from(bytes.subarray(0, SEED_BYTES)).reverse()) & (1n << 255n) - 1n;

/** Whether an Ed25519 signature is good by the five rules of signatures.md. */
export async function verify(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array)
  : Promise<boolean> {
  const [a, r] = [yOf(publicKey), yOf(signature)];
  if (publicKey.length !== SEED_BYTES || a >= PRIME || SMALL.has(a) || SMALL.has(r % PRIME)) {
    return false;
  }
  try {
    const key = await crypto.subtle.importKey("raw", new Uint8Array(publicKey), "Ed25519", false,
      ["verify"]);
    return await crypto.subtle.verify("Ed25519", key, new Uint8Array(signature),
      new Uint8Array(message));
  } catch {
    return false; // no point of the curve
  }
}

/** For a signature that the exchange refuses: whether it is good here, and the bytes that were signed.
 * So a wrong key is told apart from a wrong payload. */
export async function explained(payload: Uint8Array, envelope: string): Promise<string> {
  const parts = JSON.parse(envelope) as { readonly public_key: string; readonly signature: string };
  const publicKey = fromBase64(parts.public_key);
  const isGood = await verify(publicKey, payload, fromBase64(parts.signature));
  const rows: [name: string, bytes: Uint8Array][] = [["header", payload.subarray(0, HEAD_BYTES)],
    ["request_id", payload.subarray(HEAD_BYTES, ID_END)], ["body", payload.subarray(ID_END)],
    ["public_key", publicKey]];
  return [isGood ? "the signature is good for these bytes under this key"
    : "the signature is not of these bytes under this key: the signer is at fault",
    ...rows.map(([name, bytes]) => `${name.padEnd(11)} ${hexOf(bytes)}`)].join("\n");
}
