// The bytes of signed requests (wire.md W1, W3), by the tables of wire.gen.

import { idBytes, idText } from "./ids.js";
import { BATCH_ITEM, HEADER_VERSION, REQUESTS } from "./wire.gen.js";
import type { Bodies, Field, PortfolioId } from "./wire.gen.js";

type Members = { readonly [name: string]: unknown };

const HEAD_BYTES = 24; // header and request id
const ITEM_BYTES = 64;
const WIDE: ReadonlySet<string> = new Set(["account", "u64", "amount", "time", "expiry", "price",
  "size"]);
const SIGNED: ReadonlySet<string> = new Set(["i64", "quantity"]);
const BYTES: ReadonlySet<string> = new Set(["key", "hash", "address"]);
const TAILS: ReadonlySet<string> = new Set(["items", "credential", "document"]);

function integer(value: unknown, least: bigint, most: bigint, name: string): bigint {
  const isSafe = typeof value === "bigint" || (typeof value === "number" &&
    Number.isSafeInteger(value));
  if (!isSafe) throw new TypeError(`${name}: an integer is needed, not ${String(value)}`);
  const made = BigInt(value as bigint | number);
  if (made < least || made > most) throw new RangeError(`${name}: ${made} is out of range`);
  return made;
}

function unsigned(value: unknown, bits: number, name: string): bigint {
  return integer(value, 0n, (1n << BigInt(bits)) - 1n, name);
}

function bytesOf(value: unknown, size: number, name: string): Uint8Array {
  if (!(value instanceof Uint8Array) || value.length !== size) {
    throw new RangeError(`${name}: ${size} bytes are needed`);
  }
  return value;
}

function textBytes(value: unknown, size: number, name: string): Uint8Array {
  if (typeof value !== "string") throw new TypeError(`${name}: a text is needed`);
  const data = new TextEncoder().encode(value);
  if (data.length > size || data.includes(0)) {
    throw new RangeError(`${name}: at most ${size} bytes, none of them zero`);
  }
  return data;
}

function putPortfolio(view: DataView, at: number, value: PortfolioId, name: string): void {
  view.setBigUint64(at, unsigned(value.account_id, 64, name), true);
  view.setUint32(at + 8, Number(unsigned(value.subaccount_index, 32, name)), true);
  view.setUint32(at + 12, Number(unsigned(value.portfolio_index, 32, name)), true);
}

/** Writes one field of a known size; pads stay zero. */
function put(view: DataView, out: Uint8Array, field: Field, value: unknown): void {
  const { kind, offset, name } = field;
  const size = field.size ?? 0;
  if (kind === "portfolio") putPortfolio(view, offset, value as PortfolioId, name);
  else if (WIDE.has(kind)) view.setBigUint64(offset, unsigned(value, 64, name), true);
  else if (SIGNED.has(kind)) {
    view.setBigInt64(offset, integer(value, -(1n << 63n), (1n << 63n) - 1n, name), true);
  } else if (kind === "pin") {
    view.setInt32(offset, Number(integer(value, -(1n << 31n), (1n << 31n) - 1n, name)), true);
  } else if (kind === "bool") {
    if (typeof value !== "boolean") throw new TypeError(`${name}: true or false is needed`);
    out[offset] = value ? 1 : 0;
  } else if (kind === "enum") {
    const code = field.names?.indexOf(value as string) ?? -1;
    if (code < 0) throw new RangeError(`${name}: ${String(value)} is none of its names`);
    out[offset] = code;
  } else if (kind === "uuid") out.set(idBytes(value as string), offset);
  else if (kind === "text") out.set(textBytes(value, size, name), offset);
  else if (BYTES.has(kind)) out.set(bytesOf(value, size, name), offset);
  else if (size === 4) view.setUint32(offset, Number(unsigned(value, 32, name)), true);
  else if (size === 2) view.setUint16(offset, Number(unsigned(value, 16, name)), true);
  else out[offset] = Number(unsigned(value, 8, name));
}

/** Reads one field of a known size. */
function get(view: DataView, data: Uint8Array, field: Field): unknown {
  const { kind, offset } = field;
  const size = field.size ?? 0;
  if (kind === "portfolio") {
    return { account_id: view.getBigUint64(offset, true),
      subaccount_index: view.getUint32(offset + 8, true),
      portfolio_index: view.getUint32(offset + 12, true) };
  }
  if (WIDE.has(kind)) return view.getBigUint64(offset, true);
  if (SIGNED.has(kind)) return view.getBigInt64(offset, true);
  if (kind === "pin") return view.getInt32(offset, true);
  if (kind === "bool") return data[offset] === 1;
  if (kind === "enum") return field.names?.[data[offset] ?? 0] ?? "";
  const part = data.slice(offset, offset + size);
  if (kind === "uuid") return idText(part);
  if (kind === "text") return new TextDecoder().decode(part).replace(/\0+$/, "");
  if (BYTES.has(kind)) return part;
  return size === 4 ? view.getUint32(offset, true)
    : size === 2 ? view.getUint16(offset, true) : data[offset];
}

