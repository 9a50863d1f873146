import { closeSync, fstatSync, readdirSync, readFileSync } from 'node:fs';

const CLOSED_BY_EXEC = 0o2000000;
/** The first descriptor of socket activation by systemd; LISTEN_FDS is their count. */
const FIRST = 3;

/**
 * The descriptors that this process was started with, except its input and output and those of socket activation. Has
 * to be called before anything is opened. Node marks the descriptors from 0 on that follow each other, and at least 16,
 * as closed by exec: a marked file or directory is none of Node's own, and a marked pipe or socket may be Node's, but
 * is not inherited by children.
 *
 * Source: opencontainers/runc closes all of them before a container starts; see `CloseExecFrom`.
 */
export const inheritedDescriptors = (): readonly number[] =>
  readdirSync('/proc/self/fd')
    .map(Number)
    .filter((descriptor) => descriptor >= FIRST + handedOver() && isInherited(descriptor));

export const closeDescriptors = (descriptors: readonly number[]): void => {
  for (const descriptor of descriptors)
    try {
      closeSync(descriptor);
    } catch {
      // It is closed.
    }
};

const handedOver = (): number => {
  const { LISTEN_PID, LISTEN_FDS } = process.env;
  return Number(LISTEN_PID) === process.pid && Number(LISTEN_FDS) > 0 ? Number(LISTEN_FDS) : 0;
};

const isInherited = (descriptor: number): boolean => {
  try {
    const flags = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'))?.[1] ?? '';
    if ((Number.parseInt(flags, 8) & CLOSED_BY_EXEC) === 0) return true;
    const stat = fstatSync(descriptor);
    return stat.isFile() || stat.isDirectory();
  } catch {
    // This was the descriptor of the directory that is being read.
    return false;
  }
};
