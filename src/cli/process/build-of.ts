import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

const DIGITS = 12;

/**
 * Names the build of this program: its version, and a hash of its first file, in which the names of all its other files have hashes in them. Has to
 * be called at the start: another version may be at the place of the file later. Errors: the file cannot be read.
 */
export const buildOf = (version: string, program = process.argv[1] ?? ''): string =>
  `${version}+${createHash('sha256').update(readFileSync(program)).digest('hex').slice(0, DIGITS)}`;
