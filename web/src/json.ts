/* JSON whose integers may have 64 bits: one that a double does not hold becomes a bigint. */

/** An integer of the interface: a number while it is safe, else a bigint. Compare with `big`. */
export type Int = number | bigint;

type Context = { source?: string };

const WHOLE = /^-?\d+$/;
/** Whole texts and whole long numbers: nothing of them is looked at twice. */
const LONG = /"(?:[^"\\]|\\.)*"?|(?<![\d.])-?\d{16,}(?:[.eE][\d.eE+-]*)?/g;
const MARK = '\u0001';

function exact(_key: string, value: unknown, context?: Context): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const source = context?.source ?? '';
  return WHOLE.test(source) ? BigInt(source) : value;
}

/** Parses with the text of each number, which newer browsers give. */
export function parseBySource(text: string): any {
  return JSON.parse(text, exact as (key: string, value: unknown) => unknown);
}

/** Parses without it: long integers become marked strings first, strings stay as they are. */
export function parseByRewrite(text: string): any {
  const marked = text.replace(LONG, (part) => (WHOLE.test(part) ? `"\\u0001${part}"` : part));
  return JSON.parse(marked, (_key, value) =>
    typeof value === 'string' && value[0] === MARK && WHOLE.test(value.slice(1))
      ? narrow(BigInt(value.slice(1)))
      : value,
  );
}

function narrow(value: bigint): Int {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

const givesSource = parseBySource('9007199254740993') === 9007199254740993n;

export const parseJson: (text: string) => any = givesSource ? parseBySource : parseByRewrite;

export function big(value: Int): bigint {
  return BigInt(value);
}

/** JSON text of a value whose bigints are written as integers. */
export function writeJson(value: unknown): string {
  if (typeof value === 'bigint') return value.toString();
  if (Array.isArray(value)) return `[${value.map(writeJson).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${writeJson(member)}`).join(',')}}`;
}
