// address.ts - addresses that withdrawals go to, and the checksum in their spelling (EIP-55).

import { WrongChecksum } from "./errors.js";
import { hexOf } from "./hex.js";
import { keccak_256 as keccak256 } from "@noble/hashes/sha3.js";

export type AddressLike = string | Uint8Array;

/** The spelling of EIP-55: a letter is large where its digit of the hash is above 7. */
export function addressText(address: Uint8Array): string {
  if (address.length !== 20) throw new RangeError(`an address has 20 bytes, not ${address.length}`);
  const digits = hexOf(address);
  const digest = hexOf(keccak256(new TextEncoder().encode(digits)));
  return "0x" + Array.from(digits, (digit, at) =>
    parseInt(digest[at] ?? "0", 16) > 7 ? digit.toUpperCase() : digit).join("");
}

/** The 20 bytes of an address: bytes, or 40 hexadecimal digits with 0x or without. Digits in both
 * cases carry a checksum; another one than theirs is WrongChecksum. RangeError for another form. */
export function addressOf(value: AddressLike): Uint8Array {
  if (typeof value !== "string") {
    if (value.length !== 20) throw new RangeError(`an address has 20 bytes, not ${value.length}`);
    return value;
  }
  const digits = /^(?:0x)?([0-9a-fA-F]{40})$/.exec(value)?.[1];
  if (digits === undefined)
    throw new RangeError(`${JSON.stringify(value)} is no address: 40 hexadecimal digits`);
  const address = Uint8Array.from({ length: 20 }, (_, at) =>
    parseInt(digits.slice(at * 2, at * 2 + 2), 16));
  const right = addressText(address);
  if (![digits.toLowerCase(), digits.toUpperCase(), right.slice(2)].includes(digits))
    throw new WrongChecksum(value, right);
  return address;
}
