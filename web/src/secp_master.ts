/* Master keys on the curve secp256k1: wallets, which sign typed data, and keys of files. Loaded when one is used. */
import './common';
import './signed';
import * as secp from '@noble/secp256k1';
import { Problem, ask } from './api';
import { type Bytes, base64, hex, joinBytes } from './bytes';
import { writeJson } from './json';
import { keccak256 } from './keccak';
import type { Master, MasterId, Provider } from './master';
import type { Payload } from './payload';
import { type Member, type TypedData, typedData } from './typed_data';

const WORD = 32;
const SIGNATURE_BYTES = 64;
const REFUSED = 4001;

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

export function fromHex(text: string): Bytes {
  return new Uint8Array((text.replace(/^0x/, '').match(/../g) ?? []).map((pair) => parseInt(pair, 16)));
}

function word(bytes: Uint8Array): Bytes {
  return joinBytes(new Uint8Array(WORD - bytes.length), bytes);
}

function encoded(type: string, value: string | boolean): Uint8Array {
  if (type === 'string') return keccak256(utf8(value as string));
  if (type === 'bytes') return keccak256(fromHex(value as string));
  if (type === 'bool') return word(new Uint8Array([value ? 1 : 0]));
  if (type.startsWith('uint')) return word(fromHex(BigInt(value as string).toString(16).padStart(2 * WORD, '0')));
  return word(fromHex(value as string)); // address, bytes32
}

function hashStruct(name: string, members: Member[], values: Record<string, string | boolean>): Uint8Array {
  const type = `${name}(${members.map((one) => `${one.type} ${one.name}`).join(',')})`;
  return keccak256(joinBytes(keccak256(utf8(type)), ...members.map((one) => encoded(one.type, values[one.name]))));
}

/** The digest that a signature of typed data signs. */
export function typedDigest({ types, primaryType, domain, message }: TypedData): Uint8Array {
  return keccak256(joinBytes([0x19, 0x01], hashStruct('EIP712Domain', types.EIP712Domain, domain), hashStruct(primaryType, types[primaryType], message)));
}

export function addressOf(publicKey: Uint8Array): string {
  const point = secp.Point.fromBytes(publicKey).toBytes(false);
  return `0x${hex(keccak256(point.slice(1)).slice(-20))}`;
}

/** Whether an address is one, and its capital letters, if it has some, are those of its checksum (EIP-55). */
export function isAddress(text: string): boolean {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return false;
  const lower = text.slice(2).toLowerCase();
  if (text.slice(2) === lower || text.slice(2) === lower.toUpperCase()) return true;
  const sum = hex(keccak256(utf8(lower)));
  return [...lower].every((digit, at) => text[2 + at] === (parseInt(sum[at], 16) >= 8 ? digit.toUpperCase() : digit));
}

/** Compares what the page made with what the exchange makes of the same bytes; a difference is a fault of one of
 *  them, and nothing may be signed. */
async function compare(typed: TypedData, payload: Payload): Promise<void> {
  const answer = await ask('/api/v1/eip712/preview', {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ payload: base64(payload.bytes) }),
  }).catch((problem: Problem) => {
    if (problem.status === 0 || problem.status >= 429) return null; // it has no time for it
    throw problem;
  });
  if (answer === null) return;
  const { typed_data: shown, digest } = answer.body;
  if (writeJson(sorted(shown)) !== writeJson(sorted(typed)) || digest !== hex(typedDigest(typed)))
    throw new Problem('preview_differs', 'the exchange reads these bytes otherwise than this page does', 0);
}

/** The same with the members of objects in the order of their names, and integers as their text. */
function sorted(value: any): any {
  if (typeof value === 'number' || typeof value === 'bigint') return value.toString();
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(sorted);
  return Object.fromEntries(Object.keys(value).sort().map((name) => [name, sorted(value[name])]));
}

function envelope(payload: Payload, signature: Uint8Array, publicKey: Uint8Array): object {
  return { payload: base64(payload.bytes), signature: base64(signature), public_key: base64(publicKey) };
}

export class WalletMaster implements Master {
  readonly signer = 'secp256k1';

  private constructor(
    readonly provider: Provider,
    readonly address: string,
    readonly exchangeId: string,
  ) {}

  get id(): MasterId {
    return { kind: 'wallet', address: this.address };
  }

  /** The account that the wallet offers. */
  static async connect(provider: Provider, exchangeId: string): Promise<WalletMaster> {
    const [address] = await provider.request({ method: 'eth_requestAccounts' }).catch(refused);
    return new WalletMaster(provider, String(address).toLowerCase(), exchangeId);
  }

  /** What comes from the wallet is the key of its address, or nothing is sent. */
  async sign(payload: Payload): Promise<object> {
    const typed = typedData(payload, this.exchangeId);
    await compare(typed, payload);
    const text: string = await this.provider.request({ method: 'eth_signTypedData_v4', params: [this.address, JSON.stringify(typed)] }).catch(refused);
    const bytes = fromHex(text);
    if (bytes.length !== SIGNATURE_BYTES + 1) throw new Problem('wallet', `the wallet gave ${bytes.length} bytes, not 65`, 0);
    const [v] = bytes.slice(SIGNATURE_BYTES);
    const publicKey = secp.recoverPublicKey(joinBytes([v >= 27 ? v - 27 : v], bytes.slice(0, SIGNATURE_BYTES)), typedDigest(typed), { prehash: false });
    const signed = addressOf(publicKey);
    if (signed !== this.address) throw new Problem('wallet', `the wallet signed by ${signed}, not by ${this.address}; nothing was sent`, 0);
    return envelope(payload, lowS(bytes.slice(0, SIGNATURE_BYTES)), publicKey);
  }
}

/** The exchange takes the lower of the two values of s alone. */
function lowS(signature: Bytes): Bytes {
  const { n } = secp.Point.CURVE();
  const s = BigInt(`0x${hex(signature.slice(WORD))}`);
  if (s <= n / 2n) return signature;
  return joinBytes(signature.slice(0, WORD), fromHex((n - s).toString(16).padStart(2 * WORD, '0')));
}

function refused(caught: { code?: number; message?: string }): never {
  if (caught.code === REFUSED) throw new Problem('wallet', 'it was refused there; nothing was sent', 0);
  throw new Problem('wallet', caught.message ?? 'the wallet has a fault', 0);
}

/** A key that this page makes, which its owner has in a file. It is kept nowhere else. */
export class FileMaster implements Master {
  readonly signer = 'secp256k1';
  readonly id: MasterId = { kind: 'file' };
  readonly #secret = secp.utils.randomSecretKey();

  constructor(readonly exchangeId: string) {}

  /** As `perp` reads it. */
  get file(): string {
    const key = secp.getPublicKey(this.#secret);
    return `curve = secp256k1\nsecret = ${base64(this.#secret)}\npublic = ${base64(key)}\nexchange = ${this.exchangeId}\n`;
  }

  async sign(payload: Payload): Promise<object> {
    const typed = typedData(payload, this.exchangeId);
    await compare(typed, payload);
    const signature = await secp.signAsync(typedDigest(typed), this.#secret, { prehash: false });
    return envelope(payload, signature, secp.getPublicKey(this.#secret));
  }
}
