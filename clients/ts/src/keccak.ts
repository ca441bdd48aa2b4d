// Keccak-256 as Ethereum uses it; no builtin of browsers or node has it.

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

function permuted(start: readonly bigint[]): bigint[] {
  let lanes = [...start];
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
  return lanes;
}

/** The 32-byte hash of data of any length. */
export function keccak256(data: Uint8Array): Uint8Array {
  const padded = new Uint8Array(data.length + BLOCK - data.length % BLOCK);
  padded.set(data);
  padded[data.length] = 1;
  padded[padded.length - 1] = (padded[padded.length - 1] ?? 0) ^ 0x80;
  const view = new DataView(padded.buffer);
  let lanes = new Array<bigint>(25).fill(0n);
  for (let start = 0; start < padded.length; start += BLOCK) {
    lanes = permuted(lanes.map((lane, index) =>
      index < BLOCK / 8 ? lane ^ view.getBigUint64(start + index * 8, true) : lane));
  }
  const out = new Uint8Array(32);
  const words = new DataView(out.buffer);
  lanes.slice(0, 4).forEach((lane, index) => { words.setBigUint64(index * 8, lane, true); });
  return out;
}
