/** An amount of a resource in billionths of its unit. The API writes it as `500m`, `1.5Gi` or `1e3`. */
export type Nanos = bigint;

const NANOS = 1_000_000_000n;
const NANOS_PER_MILLI = 1_000_000n;
const MOST_MILLIS = BigInt(Number.MAX_SAFE_INTEGER);
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
/** Upstream also reads `Mi` alone, as zero. Here it is refused, since a limit of zero is no limit. */
const SHAPE = /^([+-]?)(\d+(?:\.\d*)?|\.\d+)(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]|[eE][+-]?\d{1,3})?$/;

/**
 * Returns the amount in billionths, rounded away from zero if it is finer; `undefined` if the text is not a quantity.
 *
 * Source: staging/src/k8s.io/apimachinery/pkg/api/resource/quantity.go ParseQuantity.
 */
export const parseQuantity = (text: string): Nanos | undefined => {
  const match = SHAPE.exec(text);
  if (!match) return undefined;
  const [, sign, number, suffix = ''] = match;
  const [whole, fraction] = boundDigits(number!);
  const digits = BigInt(`0${whole}${fraction}`);
  const binary = BINARY_SUFFIXES.indexOf(suffix);
  const power = binary >= 0 ? 0 : (DECIMAL_SUFFIXES[suffix] ?? Number(suffix.slice(1)));
  const scale = binary >= 0 ? 1n << (10n * BigInt(binary)) : 1n;
  const exponent = power + 9 - fraction.length;
  const exact =
    exponent >= 0 ? digits * scale * 10n ** BigInt(exponent) : divideUp(digits * scale, 10n ** BigInt(-exponent));
  const magnitude = binary > 0 && exact > LARGEST_BINARY ? LARGEST_BINARY : exact;
  return sign === '-' ? -magnitude : magnitude;
};

/** Upstream keeps amounts with a binary suffix in 64 bits. */
const LARGEST_BINARY = (2n ** 63n - 1n) * NANOS;

/**
 * The most digits. They exceed the largest exponent; reading a longer number takes time that grows faster than its
 * length.
 */
const MOST_DIGITS = 1100;

/**
 * The digits before and after the dot. Beyond the bound, digits before the dot only make the number large, and digits
 * after it only round it up.
 */
const boundDigits = (number: string): readonly [whole: string, fraction: string] => {
  const [digits = '', fraction = ''] = number.split('.');
  const whole = digits.replace(/^0+/, '');
  const rest = fraction.slice(MOST_DIGITS);
  return [
    whole.length > MOST_DIGITS ? '9'.repeat(MOST_DIGITS) : whole,
    fraction.slice(0, MOST_DIGITS) + (/[1-9]/.test(rest) ? '1' : ''),
  ];
};

/** Returns the amount of a validated quantity. Errors: throws on text that is not a quantity. */
export const quantity = (text: string): Nanos => {
  const amount = parseQuantity(text);
  if (amount === undefined) throw new Error(`${JSON.stringify(text)} is not a quantity`);
  return amount;
};

/** Returns the amount, rounded up to whole thousandths of its unit. */
export const roundUpToMillis = (amount: Nanos): Nanos => divideUp(amount, NANOS_PER_MILLI) * NANOS_PER_MILLI;

/**
 * Returns whole thousandths, rounded up, at most `Number.MAX_SAFE_INTEGER`, of which a CPU quota still has 64 bits. CPU
 * shares and quotas are computed from these.
 */
export const milliValue = (amount: Nanos): number => {
  const millis = divideUp(amount, NANOS_PER_MILLI);
  return Number(millis > MOST_MILLIS ? MOST_MILLIS : millis);
};

/** Returns whole units, rounded up. Memory and storage are bytes. */
export const unitValue = (amount: Nanos): bigint => divideUp(amount, NANOS);

/** The format of a quantity: powers of a thousand, powers of 1024, or an exponent. */
export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent';

/** Returns the format of the text of a quantity; DecimalSI if it has no suffix. */
export const formatOf = (text: string): QuantityFormat => {
  if (text.endsWith('i')) return 'BinarySI';
  return /[eE][+-]?\d+$/.test(text) ? 'DecimalExponent' : 'DecimalSI';
};

/**
 * Returns the shortest canonical text. Whole amounts from 1024 on get a binary suffix, other amounts a decimal one.
 *
 * Source: staging/src/k8s.io/apimachinery/pkg/api/resource/quantity.go CanonicalizeBytes.
 */
export const formatQuantity = (amount: Nanos, format: QuantityFormat = 'DecimalSI'): string => {
  if (amount === 0n) return '0';
  const isSmall = amount > -1024n * NANOS && amount < 1024n * NANOS;
  if (format === 'BinarySI' && !isSmall && amount % NANOS === 0n) {
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
  while (units % 1000n === 0n && (power < 18 || format === 'DecimalExponent')) {
    units /= 1000n;
    power += 3;
  }
  if (format === 'DecimalExponent') return power === 0 ? `${units}` : `${units}e${power}`;
  const suffix = Object.entries(DECIMAL_SUFFIXES).find(([, exponent]) => exponent === power)![0];
  return `${units}${suffix}`;
};

/** Rounds away from zero, as the API rounds amounts that are too fine. */
const divideUp = (amount: bigint, divisor: bigint): bigint => {
  const quotient = amount / divisor;
  if (amount % divisor === 0n) return quotient;
  return amount < 0n ? quotient - 1n : quotient + 1n;
};
