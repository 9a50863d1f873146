import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const newer = fileURLToPath(new URL('stage/newer.sh', import.meta.url));
let path: Promise<string> | undefined;

/**
 * The path of a containerd that tells of events, which that of Debian 12 does not; fetched once for the machine, whoever asks
 * first. The variable NEWER_CONTAINERD names another one. Errors: what apt says.
 */
export const newerContainerd = (): Promise<string> =>
  (path ??= process.env.NEWER_CONTAINERD
    ? Promise.resolve(process.env.NEWER_CONTAINERD)
    : promisify(execFile)(newer).then(({ stdout }) => stdout.trim()));
