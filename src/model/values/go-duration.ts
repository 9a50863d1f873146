const NANOS_PER: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
/** In nanoseconds. */
const LONGEST = 2n ** 63n - 1n;
const SHAPE = /^[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/;
const PART = /(\d*)\.?(\d*)(ns|us|µs|μs|ms|s|m|h)/g;

/** Milliseconds as Go prints a duration: `10s`, `1m20s`, `5m0s`, `1.5s`, `300ms`. Source: time.Duration.String of Go. */
export const formatGoDuration = (milliseconds: number): string => {
  const signed = BigInt(Math.trunc(milliseconds)) * NANOS_PER.ms! + BigInt(Math.round((milliseconds % 1) * 1e6));
  const nanos = signed < 0n ? -signed : signed;
  const sign = signed < 0n ? '-' : '';
  if (nanos === 0n) return '0s';
  if (nanos < NANOS_PER.us!) return `${sign}${nanos}ns`;
  if (nanos < NANOS_PER.ms!) return `${sign}${decimal(nanos, 3)}µs`;
  if (nanos < NANOS_PER.s!) return `${sign}${decimal(nanos, 6)}ms`;
  const hours = nanos / NANOS_PER.h!;
  const minutes = (nanos % NANOS_PER.h!) / NANOS_PER.m!;
  const seconds = `${decimal(nanos % NANOS_PER.m!, 9)}s`;
  if (hours > 0n) return `${sign}${hours}h${minutes}m${seconds}`;
  return minutes > 0n ? `${sign}${minutes}m${seconds}` : `${sign}${seconds}`;
};

/**
 * Returns the milliseconds of a duration as Go reads it, such as `1h30m` or `1.5s`; `undefined` for any other text. The
 * units are h, m, s, ms, us and ns; only a zero needs none. Durations from 292 years on are refused. Source:
 * time.ParseDuration of Go.
 */
export const parseGoDuration = (text: string): number | undefined => {
  if (/^[+-]?0$/.test(text)) return 0;
  if (!SHAPE.test(text)) return undefined;
  const nanos = [...text.matchAll(PART)].reduce((sum, [, whole = '', fraction = '', unit = '']) => {
    const scale = 10n ** BigInt(fraction.length);
    return sum + (BigInt(`0${whole}${fraction}`) * NANOS_PER[unit]!) / scale;
  }, 0n);
  const isNegative = text.startsWith('-');
  if (nanos > (isNegative ? LONGEST + 1n : LONGEST)) return undefined;
  const milliseconds = Number(nanos / NANOS_PER.ms!) + Number(nanos % NANOS_PER.ms!) / 1e6;
  return isNegative ? -milliseconds : milliseconds;
};

const decimal = (value: bigint, digits: number): string => {
  const scale = 10n ** BigInt(digits);
  const fraction = (value % scale).toString().padStart(digits, '0').replace(/0+$/, '');
  return fraction === '' ? `${value / scale}` : `${value / scale}.${fraction}`;
};
