/* Keccak-256, as Ethereum hashes typed data and addresses. Nothing secret goes through it. */
import type { Bytes } from './bytes';

const RATE = 136;
const LANES = 25;
const ROUNDS = 24;

function turned(lane: bigint, by: number): bigint {
  return BigInt.asUintN(64, (lane << BigInt(by)) | (lane >> BigInt(64 - by)));
}

/** The constants of the rounds, by the shift register that makes their bits. */
const CONSTANTS = ((): bigint[] => {
  let register = 1;
  return Array.from({ length: ROUNDS }, () => {
    let constant = 0n;
    for (let bit = 0; bit < 7; bit++) {
      if (register & 1) constant |= 1n << ((1n << BigInt(bit)) - 1n);
      register = register & 0x80 ? (register << 1) ^ 0x171 : register << 1;
    }
    return constant;
  });
})();

function permute(lanes: BigUint64Array): void {
  for (const constant of CONSTANTS) {
    const columns = [0, 1, 2, 3, 4].map((x) => lanes[x] ^ lanes[x + 5] ^ lanes[x + 10] ^ lanes[x + 15] ^ lanes[x + 20]);
    for (let at = 0; at < LANES; at++) lanes[at] ^= columns[(at + 4) % 5] ^ turned(columns[(at + 1) % 5], 1);
    let moved = lanes[1];
    for (let step = 0, x = 1, y = 0; step < ROUNDS; step++) {
      [x, y] = [y, (2 * x + 3 * y) % 5];
      const next = lanes[x + 5 * y];
      lanes[x + 5 * y] = turned(moved, ((step + 1) * (step + 2) / 2) % 64);
      moved = next;
    }
    for (let row = 0; row < LANES; row += 5) {
      const before = lanes.slice(row, row + 5);
      for (let x = 0; x < 5; x++) lanes[row + x] ^= ~before[(x + 1) % 5] & before[(x + 2) % 5];
    }
    lanes[0] ^= constant;
  }
}

export function keccak256(bytes: Uint8Array): Bytes {
  const padded = new Uint8Array((Math.floor(bytes.length / RATE) + 1) * RATE);
  padded.set(bytes);
  padded[bytes.length] = 1;
  padded[padded.length - 1] |= 0x80;
  const words = new DataView(padded.buffer);
  const lanes = new BigUint64Array(LANES);
  for (let from = 0; from < padded.length; from += RATE) {
    for (let at = 0; at < RATE / 8; at++) lanes[at] ^= words.getBigUint64(from + 8 * at, true);
    permute(lanes);
  }
  for (let at = 0; at < 4; at++) words.setBigUint64(8 * at, lanes[at], true);
  return padded.slice(0, 32);
}
