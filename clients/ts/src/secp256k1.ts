// ECDSA of master keys: signatures by RFC 6979, the lower s alone. BigInt is not constant time: a secret
// that an attacker of this machine may time belongs into a wallet.

import { joined, numberOf, wordOf } from "./hex.js";

const P = 2n ** 256n - 2n ** 32n - 977n;
const N = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const BASE: Point = [0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798n,
  0x483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8n];

type Point = readonly [x: bigint, y: bigint];
type Wide = readonly [x: bigint, y: bigint, z: bigint]; // Jacobian: x / z^2, y / z^3
const NONE: Wide = [1n, 1n, 0n];

function reduced(value: bigint, modulus: bigint): bigint {
  const rest = value % modulus;
  return rest < 0n ? rest + modulus : rest;
}

function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let [result, square] = [1n, reduced(base, modulus)];
  for (let left = exponent; left > 0n; left >>= 1n) {
    if ((left & 1n) === 1n) result = result * square % modulus;
    square = square * square % modulus;
  }
  return result;
}

const inverse = (value: bigint, modulus: bigint): bigint => power(value, modulus - 2n, modulus);

function double([x, y, z]: Wide): Wide {
  const square = y * y % P;
  const [s, m] = [4n * x * square % P, 3n * x * x % P];
  const x3 = reduced(m * m - 2n * s, P);
  return [x3, reduced(m * (s - x3) - 8n * square * square, P), 2n * y * z % P];
}

function add(point: Wide, [x2, y2]: Point): Wide {
  const [x, y, z] = point;
  if (z === 0n) return [x2, y2, 1n];
  const square = z * z % P;
  const [h, r] = [reduced(x2 * square - x, P), reduced(y2 * square * z - y, P)];
  if (h === 0n) return r === 0n ? double(point) : NONE;
  const h2 = h * h % P;
  const [h3, v] = [h * h2 % P, x * h2 % P];
  const x3 = reduced(r * r - h3 - 2n * v, P);
  return [x3, reduced(r * (v - x3) - y * h3, P), z * h % P];
}

function times(count: bigint, point: Point): Wide {
  let result = NONE;
  for (const bit of count.toString(2)) {
    result = double(result);
    if (bit === "1") result = add(result, point);
  }
  return result;
}

function narrow([x, y, z]: Wide): Point | undefined {
  if (z === 0n) return undefined;
  const part = inverse(z, P);
  return [x * part * part % P, y * part * part % P * part % P];
}

function pointOf(publicKey: Uint8Array): Point | undefined {
  const [sign = 0] = publicKey;
  if (publicKey.length !== 33 || (sign !== 2 && sign !== 3)) return undefined;
  const x = numberOf(publicKey.subarray(1));
  const square = (x * x * x + 7n) % P;
  const y = power(square, (P + 1n) / 4n, P);
  if (x >= P || y * y % P !== square) return undefined;
  return [x, Number(y & 1n) === (sign & 1) ? y : P - y];
}

/** The 33 compressed bytes of a secret; RangeError for one that is no key. */
export function publicKeyOf(secret: Uint8Array): Uint8Array {
  const number = numberOf(secret);
  const point = secret.length === 32 && number > 0n && number < N
    ? narrow(times(number, BASE)) : undefined;
  if (point === undefined) throw new RangeError("the secret is no key of secp256k1");
  return joined(Uint8Array.of(2 + Number(point[1] & 1n)), wordOf(point[0]));
}

async function hmac(key: Uint8Array, ...parts: readonly Uint8Array[]): Promise<Uint8Array> {
  const made = await crypto.subtle.importKey("raw", new Uint8Array(key),
    { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", made, new Uint8Array(joined(...parts))));
}

/** The 64-byte signature of a 32-byte digest, the same one each time. */
export async function signDigest(secret: Uint8Array, digest: Uint8Array): Promise<Uint8Array> {
  const [number, z] = [numberOf(secret), numberOf(digest) % N];
  const tail = joined(secret, wordOf(z));
  let [key, value] = [new Uint8Array(32), new Uint8Array(32).fill(1)];
  for (const mark of [0, 1]) {
    key = await hmac(key, value, Uint8Array.of(mark), tail) as typeof key;
    value = await hmac(key, value) as typeof value;
  }
  for (;;) {
    value = await hmac(key, value) as typeof value;
    const k = numberOf(value);
    const point = k > 0n && k < N ? narrow(times(k, BASE)) : undefined;
    const r = (point?.[0] ?? 0n) % N;
    const s = r === 0n ? 0n : inverse(k, N) * (z + r * number) % N;
    if (s !== 0n) return joined(wordOf(r), wordOf(s > N / 2n ? N - s : s));
    key = await hmac(key, value, Uint8Array.of(0)) as typeof key;
    value = await hmac(key, value) as typeof value;
  }
}

/** Whether the signature is good; a high s is not. */
export function verifyDigest(publicKey: Uint8Array, digest: Uint8Array, signature: Uint8Array)
  : boolean {
  const key = pointOf(publicKey);
  const [r, s] = [numberOf(signature.subarray(0, 32)), numberOf(signature.subarray(32))];
  if (key === undefined || signature.length !== 64 || r === 0n || r >= N || s === 0n || s > N / 2n) {
    return false;
  }
  const part = inverse(s, N);
  const ours = narrow(times(numberOf(digest) * part % N, BASE));
  const theirs = times(r * part % N, key);
  const point = narrow(ours === undefined ? theirs : add(theirs, ours));
  return point !== undefined && point[0] % N === r;
}
