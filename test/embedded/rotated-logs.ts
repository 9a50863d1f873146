import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { type LogLine, parseLogLine } from '../../src/model/cri/log-line.js';

/** Names of the files that a log has been rotated into, oldest first. Those that are only just being compressed count once. */
export const rotatedNames = (logPath: string): string[] => {
  const names = readdirSync(dirname(logPath)).filter((name) => name.startsWith(`${basename(logPath)}.`));
  return names.filter((name) => !name.endsWith('.tmp') && !names.includes(`${name}.gz`)).toSorted();
};

/**
 * What a container wrote, line by line, from the oldest file of its log to the newest. Errors: a line that is none; a file
 * that was rotated meanwhile, so that the files have to be read again.
 */
export const linesOver = (logPath: string): LogLine[] => {
  const before = rotatedNames(logPath);
  const texts = [...before, basename(logPath)].map((name) => {
    const bytes = readFileSync(join(dirname(logPath), name));
    return (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString();
  });
  if (rotatedNames(logPath).join() !== before.join()) throw new Error(`${logPath} was rotated while it was read`);
  return texts
    .join('')
    .split('\n')
    .slice(0, -1)
    .map((line) => {
      const parsed = parseLogLine(line);
      if (!parsed) throw new Error(`not a line of a log: ${JSON.stringify(line)}`);
      return parsed;
    });
};

/** The same without what the log adds. */
export const writtenOver = (logPath: string): string[] => linesOver(logPath).map(({ content }) => content);

/** A shell script that writes `lines` numbered lines of 100 bytes to a log, not all at once, and then does `after`. */
export const writeLines = (count: number, after: string): string =>
  `i=0; while [ $i -lt ${count} ]; do i=$((i + 1)); printf 'line %05d %045d\\n' $i 0; ` +
  `if [ $((i % 50)) = 0 ]; then sleep 0.1; fi; done; ${after}`;

export const linesWritten = (from: number, to: number): string[] =>
  Array.from(
    { length: to - from + 1 },
    (_, index) => `line ${String(from + index).padStart(5, '0')} ${'0'.repeat(45)}`,
  );
