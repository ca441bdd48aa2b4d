// Request ids: UUIDv7 of the exchange's time, strictly rising.

const COUNT_MAX = 0xfffn; // the 12 bits of rand_a
const RANDOM = (1n << 62n) - 1n; // rand_b
const STEP = 0x1e3779b97f4a7c15n; // odd: no two of 2^62 are equal

/** The canonical text of 16 bytes. */
export function idText(bytes: Uint8Array): string {
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)]
    .join("-");
}

/** The 16 bytes of a canonical text; RangeError for another. */
export function idBytes(text: string): Uint8Array {
  if (!/^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/.test(text)) {
    throw new RangeError(`${JSON.stringify(text)} is no UUID`);
  }
  const hex = text.replaceAll("-", "");
  return Uint8Array.from({ length: 16 }, (_, at) => parseInt(hex.slice(2 * at, 2 * at + 2), 16));
}

/** The unix milliseconds in the id. */
export function idTimeMs(id: string): number {
  return parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

/** Another id of the same time for each number above 0, always the same one: what belongs to a request
 * has it when the request is repeated. RangeError for a text that is no UUID. */
export function followingId(id: string, number: number): string {
  const bytes = idBytes(id);
  const view = new DataView(bytes.buffer);
  const low = view.getBigUint64(8);
  view.setBigUint64(8, (low & ~RANDOM) | (((low & RANDOM) + BigInt(number) * STEP) & RANDOM));
  return idText(bytes);
}

function random(bits: bigint): bigint {
  const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2));
  return ((BigInt(high) << 32n) | BigInt(low)) & ((1n << bits) - 1n);
}

/** Makes ids of the time that `nowMs` tells. Within a millisecond rand_a counts up, so a later id
 * of one Ids is always the higher, also when the clock is set back. */
export class Ids {
  #ms = 0n;
  #count = 0n;

  constructor(private readonly nowMs: () => number) {}

  next(): string {
    const now = BigInt(Math.floor(this.nowMs()));
    if (now > this.#ms) {
      this.#ms = now;
      this.#count = random(11n);
    } else if (this.#count < COUNT_MAX) {
      this.#count += 1n;
    } else {
      this.#ms += 1n;
      this.#count = 0n;
    }
    const id = (((this.#ms << 16n) | (7n << 12n) | this.#count) << 64n) | (2n << 62n) | random(62n);
    const bytes = new Uint8Array(16);
    const view = new DataView(bytes.buffer);
    view.setBigUint64(0, id >> 64n);
    view.setBigUint64(8, id & 0xffffffffffffffffn);
    return idText(bytes);
  }
}
