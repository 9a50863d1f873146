import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe } from 'vitest';
import { lackingForContainerd as missing } from './lacking.js';
import { overContainerd } from './missing.js';

const newer = fileURLToPath(new URL('stage/newer.sh', import.meta.url));
let path: Promise<string> | undefined;

/**
 * The path of a containerd that reports events, which that of Debian 12 does not; fetched once for the machine, by the first
 * caller. The variable NEWER_CONTAINERD names another one. Errors: what apt says.
 */
export const newerContainerd = (): Promise<string> =>
  (path ??= process.env.NEWER_CONTAINERD
    ? Promise.resolve(process.env.NEWER_CONTAINERD)
    : promisify(execFile)(newer).then(({ stdout }) => stdout.trim()));

/** Why there is none. */
const problem =
  missing.length > 0
    ? undefined
    : await newerContainerd().then(
        () => undefined,
        (error: unknown) => String(error),
      );

/** Tests over that one. Where it is not available they are skipped, and that is said; in CI they fail instead. */
export const overNewerContainerd = (name: string, tests: () => void, { alone = false } = {}): void => {
  if (problem === undefined || process.env.CI === 'true') return overContainerd(name, tests, { alone });
  console.warn(`SKIPPED, not tested over a newer containerd: ${name}. ${problem}`);
  describe.skip(`over a newer containerd, ${name} (skipped: it could not be fetched)`, tests);
};
