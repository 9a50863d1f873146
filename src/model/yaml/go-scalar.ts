/** The value of a scalar, by the name of its tag. Integers keep all of their 64 bits. */
export type GoScalar =
  | { readonly type: 'str'; readonly value: string }
  | { readonly type: 'int'; readonly value: bigint }
  | { readonly type: 'float'; readonly value: number }
  | { readonly type: 'bool'; readonly value: boolean }
  | { readonly type: 'null'; readonly value: null };

const words = (scalar: GoScalar, ...texts: readonly string[]) => texts.map((text) => [text, scalar] as const);
const float = (value: number): GoScalar => ({ type: 'float', value });

const WORDS: ReadonlyMap<string, GoScalar> = new Map([
  ...words({ type: 'bool', value: true }, 'y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'),
  ...words({ type: 'bool', value: false }, 'n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'),
  ...words({ type: 'null', value: null }, '', '~', 'null', 'Null', 'NULL'),
  ...words(float(Number.NaN), '.nan', '.NaN', '.NAN'),
  ...words(float(Number.POSITIVE_INFINITY), '.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF'),
  ...words(float(Number.NEGATIVE_INFINITY), '-.inf', '-.Inf', '-.INF'),
]);

const INTEGER = /^([+-]?)(?:0x([0-9a-f]+)|0b([01]+)|0o?([0-7]+)|(0|[1-9][0-9]*))$/i;
const FLOAT = /^[+-]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:e[+-]?[0-9]+)?$/i;
/** 64 bits in base 2, and some more. */
const LONGEST_INTEGER = 70;
export const INT64_MAX = 2n ** 63n - 1n;
const UINT64_MAX = 2n ** 64n - 1n;
const INT64_MIN = -(2n ** 63n);

/**
 * Returns the value of a scalar without quotes and tag. Times, numbers of base 60, and numbers beyond 64 bits are text.
 *
 * Source: gopkg.in/yaml.v2 resolve, strconv.ParseInt with base 0, strconv.ParseFloat.
 */
export const resolveGoScalar = (text: string): GoScalar => {
  const word = WORDS.get(text);
  if (word) return word;
  const first = text.charAt(0);
  if (first === '.') return floatOf(text) ?? { type: 'str', value: text };
  if (!/[0-9+-]/.test(first)) return { type: 'str', value: text };
  const digits = text.includes('_') ? text.replaceAll('_', '') : text;
  return integerOf(digits) ?? floatOf(digits) ?? { type: 'str', value: text };
};

const integerOf = (text: string): GoScalar | undefined => {
  const match = text.length <= LONGEST_INTEGER ? INTEGER.exec(text) : undefined;
  if (!match) return undefined;
  const magnitude = BigInt(magnitudeOf(match));
  const sign = match[1];
  const value = sign === '-' ? -magnitude : magnitude;
  // An unsigned number of 64 bits must not have a plus sign either.
  const largest = sign === '+' ? INT64_MAX : UINT64_MAX;
  return value > largest || value < INT64_MIN ? undefined : { type: 'int', value };
};

const magnitudeOf = ([, , hex, binary, octal, decimal]: RegExpExecArray): string => {
  if (hex !== undefined) return `0x${hex}`;
  if (binary !== undefined) return `0b${binary}`;
  return octal === undefined ? decimal! : `0o${octal}`;
};

const floatOf = (text: string): GoScalar | undefined => {
  if (!FLOAT.test(text)) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? float(value) : undefined;
};

/**
 * Formats a number as the name of a field: the shortest text that identifies it among numbers of 32 bits.
 *
 * Source: sigs.k8s.io/yaml convertToJSONableObject, which formats with 'g' and 32 bits.
 */
export const goFloatKey = (value: number): string => {
  if (Number.isNaN(value)) return '.nan';
  if (!Number.isFinite(Math.fround(value))) return value > 0 ? '.inf' : '-.inf';
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  let digits = 1;
  while (Math.fround(Number(value.toPrecision(digits))) !== Math.fround(value) && digits < 9) digits += 1;
  const [mantissa = '', exponent = '0'] = value.toExponential(digits - 1).split('e');
  const power = Number(exponent);
  if (power >= -4 && power < 6) return String(Number(`${mantissa}e${exponent}`));
  return `${mantissa}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
};
