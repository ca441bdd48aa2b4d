// What a master key signs: EIP-712 typed data, whose every member comes from the bytes of the payload
// (wire.md W4).

import { Amount } from "./amount.js";
import { bytesOfHex, hexOf, joined, wordOf } from "./hex.js";
import { idText, idTimeMs } from "./ids.js";
import { keccak_256 as keccak256 } from "@noble/hashes/sha3.js";
import { KINDS, REQUESTS } from "./wire.gen.js";
import type { Field, RequestType } from "./wire.gen.js";

const BODY_AT = 24;
const MICRO = 6;
const WHOLE = 0xffffffffn;
const YEAR_10000_MS = 253_402_300_800_000n;
const MASTERS: ReadonlySet<string> = new Set(["session_or_master", "master", "admin",
  "new_secp256k1"]);

export interface Member {
  readonly name: string;
  readonly type: string;
}

/** The document that eth_signTypedData_v4 takes. */
export interface TypedData {
  readonly types: { readonly [name: string]: readonly Member[] };
  readonly primaryType: string;
  readonly domain: { readonly name: string; readonly version: string; readonly salt: string };
  readonly message: { readonly [name: string]: string | boolean };
}

const DOMAIN: readonly Member[] = [{ name: "name", type: "string" },
  { name: "version", type: "string" }, { name: "salt", type: "bytes32" }];
type Row = readonly [name: string, type: string, value: string | boolean];

const camel = (name: string): string =>
  name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());

const unsigned = (bytes: Uint8Array): bigint =>
  bytes.reduceRight((sum, byte) => sum << 8n | BigInt(byte), 0n);

const timeText = (ms: bigint): string =>
  ms < YEAR_10000_MS ? new Date(Number(ms)).toISOString() : ms.toString();

function valueOf(field: Field, bytes: Uint8Array): string | boolean {
  const number = unsigned(bytes);
  switch (field.kind) {
    case "bool": return number === 1n;
    case "pin": return number === WHOLE ? "whole account" : `subaccount ${number}`;
    case "enum": return field.names?.[Number(number)] ?? number.toString();
    case "amount": return `${new Amount(number, MICRO).toString()} USDC`;
    case "time": return number === 0n ? "default" : timeText(number / 1_000_000n);
    case "uuid": return idText(bytes);
    case "text": return new TextDecoder().decode(bytes).replace(/\0+$/, "");
    case "address": case "key": case "credential": return `0x${hexOf(bytes)}`;
    default: return number.toString();
  }
}

function rowsOf(field: Field, bytes: Uint8Array): Row[] {
  if (field.kind !== "portfolio") {
    const type = KINDS[field.kind as keyof typeof KINDS] ?? "";
    return [[camel(field.name), type, valueOf(field, bytes)]];
  }
  const before = field.name === "portfolio_id" ? "" : `${field.name}_`;
  const parts = [["account_id", "uint64", 0, 8], ["subaccount_index", "uint32", 8, 12],
    ["portfolio_index", "uint32", 12, 16]] as const;
  return parts.map(([name, type, from, to]) =>
    [camel(before + name), type, unsigned(bytes.slice(from, to)).toString()]);
}

function bodyRows({ fields }: RequestType, body: Uint8Array): Row[] {
  const rows: Row[] = [];
  let length = 0;
  for (const field of fields) {
    const bytes = body.slice(field.offset, field.offset + (field.size ?? length));
    if (field.kind === "length") length = Number(unsigned(bytes));
    else if (field.kind !== "pad") rows.push(...rowsOf(field, bytes));
  }
  return rows;
}

/** The typed data of a payload for the exchange of this id (hexadecimal). RangeError for a request that
 * no master key signs. */
export function typedDataOf(payload: Uint8Array, exchangeId: string): TypedData {
  const code = Number(unsigned(payload.slice(2, 4)));
  const request = Object.values(REQUESTS).find((row) => row.code === code);
  if (request === undefined || !MASTERS.has(request.signer)) {
    throw new RangeError(`request ${code} has no typed data: no master key signs it`);
  }
  const id = idText(payload.slice(8, BODY_AT));
  const rows: Row[] = [["action", "string", request.name],
    ...bodyRows(request, payload.slice(BODY_AT)), ["requestId", "string", id],
    ["signedAt", "string", timeText(BigInt(idTimeMs(id)))],
    ["payload", "bytes", `0x${hexOf(payload)}`]];
  const primaryType = camel(`_${request.name}`);
  return { primaryType,
    types: { EIP712Domain: DOMAIN, [primaryType]: rows.map(([name, type]) => ({ name, type })) },
    domain: { name: "Perpetuals", version: "1", salt: `0x${exchangeId}` },
    message: Object.fromEntries(rows.map(([name, , value]) => [name, value])) };
}

function encoded(type: string, value: string | boolean): Uint8Array {
  if (type === "string") return keccak256(new TextEncoder().encode(String(value)));
  if (type === "bytes") return keccak256(bytesOfHex(String(value)));
  return wordOf(type === "bool" ? BigInt(value === true) : BigInt(value));
}

/** EIP-712's hashStruct of one of the document's types. */
export function hashStruct(typed: TypedData, name: string,
  values: { readonly [name: string]: string | boolean }): Uint8Array {
  const members = typed.types[name] ?? [];
  const text = `${name}(${members.map((one) => `${one.type} ${one.name}`).join(",")})`;
  return keccak256(joined(keccak256(new TextEncoder().encode(text)),
    ...members.map((one) => encoded(one.type, values[one.name] ?? ""))));
}

/** The 32 bytes that a signature of the document signs. */
export function digestOf(typed: TypedData): Uint8Array {
  return keccak256(joined(Uint8Array.of(0x19, 1), hashStruct(typed, "EIP712Domain", typed.domain),
    hashStruct(typed, typed.primaryType, typed.message)));
}
