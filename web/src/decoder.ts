/* What a signed payload says, byte by byte, and at which byte it is wrong. */
import type { Bytes } from './bytes';
import { uuidText } from './bytes';
import { type ByteRow, type Payload, byteTable, fieldsOf } from './payload';
import { HEADER_VERSION, REQUESTS } from './wire.gen';

const HEADER_BYTES = 8;
const ID_BYTES = 16;
const BODY_AT = HEADER_BYTES + ID_BYTES;
const SIGNATURE_TYPES = 3;

/** The rows of what could be read, and what is wrong, at which byte; null: nothing. */
export type Decoded = { rows: ByteRow[]; wrong: { at: number | null; text: string } | null };

function fail(text: string, at: number | null = null, rows: ByteRow[] = []): Decoded {
  return { rows, wrong: { at, text } };
}

/** The bytes of Base64, of hex, or of the payload of an envelope; a text: what it is not. */
function bytesOf(text: string): Bytes | string {
  const plain = text.trim();
  if (plain.startsWith('{')) {
    try {
      const { payload } = JSON.parse(plain);
      return typeof payload === 'string' ? bytesOf(payload) : 'an envelope has a member payload';
    } catch {
      return 'it begins like an envelope and is no JSON';
    }
  }
  const digits = plain.replace(/\s/g, '').replace(/^0x/i, '');
  if (/^([0-9a-f]{2})+$/i.test(digits)) return new Uint8Array(digits.match(/../g)!.map((pair) => parseInt(pair, 16)));
  try {
    return Uint8Array.from(atob(digits), (one) => one.charCodeAt(0));
  } catch {
    return 'it is neither Base64 nor hex nor an envelope';
  }
}

/** The first byte that no packer makes. */
function firstFault({ bytes, ...payload }: Payload): Decoded['wrong'] {
  const pad = bytes.slice(4, HEADER_BYTES).findIndex((one) => one !== 0);
  if (pad >= 0) return { at: 4 + pad, text: 'a pad is not 0' };
  if (bytes[HEADER_BYTES + 6] >> 4 !== 7) return { at: HEADER_BYTES + 6, text: 'the id is no UUID of version 7' };
  if (bytes[HEADER_BYTES + 8] >> 6 !== 2) return { at: HEADER_BYTES + 8, text: 'the id is no UUID of RFC 9562' };
  for (const { field, bytes: own } of fieldsOf({ ...payload, bytes })) {
    const at = BODY_AT + field.offset;
    const past = own.findIndex((one) => one !== 0);
    if (field.kind === 'pad' && past >= 0) return { at: at + past, text: 'a pad is not 0' };
    if (field.kind === 'bool' && own[0] > 1) return { at, text: `${field.name} is 0 or 1` };
    if (field.kind === 'enum' && field.names !== undefined && own[0] >= field.names.length) return { at, text: `${field.name} has no value ${own[0]}` };
  }
  return null;
}

/** Names every byte of what was pasted. An empty text has no rows and nothing wrong. */
export function decode(text: string): Decoded {
  if (text.trim() === '') return { rows: [], wrong: null };
  const bytes = bytesOf(text);
  if (typeof bytes === 'string') return fail(bytes);
  if (bytes.length < BODY_AT) return fail(`it ends: a header and an id have ${BODY_AT} bytes`, bytes.length);
  if (bytes[0] !== HEADER_VERSION) return fail(`the version is ${HEADER_VERSION}`, 0);
  if (bytes[1] >= SIGNATURE_TYPES) return fail(`there is no signature_type ${bytes[1]}`, 1);
  const code = bytes[2] | (bytes[3] << 8);
  const request = Object.values(REQUESTS).find((one) => one.code === code);
  if (request === undefined) return fail(`there is no request ${code}`, 2);
  if (request.body_bytes === null || request.fields.some((field) => field.size === null)) return fail(`${request.name} has a body of its own length: perp decode reads it`, BODY_AT);
  const wanted = BODY_AT + request.body_bytes;
  if (bytes.length !== wanted) return fail(`${request.name} has ${wanted} bytes, here are ${bytes.length}`, Math.min(bytes.length, wanted));
  const payload = { request, id: uuidText(bytes.slice(HEADER_BYTES, BODY_AT)), bytes };
  return { rows: byteTable(payload), wrong: firstFault(payload) };
}
