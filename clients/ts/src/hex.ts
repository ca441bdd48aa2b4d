// Bytes as hexadecimal digits and as integers, the highest byte first.

export function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** RangeError unless the text is whole bytes, with 0x or without. */
export function bytesOfHex(text: string): Uint8Array {
  const digits = text.replace(/^0x/, "");
  if (!/^([0-9a-fA-F]{2})*$/.test(digits)) throw new RangeError("no bytes in hexadecimal digits");
  return Uint8Array.from({ length: digits.length / 2 }, (_, at) =>
    parseInt(digits.slice(2 * at, 2 * at + 2), 16));
}

export function numberOf(bytes: Uint8Array): bigint {
  return bytes.length === 0 ? 0n : BigInt(`0x${hexOf(bytes)}`);
}

/** An integer as a word of 32 bytes. */
export function wordOf(value: bigint): Uint8Array {
  return bytesOfHex(value.toString(16).padStart(64, "0"));
}

export function joined(...parts: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}
