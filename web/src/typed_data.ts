/* EIP-712 typed data of a payload, as wallets show it: every member comes from the bytes that are signed. */
import { apiText } from './decimal';
import { hex, uuidText } from './bytes';
import { type Payload, fieldsOf, timeOf, unsigned } from './payload';
import { type Field, KINDS } from './wire.gen';

export type Member = { name: string; type: string };
export type TypedData = {
  types: Record<string, Member[]>;
  primaryType: string;
  domain: { name: string; version: string; salt: string };
  message: Record<string, string | boolean>;
};

const DOMAIN: Member[] = [{ name: 'name', type: 'string' }, { name: 'version', type: 'string' }, { name: 'salt', type: 'bytes32' }];
const MICRO = 6;
const WHOLE = 0xffffffffn;
const YEAR_10000_MS = 253_402_300_800_000n;

function camel(name: string): string {
  return name.replace(/_(.)/g, (_all, letter: string) => letter.toUpperCase());
}

function pascal(name: string): string {
  return camel(`_${name}`);
}

/** Unix milliseconds as the typed data writes them. */
function timeText(ms: bigint): string {
  return ms < YEAR_10000_MS ? new Date(Number(ms)).toISOString() : ms.toString();
}

function value(field: Field, bytes: Uint8Array): string | boolean {
  const number = unsigned(bytes);
  switch (field.kind) {
    case 'bool': return number === 1n;
    case 'pin': return number === WHOLE ? 'whole account' : `subaccount ${number}`;
    case 'enum': return field.names?.[Number(number)] ?? number.toString();
    case 'amount': return `${apiText(number, MICRO)} USDC`;
    case 'time': return number === 0n ? 'default' : timeText(number / 1_000_000n);
    case 'uuid': return uuidText(bytes);
    case 'text': return new TextDecoder().decode(bytes).replace(/\0+$/, '');
    case 'address': case 'key': return `0x${hex(bytes)}`;
    case 'account': case 'u64': case 'index': case 'u32': return number.toString();
    default: throw new Error(`${field.name} has no typed data`);
  }
}

/** The accounts of a portfolio id: of a transfer's two sides with their names before them. */
function portfolio(field: Field, bytes: Uint8Array): [string, string, string][] {
  const parts = [['account_id', 'uint64', 0, 8], ['subaccount_index', 'uint32', 8, 12], ['portfolio_index', 'uint32', 12, 16]] as const;
  const before = field.name === 'portfolio_id' ? '' : `${field.name}_`;
  return parts.map(([name, type, from, to]) => [camel(before + name), type, unsigned(bytes.slice(from, to)).toString()]);
}

/** What a wallet is asked to sign for a payload of the exchange with this id. */
export function typedData(payload: Payload, exchangeId: string): TypedData {
  const rows: [string, string, string | boolean][] = [['action', 'string', payload.request.name]];
  for (const { field, bytes } of fieldsOf(payload)) {
    if (field.kind === 'pad') continue;
    if (field.kind === 'portfolio') rows.push(...portfolio(field, bytes));
    else rows.push([camel(field.name), KINDS[field.kind as keyof typeof KINDS]!, value(field, bytes)]);
  }
  rows.push(['requestId', 'string', payload.id], ['signedAt', 'string', timeText(timeOf(payload))], ['payload', 'bytes', `0x${hex(payload.bytes)}`]);
  const primaryType = pascal(payload.request.name);
  return {
    types: { EIP712Domain: DOMAIN, [primaryType]: rows.map(([name, type]) => ({ name, type })) },
    primaryType,
    domain: { name: 'Perpetuals', version: '1', salt: `0x${exchangeId}` },
    message: Object.fromEntries(rows.map(([name, , member]) => [name, member])),
  };
}