function packFields(fields: readonly Field[], members: Members, size: number): Uint8Array {
  const out = new Uint8Array(size);
  const view = new DataView(out.buffer);
  for (const field of fields) {
    if (field.kind !== "pad" && !TAILS.has(field.kind)) put(view, out, field, members[field.name]);
  }
  return out;
}

function unpackFields(fields: readonly Field[], data: Uint8Array): { [name: string]: unknown } {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const members: { [name: string]: unknown } = {};
  for (const field of fields) {
    if (field.kind !== "pad" && !TAILS.has(field.kind)) {
      members[field.name] = get(view, data, field);
    }
  }
  return members;
}

/** The tail of a body, and how many it counts: items or bytes. */
function tailOf(field: Field | undefined, members: Members): [Uint8Array, number] {
  if (field === undefined) return [new Uint8Array(), 0];
  const value = members[field.name];
  if (field.kind !== "items") {
    if (!(value instanceof Uint8Array)) throw new TypeError(`${field.name}: bytes are needed`);
    return [value, value.length];
  }
  const items = value as readonly Members[];
  const data = new Uint8Array(items.length * ITEM_BYTES);
  items.forEach((item, at) => data.set(packFields(BATCH_ITEM, item, ITEM_BYTES), at * ITEM_BYTES));
  return [data, items.length];
}

function counterOf(fields: readonly Field[], tail: Field | undefined): Field | undefined {
  return tail && fields.find((field) => field.kind === "length" ||
    (tail.kind === "items" && field.name === "count"));
}

/** The bytes of a request's body. TypeError, RangeError: a member is missing or does not fit. */
export function packBody<Name extends keyof Bodies>(name: Name, body: Bodies[Name]): Uint8Array {
  const { fields, body_bytes } = REQUESTS[name];
  const tail = fields.find((field) => TAILS.has(field.kind));
  const [data, count] = tailOf(tail, body as unknown as Members);
  const counter = counterOf(fields, tail);
  const members: Members = { ...(body as unknown as Members),
    ...(counter && { [counter.name]: count }) };
  const fixed = tail === undefined ? (body_bytes ?? 0) : tail.offset;
  const out = new Uint8Array(Math.ceil((fixed + data.length) / 8) * 8);
  out.set(packFields(fields, members, fixed));
  out.set(data, fixed);
  return out;
}

/** The body of these bytes; RangeError unless they are exactly what packBody makes. */
export function unpackBody<Name extends keyof Bodies>(name: Name, data: Uint8Array): Bodies[Name] {
  const { fields, body_bytes } = REQUESTS[name];
  const tail = fields.find((field) => TAILS.has(field.kind));
  const fixed = tail === undefined ? (body_bytes ?? 0) : tail.offset;
  if (data.length < fixed) throw new RangeError(`${name}: ${data.length} bytes are too few`);
  const members = unpackFields(fields, data);
  const counter = counterOf(fields, tail);
  if (tail?.kind === "items") {
    const items: unknown[] = [];
    for (let at = fixed; at + ITEM_BYTES <= data.length; at += ITEM_BYTES) {
      items.push(unpackFields(BATCH_ITEM, data.subarray(at, at + ITEM_BYTES)));
    }
    members[tail.name] = items;
  } else if (tail !== undefined) {
    const count = counter ? (members[counter.name] as number) : data.length - fixed;
    members[tail.name] = data.slice(fixed, fixed + count);
  }
  if (counter) delete members[counter.name];
  const body = members as unknown as Bodies[Name];
  const again = packBody(name, body);
  if (again.length !== data.length || again.some((byte, at) => byte !== data[at])) {
    throw new RangeError(`${name}: a pad, an enum or a length is wrong`);
  }
  return body;
}

/** Header, request id and body: what is signed. Signature type 0 is Ed25519. */
export function payloadOf<Name extends keyof Bodies>(name: Name, body: Bodies[Name], id: string,
  signatureType = 0): Uint8Array {
  const packed = packBody(name, body);
  const out = new Uint8Array(HEAD_BYTES + packed.length);
  out[0] = HEADER_VERSION;
  out[1] = signatureType;
  new DataView(out.buffer).setUint16(2, REQUESTS[name].code, true);
  out.set(idBytes(id), 8);
  out.set(packed, HEAD_BYTES);
  return out;
}
