/* Exact decimals: a raw integer and how many of its digits are decimals. No double holds money. */

const FORM = /^(-?)(\d+)(?:\.(\d+))?$/;
const MINUS = '\u2212';

/** The raw integer of a decimal text; null if it is none or has more decimals than fit. */
export function parseRaw(text: string, decimals: number): bigint | null {
  const form = FORM.exec(text);
  if (form === null) return null;
  const fraction = (form[3] ?? '').replace(/0+$/, '');
  if (fraction.length > decimals) return null;
  const raw = BigInt(form[2] + fraction.padEnd(decimals, '0'));
  return form[1] === '-' ? -raw : raw;
}

/** The raw integer of a decimal of the server, which always fits. */
export function raw(text: string, decimals: number): bigint {
  const value = parseRaw(text, decimals);
  if (value === null) throw new Error(`${text} has more than ${decimals} decimals`);
  return value;
}

function parts(value: bigint, decimals: number): [string, string, string] {
  const digits = (value < 0n ? -value : value).toString().padStart(decimals + 1, '0');
  const point = digits.length - decimals;
  return [value < 0n ? '-' : '', digits.slice(0, point), digits.slice(point)];
}

/** As the interface writes it: no trailing zeros. */
export function apiText(value: bigint, decimals: number): string {
  const [sign, whole, fraction] = parts(value, decimals);
  const rest = fraction.replace(/0+$/, '');
  return sign + whole + (rest === '' ? '' : `.${rest}`);
}

function grouped(whole: string): string {
  return whole.replace(/\B(?=(\d{3})+$)/g, ',');
}

/** As people read it: all decimals, thousands grouped, a true minus. */
export function shown(value: bigint, decimals: number): string {
  const [sign, whole, fraction] = parts(value, decimals);
  return (sign && MINUS) + grouped(whole) + (decimals === 0 ? '' : `.${fraction}`);
}

/** A text of the server as people read it, padded to `decimals`; every digit that it has is kept. */
export function shownText(text: string | null | undefined, decimals = 0): string {
  if (text === null || text === undefined) return '–';
  const form = FORM.exec(text);
  if (form === null) return text;
  const fraction = (form[3] ?? '').padEnd(decimals, '0');
  return (form[1] && MINUS) + grouped(form[2]) + (fraction === '' ? '' : `.${fraction}`);
}

/** A rate as a percentage, exact: "0.0000125" is "0.00125 %". */
export function percentText(text: string): string {
  const form = FORM.exec(text);
  if (form === null) return text;
  const fraction = (form[3] ?? '').padEnd(2, '0');
  const whole = (form[2] + fraction.slice(0, 2)).replace(/^0+(?=\d)/, '');
  const rest = fraction.slice(2).padEnd(4, '0');
  return `${form[1] && MINUS}${whole}.${rest} %`;
}
