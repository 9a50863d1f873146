import { styleText } from 'node:util';
import { pino } from 'pino';
import type { Logger } from '../streams/ports.js';

export interface LoggerOptions {
  /** `-v`: from 4 on also what only a developer asks for. */
  readonly verbosity: number;
  /** Short lines for a person instead of JSON. */
  readonly forPeople: boolean;
  /** Takes one line with its newline, at once. */
  readonly write: (line: string) => void;
}

/** Fields whose values are credentials, wherever the log might get them from. */
const SECRET = ['headers', 'header', 'staticPodURLHeader', 'authorization', 'password', 'token', 'auth'];

/**
 * A logger that writes every line before it returns, so that nothing is lost with the process. Errors in fields appear with
 * their message; values of credentials appear as `***`.
 */
export const createLogger = ({ verbosity, forPeople, write }: LoggerOptions): Logger => {
  const level = verbosity >= 4 ? 'debug' : 'info';
  const output = forPeople ? (line: string) => write(humanLine(line)) : write;
  const logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      messageKey: 'message',
      redact: { paths: SECRET.flatMap((name) => [name, `*.${name}`]), censor: '***' },
      serializers: { error: (error: unknown) => (error instanceof Error ? error.message : error) },
    },
    { write: output },
  );
  return {
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
  };
};

const COLOURS = { debug: 'gray', info: 'cyan', warn: 'yellow', error: 'red' } as const;

/** `12:04:31 WARN  the message  key=value`: the time of day, since a person watches it live. */
const humanLine = (line: string): string => {
  const { level, time, message, ...fields } = JSON.parse(line) as Record<string, unknown> & {
    readonly level: keyof typeof COLOURS;
    readonly time: string;
    readonly message: string;
  };
  const label = styleText(COLOURS[level], level.toUpperCase().padEnd(5), { stream: process.stderr });
  const details = Object.entries(fields).map(([name, value]) => `${name}=${fieldText(value)}`);
  return `${[time.slice(11, 19), label, message, ...details].join(' ')}\n`;
};

const fieldText = (value: unknown): string =>
  typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
