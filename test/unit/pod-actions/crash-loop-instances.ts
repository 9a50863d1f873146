import { containerHash } from '../../../src/model/pod-actions/container-hash.js';
import type {
  CrashLoopInput,
  CrashLoopVerdict,
  ExitedInstance,
} from '../../../src/model/pod-actions/crash-loop-back-off.js';
import { aContainer, aPod } from '../pods.js';

export const pod = aPod();
export const container = aContainer('web');
export const NANOS_PER_SECOND = 1_000_000_000n;
/** An instance that began and ended at these seconds. */
export const instance = (
  restartCount: number,
  beganAt: number,
  endedAt: number,
  hash = containerHash(container),
): ExitedInstance => ({
  id: `instance-${restartCount}`,
  createdAt: BigInt(beganAt) * NANOS_PER_SECOND,
  finishedAt: BigInt(endedAt) * NANOS_PER_SECOND,
  restartCount,
  exitCode: 1,
  hash,
});
/** What another agent finds: an instance that ended at 1000 s, and was created with `crashes`. */
export const withCrashes = (crashes: number, beganAt = 999): Pick<CrashLoopInput, 'newestExited' | 'shownCrashes'> => ({
  newestExited: instance(crashes, beganAt, 1000),
  shownCrashes: crashes,
});
export const waitSeconds = (verdict: CrashLoopVerdict): number => (verdict.blocked ? verdict.delayMs / 1000 : 0);
