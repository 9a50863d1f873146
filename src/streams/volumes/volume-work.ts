import { defer, EMPTY, fromEvent, type Observable, of, retry, type SchedulerLike, takeUntil, tap, timer } from 'rxjs';
import { errorText } from '../../model/cri/cri-error.js';
import type { Pod } from '../../model/pod/pod.js';
import type { Volume } from '../../model/manifest/volume-defaults.js';
import { type Backoff, nextDelay } from '../../model/values/back-off.js';
import type { KubeletState } from '../sync-loop/kubelet-state.js';
import type { Project } from '../operators/exhaust-map-latest.js';

/** The waits after failed attempts of one volume. Source: pkg/util/goroutinemap/exponentialbackoff */
export const VOLUME_BACKOFF: Backoff = { initialMs: 500, maxMs: 122_000 };

/** A request to bring one volume to its desired state. */
export interface VolumeRequest {
  readonly uid: string;
  /** The name of the volume in the pod. */
  readonly volume: string;
  /** A wait after a failure ends with this request: what the volume needs has changed, or the opposite is desired. */
  readonly isUrgent?: boolean;
}

/** One attempt of an operation on a volume. Emits nothing, and may be repeated. */
export type VolumeOperation = (pod: Pod, volume: Volume) => Observable<never>;

export interface VolumeWorkOptions {
  readonly state: Pick<KubeletState, 'apply' | 'volumes'>;
  /** Sets the volume up, or brings its content up to date. */
  readonly setUp: VolumeOperation;
  readonly tearDown: VolumeOperation;
  /** Called after each failed attempt, before the wait of `delayMs`. */
  readonly failed: (attempt: FailedAttempt) => void;
  readonly scheduler: SchedulerLike;
}

export interface FailedAttempt {
  readonly pod: Pod;
  readonly volume: Volume;
  readonly step: 'mount' | 'unmount';
  /** Containers have the volume; its files could not be brought up to date. */
  readonly isUpdate: boolean;
  readonly error: unknown;
  /** Failed attempts in a row, with this one. */
  readonly failures: number;
  /** Milliseconds until the next attempt. */
  readonly delayMs: number;
}

/**
 * The work of the serial worker of one volume: attempts what the state desires at that moment until one attempt succeeds, with a
 * growing wait between two of them. The signal ends a wait, never an attempt.
 *
 * Errors: none.
 * Ends:   after a success; when there is nothing to do; when the signal fires during a wait.
 * Source: pkg/kubelet/volumemanager/reconciler, pkg/volume/util/nestedpendingoperations
 */
export const volumeWork =
  ({
    state: { apply, volumes: states },
    setUp,
    tearDown,
    failed,
    scheduler,
  }: VolumeWorkOptions): Project<VolumeRequest, never> =>
  ({ uid, volume: name }, signal) => {
    let delayMs = 0;
    const attempt$ = defer(() => {
      const pod = states.pod(uid);
      const volume = states.volume(uid, name);
      if (!pod || !volume) return EMPTY;
      const step = states.isWanted(uid) ? 'mount' : 'unmount';
      if (step === 'mount' && states.isEnding(uid)) return EMPTY;
      if (step === 'unmount') apply({ kind: 'volume-unmounting', uid, volume: name });
      const operation$ = defer(() => (step === 'mount' ? setUp(pod, volume) : tearDown(pod, volume)));
      return operation$.pipe(
        tap({
          complete: () => apply({ kind: step === 'mount' ? 'volume-mounted' : 'volume-unmounted', uid, volume: name }),
          error: (error: unknown) => {
            apply({ kind: 'volume-failed', uid, volume: name, error: errorText(error) });
            const failures = states.failures(uid, name);
            delayMs = nextDelay(VOLUME_BACKOFF, failures);
            const isUpdate = step === 'mount' && states.isMounted(uid, name);
            failed({ pod, volume, step, isUpdate, error, failures, delayMs });
          },
        }),
      );
    });
    const signal$ = defer(() => (signal.aborted ? of(true) : fromEvent(signal, 'abort')));
    return attempt$.pipe(retry({ delay: () => timer(delayMs, scheduler).pipe(takeUntil(signal$)) }));
  };
