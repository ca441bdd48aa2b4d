// Exact decimals: prices, sizes and cash. No number enters or leaves.

export type AmountLike = Amount | string | bigint;
export type Rounding = "down" | "up";

const FORM = /^(-?)([0-9]+)(?:\.([0-9]+))?$/;
const LONGEST = 40; // digits of a text that is read

function ten(power: number): bigint {
  return 10n ** BigInt(power);
}

/** The quotient toward minus infinity. */
function floored(value: bigint, unit: bigint): bigint {
  const quotient = value / unit;
  return value % unit < 0n ? quotient - 1n : quotient;
}

/** `raw` units of 10 ** -decimals. */
export class Amount {
  constructor(readonly raw: bigint, readonly decimals: number) {
    if (typeof raw !== "bigint" || !Number.isInteger(decimals) || decimals < 0) {
      throw new TypeError("an Amount is made of a bigint and its decimals; Amount.of reads a text");
    }
  }

  /** The amount of a decimal text, a bigint or an Amount. TypeError for a number: it has no exact
   * decimal; RangeError for a text of another form. */
  static of(value: AmountLike): Amount {
    if (value instanceof Amount) return value;
    if (typeof value === "bigint") return new Amount(value, 0);
    if (typeof value !== "string") {
      throw new TypeError(`a decimal string or an Amount is needed, not a ${typeof value}`);
    }
    const match = FORM.exec(value);
    if (match === null || value.length > LONGEST) {
      throw new RangeError(`${JSON.stringify(value)} is no decimal`);
    }
    const digits = match[3] ?? "";
    const raw = BigInt(`${match[2]}${digits}`);
    return new Amount(match[1] === "-" ? -raw : raw, digits.length);
  }

  /** The raw integer with so many decimals; RangeError when digits would be lost. */
  at(decimals: number): bigint {
    if (decimals >= this.decimals) return this.raw * ten(decimals - this.decimals);
    const unit = ten(this.decimals - decimals);
    if (this.raw % unit !== 0n) {
      throw new RangeError(`${this.toString()} has more than ${decimals} decimals`);
    }
    return this.raw / unit;
  }

  /** The nearest multiple of `step` that is not above (down) or not below (up) this. */
  rounded(step: Amount, direction: Rounding): Amount {
    const decimals = Math.max(this.decimals, step.decimals);
    const [value, unit] = [this.at(decimals), step.at(decimals)];
    const count = direction === "down" ? floored(value, unit) : -floored(-value, unit);
    return new Amount(count * step.raw, step.decimals);
  }

  /** This and so many ten-thousandths of it: 100 timesBps(-10n) is 99.9. Exact. */
  timesBps(bps: bigint): Amount {
    return new Amount(this.raw * (10_000n + bps), this.decimals + 4);
  }

  plus(other: Amount): Amount {
    const decimals = Math.max(this.decimals, other.decimals);
    return new Amount(this.at(decimals) + other.at(decimals), decimals);
  }

  minus(other: Amount): Amount {
    return this.plus(new Amount(-other.raw, other.decimals));
  }

  times(other: Amount): Amount {
    return new Amount(this.raw * other.raw, this.decimals + other.decimals);
  }

  /** Below 0, 0 or above 0: this less the other. */
  compare(other: Amount): -1 | 0 | 1 {
    const raw = this.minus(other).raw;
    return raw < 0n ? -1 : raw > 0n ? 1 : 0;
  }

  equals(other: Amount): boolean {
    return this.compare(other) === 0;
  }

  /** As the exchange writes it: no exponent, no trailing zero. */
  toString(): string {
    const negative = this.raw < 0n;
    const digits = (negative ? -this.raw : this.raw).toString().padStart(this.decimals + 1, "0");
    const cut = digits.length - this.decimals;
    const fraction = digits.slice(cut).replace(/0+$/, "");
    return (negative ? "-" : "") + digits.slice(0, cut) + (fraction === "" ? "" : `.${fraction}`);
  }

  toJSON(): string {
    return this.toString();
  }
}
