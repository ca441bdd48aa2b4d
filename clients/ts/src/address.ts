// address.ts - addresses that withdrawals go to, and the checksum in their spelling (EIP-55).

import { WrongChecksum } from "./errors.js";

export type AddressLike = string | Uint8Array;
const BLOCK = 136; // bytes of Keccak-256 before a permutation
const LANE = (1n << 64n) - 1n;

function madeOffsets(): bigint[] {
  const offsets = new Array<bigint>(25).fill(0n);
  for (let step = 0, x = 1, y = 0; step < 24; step++) {
    offsets[x + 5 * y] = BigInt((step + 1) * (step + 2) / 2 % 64);
    [x, y] = [y, (2 * x + 3 * y) % 5];
  }
  return offsets;
}

function madeConstants(): bigint[] {
  let register = 1;
  return Array.from({ length: 24 }, () => {
    let constant = 0n;
    for (let power = 0; power < 7; power++) {
      if ((register & 1) !== 0) constant |= 1n << BigInt((1 << power) - 1);
      register = register << 1 ^ ((register & 0x80) !== 0 ? 0x171 : 0);
    }
    return constant;
  });
}

const OFFSETS = madeOffsets();
const CONSTANTS = madeConstants();

const left = (lane: bigint, count: bigint): bigint =>
  (lane << count | lane >> (64n - count)) & LANE;

/** The hash of less than 136 bytes, as Ethereum uses it; no builtin of browsers or node has it. */
export function keccak256(data: Uint8Array): Uint8Array {
  if (data.length >= BLOCK) throw new RangeError("longer than one block");
  const block = new Uint8Array(200);
  block.set(data);
  block[data.length] = 1;
  block[BLOCK - 1] = (block[BLOCK - 1] ?? 0) ^ 0x80;
  const view = new DataView(block.buffer);
  let lanes = Array.from({ length: 25 }, (_, at) => view.getBigUint64(at * 8, true));
  for (const constant of CONSTANTS) {
    const at = (index: number): bigint => lanes[index] ?? 0n;
    const column = Array.from({ length: 5 }, (_, x) =>
      at(x) ^ at(x + 5) ^ at(x + 10) ^ at(x + 15) ^ at(x + 20));
    const moved = new Array<bigint>(25).fill(0n);
    lanes.forEach((lane, index) => {
      const [x, y] = [index % 5, Math.floor(index / 5)];
      const mixed = lane ^ (column[(x + 4) % 5] ?? 0n) ^ left(column[(x + 1) % 5] ?? 0n, 1n);
      moved[y + 5 * ((2 * x + 3 * y) % 5)] = left(mixed, OFFSETS[index] ?? 0n);
    });
    const of = (x: number, y: number): bigint => moved[y + x % 5] ?? 0n;
    lanes = moved.map((lane, index) => {
      const [x, y] = [index % 5, index - index % 5];
      return lane ^ (LANE ^ of(x + 1, y)) & of(x + 2, y) ^ (index === 0 ? constant : 0n);
    });
  }
  lanes.forEach((lane, index) => { view.setBigUint64(index * 8, lane, true); });
  return block.slice(0, 32);
}

const hexOf = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

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
