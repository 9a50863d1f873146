import { styleText } from 'node:util';
import { pino } from 'pino';
import type { Logger } from '../../streams/ports/logger.js';

/** One JSON object, a short line for a terminal, or such a line with its date for a file. */
export type LogForm = 'json' | 'terminal' | 'text';

/** The form that `logging.format` names; without it, the form that suits the output. */
export const logForm = (format: string, isTerminal: boolean): LogForm => {
  if (format === 'json') return 'json';
  if (isTerminal) return 'terminal';
  return format === 'text' ? 'text' : 'json';
};

export interface LevelledLogger extends Logger {
  /** Changes the verbosity from now on. */
  readonly setVerbosity: (verbosity: number) => void;
}

export interface LoggerOptions {
  /** `-v`: from 4 on it includes messages for developers. */
  readonly verbosity: number;
  readonly form: LogForm;
  /** Writes one line with its newline, synchronously. */
  readonly write: (line: string) => void;
}

/** Fields whose values are credentials, wherever they occur. */
const SECRET = ['headers', 'header', 'staticPodURLHeader', 'authorization', 'password', 'token', 'auth'];

/**
 * A logger that writes every line synchronously, so that no line is lost when the process ends. Errors in fields appear
 * with their message; values of credentials appear as `***`.
 */
export const createLogger = ({ verbosity, form, write }: LoggerOptions): LevelledLogger => {
  const levelOf = (value: number): 'debug' | 'info' => (value >= 4 ? 'debug' : 'info');
  const output = form === 'json' ? write : (line: string) => write(humanLine(line, form === 'text'));
  const logger = pino(
    {
      level: levelOf(verbosity),
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
    setVerbosity: (value) => void (logger.level = levelOf(value)),
  };
};

const COLOURS = { debug: 'gray', info: 'cyan', warn: 'yellow', error: 'red' } as const;

/** `12:04:31 WARN  the message  key=value`: the time of day is enough for a user who watches the terminal. */
const humanLine = (line: string, withDate: boolean): string => {
  const { level, time, message, ...fields } = JSON.parse(line) as Record<string, unknown> & {
    readonly level: keyof typeof COLOURS;
    readonly time: string;
    readonly message: string;
  };
  const label = styleText(COLOURS[level], level.toUpperCase().padEnd(5), { stream: process.stderr });
  const details = Object.entries(fields).map(([name, value]) => `${name}=${fieldText(value)}`);
  return `${[withDate ? time : time.slice(11, 19), label, message, ...details].join(' ')}\n`;
};

const fieldText = (value: unknown): string =>
  typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
