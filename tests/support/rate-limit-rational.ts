/**
 * An exact number: `numerator / denominator * 2 ** exponent`. Powers of two are kept apart, because almost every number
 * here comes from a double, and shifting is much cheaper than finding a common divisor.
 */
export class Rational {
  static readonly ZERO = new Rational(0n, 1n, 0);
  static readonly ONE = new Rational(1n, 1n, 0);
  readonly #numerator: bigint;
  /** Odd, above 0. */
  readonly #denominator: bigint;
  readonly #exponent: number;

  private constructor(numerator: bigint, denominator: bigint, exponent: number) {
    this.#numerator = numerator;
    this.#denominator = denominator;
    this.#exponent = exponent;
  }

  /** The exact value of a finite double. */
  static of(value: number): Rational {
    if (!Number.isFinite(value)) throw new RangeError(`${String(value)} is no rational number.`);
    let exponent = 0;
    let whole = value;
    while (!Number.isInteger(whole)) {
      whole *= 2 ** 26;
      exponent -= 26;
    }
    return new Rational(BigInt(whole), 1n, exponent);
  }

  plus(other: Rational): Rational {
    const exponent = Math.min(this.#exponent, other.#exponent);
    const a = this.#numerator << BigInt(this.#exponent - exponent);
    const b = other.#numerator << BigInt(other.#exponent - exponent);
    if (this.#denominator === other.#denominator) return reduced(a + b, this.#denominator, exponent);
    return reduced(
      a * other.#denominator + b * this.#denominator,
      this.#denominator * other.#denominator,
      exponent,
    );
  }

  minus(other: Rational): Rational {
    return this.plus(new Rational(-other.#numerator, other.#denominator, other.#exponent));
  }

  times(other: Rational): Rational {
    return reduced(
      this.#numerator * other.#numerator,
      this.#denominator * other.#denominator,
      this.#exponent + other.#exponent,
    );
  }

  over(other: Rational): Rational {
    if (other.#numerator === 0n) throw new RangeError("Division by zero.");
    const twos = trailingZeros(other.#numerator);
    const odd = other.#numerator >> BigInt(twos);
    return reduced(
      this.#numerator * other.#denominator * (odd < 0n ? -1n : 1n),
      this.#denominator * (odd < 0n ? -odd : odd),
      this.#exponent - other.#exponent - twos,
    );
  }

  /** Below 0, 0 or above 0, as this is less than, equal to or more than `other`. */
  compare(other: Rational): number {
    return this === other ? 0 : this.minus(other).sign;
  }

  get sign(): number {
    return this.#numerator < 0n ? -1 : this.#numerator > 0n ? 1 : 0;
  }

  isBelow(other: Rational): boolean {
    return this.compare(other) < 0;
  }

  isAtMost(other: Rational): boolean {
    return this.compare(other) <= 0;
  }

  /** The nearest double, or the one beside it. */
  toNumber(): number {
    const negative = this.#numerator < 0n;
    const size = negative ? -this.#numerator : this.#numerator;
    // Enough bits of the quotient for every bit of a double, whatever the sizes of the two are.
    const shift = Math.max(0, 64 - bitLength(size) + bitLength(this.#denominator));
    const quotient = (size << BigInt(shift)) / this.#denominator;
    const surplus = Math.max(0, bitLength(quotient) - 64);
    const value = Number(quotient >> BigInt(surplus)) * 2 ** (this.#exponent - shift + surplus);
    return negative ? -value : value;
  }

  toString(): string {
    return String(this.toNumber());
  }

  /** For `reduced`, which alone may use it. */
  static raw(numerator: bigint, denominator: bigint, exponent: number): Rational {
    return new Rational(numerator, denominator, exponent);
  }
}

export function least(a: Rational, b: Rational): Rational {
  return a.isAtMost(b) ? a : b;
}

export function most(a: Rational, b: Rational): Rational {
  return a.isAtMost(b) ? b : a;
}

const LONG = 1n << 300n;
const LOW_EXPONENT = -600;

/** Common factors are taken out only when the numbers have become long: that is what costs most. */
function reduced(numerator: bigint, denominator: bigint, exponent: number): Rational {
  if (numerator === 0n) return Rational.raw(0n, 1n, 0);
  if (denominator < LONG && exponent > LOW_EXPONENT) return Rational.raw(numerator, denominator, exponent);
  const twos = trailingZeros(numerator);
  const odd = numerator >> BigInt(twos);
  const common = commonDivisor(odd < 0n ? -odd : odd, denominator);
  return Rational.raw(odd / common, denominator / common, exponent + twos);
}

function commonDivisor(a: bigint, b: bigint): bigint {
  let [x, y] = [a, b];
  while (y !== 0n) [x, y] = [y, x % y];
  return x;
}

function trailingZeros(value: bigint): number {
  return bitLength(value & -value) - 1;
}

function bitLength(value: bigint): number {
  return value === 0n ? 0 : value.toString(2).length;
}
