/* The bytes of signed requests, packed from the tables of perpd, and what each byte of them means. */
import { type Bodies, type Field, HEADER_VERSION, REQUESTS, type RequestType } from './wire.gen';
import { type Bytes, hex, integerBytes, joinBytes, newUuid, uuidText } from './bytes';
import { serverNow } from './clock';
import { apiText } from './decimal';

export type Signer = 'session' | 'secp256k1' | 'passkey';

const SIGNATURE_TYPES: Record<Signer, number> = { session: 0, secp256k1: 1, passkey: 2 };
const HEADER_BYTES = 8;
const ID_BYTES = 16;
/** Where the body begins, behind the header and the id. */
export const BODY_AT = HEADER_BYTES + ID_BYTES;

/** A value of a field: an integer, its bytes, or the text of a text field. */
export type Value = bigint | boolean | Uint8Array | string;
export type Values = Record<string, Value>;

export type Payload = { request: RequestType; id: string; bytes: Bytes };

function fieldBytes(field: Field, value: Value | undefined): Uint8Array {
  const size = field.size!;
  if (field.kind === 'pad') return new Uint8Array(size);
  if (value === undefined) throw new Error(`${field.name} is missing`);
  if (typeof value === 'string') return new TextEncoder().encode(value);
  return value instanceof Uint8Array ? value : integerBytes(BigInt(value), size);
}

/** Packs a request with a new id. Throws for a field that is missing or does not fit. */
export function makePayload(name: keyof Bodies, signer: Signer, values: Values): Payload {
  const request = REQUESTS[name];
  const body = new Uint8Array(request.body_bytes!);
  for (const field of request.fields) {
    const bytes = fieldBytes(field, values[field.name]);
    if (bytes.length > field.size!) throw new Error(`${field.name} has more than ${field.size} bytes`);
    body.set(bytes, field.offset);
  }
  const id = newUuid(serverNow());
  const header = [HEADER_VERSION, SIGNATURE_TYPES[signer], ...integerBytes(BigInt(request.code), 2), 0, 0, 0, 0];
  return { request, id: uuidText(id), bytes: joinBytes(header, id, body) };
}

export function portfolioBytes(account: bigint, subaccount = 0n, portfolio = 0n): Bytes {
  return joinBytes(integerBytes(account, 8), integerBytes(subaccount, 4), integerBytes(portfolio, 4));
}

export type ByteRow = { offset: number; size: number; hex: string; name: string; value: string };

export function unsigned(bytes: Uint8Array): bigint {
  return bytes.reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
}

function valueText(field: Field, bytes: Uint8Array): string {
  const value = unsigned(bytes);
  switch (field.kind) {
    case 'pad': return '';
    case 'uuid': return uuidText(bytes);
    case 'bool': return value === 1n ? 'true' : 'false';
    case 'enum': return field.names?.[Number(value)] ?? value.toString();
    case 'quantity': return BigInt.asIntN(64, value).toString();
    case 'asset': return value === 0xffffn ? 'all markets' : value.toString();
    case 'pin': return value === 0xffffffffn ? 'whole account' : value.toString();
    case 'expiry': return value === 0xffffffffffffffffn ? 'GTC' : value === 0n ? 'IOC' : value === 1n ? 'FOK' : value.toString();
    case 'portfolio': return `account ${unsigned(bytes.slice(0, 8))}, subaccount ${unsigned(bytes.slice(8, 12))}, portfolio ${unsigned(bytes.slice(12))}`;
    case 'amount': return `${apiText(value, 6)} USDC`;
    case 'time': return value === 0n ? 'default' : new Date(Number(value / 1_000_000n)).toISOString();
    case 'address': return `0x${hex(bytes)}`;
    case 'key': return hex(bytes);
    case 'text': return new TextDecoder().decode(bytes).replace(/\0+$/, '');
    default: return value.toString();
  }
}

/** The fields of a body with their bytes. */
export function fieldsOf({ request, bytes }: Payload): { field: Field; bytes: Uint8Array }[] {
  return request.fields.map((field) => {
    const at = BODY_AT + field.offset;
    return { field, bytes: bytes.slice(at, at + field.size!) };
  });
}

/** The unix milliseconds of a payload's id. */
export function timeOf({ bytes }: Payload): bigint {
  return unsigned(bytes.slice(HEADER_BYTES, HEADER_BYTES + 6).reverse());
}

/** Every byte that is signed, by its field. */
export function byteTable(payload: Payload): ByteRow[] {
  const { request, bytes } = payload;
  const row = (offset: number, size: number, name: string, value: string): ByteRow =>
    ({ offset, size, hex: hex(bytes.slice(offset, offset + size)), name, value });
  const time = timeOf(payload);
  return [
    row(0, 1, 'version', String(bytes[0])),
    row(1, 1, 'signature_type', ['Ed25519', 'secp256k1', 'passkey'][bytes[1]]),
    row(2, 2, 'request_type', `${request.code} ${request.name}`),
    row(4, 4, 'pad', ''),
    row(HEADER_BYTES, ID_BYTES, 'request_id', `${uuidText(bytes.slice(HEADER_BYTES, BODY_AT))}, ${new Date(Number(time)).toISOString()}`),
    ...fieldsOf(payload).map(({ field, bytes: own }) => row(BODY_AT + field.offset, field.size!, field.name, valueText(field, own))),
  ];
}
