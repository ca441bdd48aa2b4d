/* Bytes and their texts. */

export type Bytes = Uint8Array<ArrayBuffer>;

export function joinBytes(...parts: (Uint8Array | ArrayBuffer | number[])[]): Bytes {
  const arrays = parts.map((part) => new Uint8Array(part as ArrayBuffer));
  const joined = new Uint8Array(arrays.reduce((sum, one) => sum + one.length, 0));
  let at = 0;
  for (const one of arrays) {
    joined.set(one, at);
    at += one.length;
  }
  return joined;
}

export function base64(bytes: Uint8Array | ArrayBuffer): string {
  return btoa(String.fromCharCode(...new Uint8Array(bytes as ArrayBuffer)));
}

export function hex(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Little-endian; a negative value in two's complement. */
export function integerBytes(value: bigint, size: number): Bytes {
  const bytes = new Uint8Array(size);
  let rest = BigInt.asUintN(size * 8, value);
  for (let at = 0; at < size; at++, rest >>= 8n) bytes[at] = Number(rest & 0xffn);
  return bytes;
}

/** A UUIDv7 of a unix time in milliseconds. */
export function newUuid(timeMs: number): Bytes {
  const id = crypto.getRandomValues(new Uint8Array(16));
  id.set(integerBytes(BigInt(Math.floor(timeMs)), 6).reverse());
  id[6] = 0x70 | (id[6] & 0x0f);
  id[8] = 0x80 | (id[8] & 0x3f);
  return id;
}

export function uuidText(id: Uint8Array): string {
  return hex(id).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

export function uuidBytes(text: string): Bytes {
  return new Uint8Array(text.replaceAll('-', '').match(/../g)!.map((pair) => parseInt(pair, 16)));
}
