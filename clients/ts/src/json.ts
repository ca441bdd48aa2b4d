// JSON whose wide integers are bigints: no number of 2^53 or more passes through a double.

import { WIDE } from "./types.gen.js";

// Whole texts and whole long numbers: nothing of them is looked at twice, whatever the peer sends.
const LONG = /"(?:[^"\\]|\\.)*"?|(?<![\d.])-?\d{16,}(?:[.eE][\d.eE+-]*)?/g;
const INTEGER = /^-?\d+$/;
const MARK = "\u0001"; // begins the text of a long integer; no text of JSON holds it unescaped

/** The value of a JSON text. Members of WIDE are bigints always, other integers when they are
 * 16 digits or longer. */
export function parseJson(text: string): unknown {
  const safe = text.replace(LONG, (part) => (INTEGER.test(part) ? `"\\u0001${part}"` : part));
  return JSON.parse(safe, (name: string, value: unknown) => {
    if (typeof value === "string" && value.startsWith(MARK)) return BigInt(value.slice(1));
    return typeof value === "number" && WIDE.has(name) ? BigInt(value) : value;
  });
}

/** The JSON text of a value; bigints are integers in it. */
export function formatJson(value: unknown): string {
  const text = JSON.stringify(value, (_, part: unknown) =>
    typeof part === "bigint" ? `${MARK}${part}` : part);
  return text.replace(/"\\u0001(-?\d+)"/g, "$1");
}
