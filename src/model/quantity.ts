/** An amount of a resource in billionths of its unit: what the API writes as `500m`, `1.5Gi` or `1e3`. */
export type Nanos = bigint;

const NANOS = 1_000_000_000n;
const BINARY_SUFFIXES = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
/** Power of ten of each decimal suffix. */
const DECIMAL_SUFFIXES: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  '': 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const SHAPE = /^([+-]?)(\d+\.?\d*|\.\d+)(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]|[eE][+-]?\d{1,3})?$/;

/**
 * The amount in billionths, rounded away from zero where it is finer than that; `undefined` when the text is not a quantity.
 *
 * Source: staging/src/k8s.io/apimachinery/pkg/api/resource/quantity.go ParseQuantity.
 */
export const parseQuantity = (text: string): Nanos | undefined => {
  const match = SHAPE.exec(text);
  if (!match) return undefined;
  const [, sign, number, suffix = ''] = match;
  const [whole = '', fraction = ''] = number!.split('.');
  const digits = BigInt(`0${whole}${fraction}`);
  const binary = BINARY_SUFFIXES.indexOf(suffix);
  const power = binary >= 0 ? 0 : (DECIMAL_SUFFIXES[suffix] ?? Number(suffix.slice(1)));
  const scale = binary >= 0 ? 1n << (10n * BigInt(binary)) : 1n;
  const exponent = power + 9 - fraction.length;
  const magnitude =
    exponent >= 0 ? digits * scale * 10n ** BigInt(exponent) : divideUp(digits * scale, 10n ** BigInt(-exponent));
  return sign === '-' ? -magnitude : magnitude;
};

/** The amount of a quantity that has been validated. Errors: throws on text that is not a quantity. */
export const quantity = (text: string): Nanos => {
  const amount = parseQuantity(text);
  if (amount === undefined) throw new Error(`${JSON.stringify(text)} is not a quantity`);
  return amount;
};

export const compareQuantities = (one: string, other: string): -1 | 0 | 1 => {
  const [left, right] = [quantity(one), quantity(other)];
  return left < right ? -1 : left > right ? 1 : 0;
};

/** Whole thousandths, rounded up: CPU shares and quotas are computed from these. */
export const milliValue = (amount: Nanos): number => Number(divideUp(amount, 1_000_000n));

/** Whole units, rounded up: bytes, for memory and storage. */
export const unitValue = (amount: Nanos): bigint => divideUp(amount, NANOS);

/**
 * The shortest canonical text: binary suffixes for whole multiples of 1024 if `format` is `BinarySI`, else powers of a
 * thousand.
 */
export const formatQuantity = (amount: Nanos, format: 'DecimalSI' | 'BinarySI' = 'DecimalSI'): string => {
  if (amount === 0n) return '0';
  if (format === 'BinarySI' && amount % NANOS === 0n) {
    let units = amount / NANOS;
    let step = 0;
    while (units % 1024n === 0n && step < BINARY_SUFFIXES.length - 1) {
      units /= 1024n;
      step += 1;
    }
    return `${units}${BINARY_SUFFIXES[step]}`;
  }
  let units = amount;
  let power = -9;
  while (units % 1000n === 0n && power < 18) {
    units /= 1000n;
    power += 3;
  }
  const suffix = Object.entries(DECIMAL_SUFFIXES).find(([, exponent]) => exponent === power)![0];
  return `${units}${suffix}`;
};

/** Away from zero, as the API rounds amounts that are too fine. */
const divideUp = (amount: bigint, divisor: bigint): bigint => {
  const quotient = amount / divisor;
  if (amount % divisor === 0n) return quotient;
  return amount < 0n ? quotient - 1n : quotient + 1n;
};
