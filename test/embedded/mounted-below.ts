import { readFileSync } from 'node:fs';

/** The mount points below a directory, innermost first. */
export const mountedBelow = (directory: string): readonly string[] =>
  readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '')
    .filter((path) => path.startsWith(`${directory}/`))
    .toReversed();
