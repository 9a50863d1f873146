import { nowNs } from '../machine/clock.js';
import type { Container } from './container.js';
import { exitCodeOf, ioFiles, startErrorOf } from '../launch/launcher.js';
import { statSync } from '../machine/machine.js';
import type { ContainerRecord } from '../state/state-store.js';

const UNKNOWN_EXIT = { exitCode: 255, reason: 'Unknown' } as const;

/**
 * The part of the record that describes the end of a container, from the files of its last start. Without an exit code in them the
 * code is 255, or 128 for a container that never ran.
 *
 * Errors: the files cannot be read.
 */
export const containerEnd = (container: Container, ioDirectory: string): Partial<ContainerRecord> => {
  const io = ioFiles(ioDirectory);
  const exitCode = exitCodeOf(io.directory);
  const startedAt = BigInt(container.record.startedAt ?? 0);
  if (container.record.startedAt === undefined)
    return {
      exitCode: 128,
      reason: 'StartError',
      message: container.startError ?? startErrorOf(io.directory),
      finishedAt: String(nowNs()),
    };
  if (exitCode === undefined) {
    const message = container.supervisorExit
      ? "the container's supervisor was killed; the exit code is unknown"
      : 'the container ended while the runtime was not running; its exit code is unknown';
    return { ...UNKNOWN_EXIT, message, finishedAt: String(nowNs()) };
  }
  const writtenAt = statSync(io.exit, { bigint: true }).mtimeNs;
  const finishedAt = String(writtenAt > startedAt ? writtenAt : startedAt);
  const isStartError = exitCode === 128 && hasFile(io.startError);
  if (isStartError) return { exitCode, reason: 'StartError', message: startErrorOf(io.directory), finishedAt };
  if (exitCode === 137 && container.cgroup?.wasOutOfMemory()) return { exitCode, reason: 'OOMKilled', finishedAt };
  return { exitCode, reason: exitCode === 0 ? 'Completed' : 'Error', finishedAt };
};

const hasFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined;
