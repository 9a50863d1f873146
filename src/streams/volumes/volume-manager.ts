import {
  auditTime,
  concat,
  concatMap,
  defer,
  EMPTY,
  filter,
  from,
  ignoreElements,
  map,
  merge,
  mergeMap,
  NEVER,
  type Observable,
  type SchedulerLike,
  startWith,
  Subject,
  take,
  tap,
  throwError,
  timeout,
} from 'rxjs';
import type { StateChange } from '../../model/node-state/state-change.js';
import type { Pod } from '../../model/pod/pod.js';
import type { Volume } from '../../model/manifest/volume-defaults.js';
import type { VolumeStatesView } from '../../model/volumes/volume-states.js';
import {
  mountWaitText,
  unmountWaitText,
  VOLUME_WAIT_MS,
  VOLUME_WAIT_TIMED_OUT,
} from '../../model/volumes/volume-texts.js';
import type { KubeletState } from '../sync-loop/kubelet-state.js';
import { exhaustMapLatestBy } from '../operators/exhaust-map-latest.js';
import type { ReferenceChange } from '../ports/pod-references.js';
import { type FailedAttempt, type VolumeOperation, type VolumeRequest, volumeWork } from './volume-work.js';

/** The time after which changed volumes are counted, in milliseconds. */
export const COUNT_MS = 1_000;
/** A container waits for another set-up of its volumes for this time, in milliseconds, then starts on the files from before. */
export const START_PATIENCE_MS = 10_000;

export interface VolumeManagerOptions {
  readonly state: Pick<KubeletState, 'apply' | 'transition$' | 'volumes'>;
  readonly setUp: VolumeOperation;
  readonly tearDown: VolumeOperation;
  /** The volumes that a container of the pod uses. Errors: throws for a volume that is not available here. */
  readonly wantedOf: (pod: Pod) => readonly Volume[];
  /** The volumes that may exist of a pod, by what the disk has of it. */
  readonly foundOf: (uid: string) => Observable<readonly Volume[]>;
  /** Whether each sync of the pod sets the volume up again. */
  readonly isUpdated: (volume: Volume) => boolean;
  /** Whether the content of the volume comes from this object. */
  readonly usesObject: (pod: Pod, volume: Volume, object: ReferenceChange) => boolean;
  /** Objects whose content has changed. */
  readonly changed$?: Observable<ReferenceChange>;
  readonly failed: (attempt: FailedAttempt) => void;
  /** Called after changes, at most once in `COUNT_MS`. */
  readonly counted?: (states: Pick<VolumeStatesView, 'all'>) => void;
  readonly scheduler: SchedulerLike;
}

export interface VolumeManager {
  /** See `PodVolumes`. */
  readonly mount: (pod: Pod) => Observable<never>;
  /**
   * Requests another set-up of volumes of the pod, and completes when each is `isDone` or its last attempt has failed, after
   * `START_PATIENCE_MS` at the latest. Errors: none.
   */
  readonly setUpAgain: (
    uid: string,
    volumes: readonly string[],
    isDone: (volume: string) => boolean,
  ) => Observable<never>;
  /** See `PodVolumes`. */
  readonly leave: (uid: string) => void;
  /** Takes down all volumes of the pod that exist. See `PodVolumes`. */
  readonly unmount: (pod: Pod) => Observable<never>;
  /** Runs the operations: one at a time per volume. Emits nothing and never ends. Errors: none. */
  readonly run$: Observable<never>;
}

/**
 * Brings the volumes of the node to what its pods want: `groupBy` per volume, with one serial worker for each that always acts on
 * the newest desired state. A pod waits for its own volumes only.
 *
 * Source: pkg/kubelet/volumemanager/volume_manager.go
 */
export const volumeManager = (options: VolumeManagerOptions): VolumeManager => {
  const { state, counted, wantedOf, foundOf, isUpdated, usesObject, changed$ = NEVER, scheduler } = options;
  const { apply, volumes: states } = state;
  const request$ = new Subject<VolumeRequest>();
  /** The UIDs of the pods of volumes of which an operation was begun or attempted. */
  const change$ = state.transition$.pipe(map(({ change }) => operatedPod(change)));

  const usersOf = (object: ReferenceChange): readonly VolumeRequest[] =>
    states.wantedPods().flatMap((pod) =>
      wantedOf(pod)
        .filter((volume) => usesObject(pod, volume, object))
        .map(({ name }) => ({ uid: pod.metadata.uid, volume: name, isUrgent: true })),
    );

  /** Completes once `isDone`; continues with `late$` after `longestMs`. */
  const within = (longestMs: number, uid: string, isDone: () => boolean, late$: Observable<never>): Observable<never> =>
    change$.pipe(
      filter((changed) => changed === uid),
      startWith(uid),
      filter(isDone),
      take(1),
      timeout({ first: longestMs, with: () => late$, scheduler }),
      ignoreElements(),
    );
  /** Completes once `isDone`; errors with the text of what is missing after the longest wait. */
  const until = (uid: string, isDone: () => boolean, tooLate: () => string): Observable<never> =>
    within(
      VOLUME_WAIT_MS,
      uid,
      isDone,
      throwError(() => new Error(tooLate())),
    );

  const mount = (pod: Pod): Observable<never> =>
    defer(() => {
      const { uid } = pod.metadata;
      const volumes = wantedOf(pod);
      const isOpposite = !states.isWanted(uid);
      apply({ kind: 'volumes-wanted', pod, volumes });
      const due = volumes.filter((volume) => !states.isMounted(uid, volume.name) || isUpdated(volume));
      const request = (): void => {
        for (const { name } of due) request$.next({ uid, volume: name, isUrgent: isOpposite });
      };
      return concat(
        defer(() => {
          request();
          return EMPTY;
        }),
        until(
          uid,
          () => states.areAllMounted(uid),
          () => {
            const unmounted = namesOf(states.notMounted(uid));
            return mountWaitText({ unmounted, unattached: [], unprocessed: [] }, VOLUME_WAIT_TIMED_OUT);
          },
        ),
      );
    });

  const setUpAgain: VolumeManager['setUpAgain'] = (uid, volumes, isDone) =>
    defer(() => {
      const missing = (): readonly string[] =>
        volumes.filter((volume) => !isDone(volume) && states.failures(uid, volume) === 0);
      for (const volume of missing()) request$.next({ uid, volume });
      return within(START_PATIENCE_MS, uid, () => missing().length === 0, EMPTY);
    });

  const unmount = (pod: Pod): Observable<never> =>
    foundOf(pod.metadata.uid).pipe(
      concatMap((volumes) => {
        const { uid } = pod.metadata;
        apply({ kind: 'volumes-unwanted', pod, volumes });
        for (const { name } of states.known(uid)) request$.next({ uid, volume: name, isUrgent: true });
        return until(
          uid,
          () => !states.hasAny(uid) || states.isWanted(uid),
          () => unmountWaitText(namesOf(states.known(uid)), VOLUME_WAIT_TIMED_OUT),
        );
      }),
    );

  const work = volumeWork(options);
  return {
    mount,
    setUpAgain,
    leave: (uid) => void apply({ kind: 'volumes-ending', uid }),
    unmount,
    run$: merge(
      merge(request$, changed$.pipe(mergeMap((object) => from(usersOf(object))))).pipe(
        exhaustMapLatestBy(
          ({ uid, volume }) => `${uid}/${volume}`,
          work,
          ({ isUrgent = false }) => isUrgent,
        ),
      ),
      change$.pipe(
        filter((uid) => uid !== undefined),
        auditTime(COUNT_MS, scheduler),
        tap(() => counted?.(states)),
        ignoreElements(),
      ),
    ),
  };
};

/** The pod of a volume, if the change is about an operation on it. */
const operatedPod = (change: StateChange): string | undefined => {
  switch (change.kind) {
    case 'volume-mounted':
    case 'volume-unmounting':
    case 'volume-unmounted':
    case 'volume-failed':
      return change.uid;
    default:
      return undefined;
  }
};

const namesOf = (volumes: readonly { readonly name: string }[]): readonly string[] => volumes.map(({ name }) => name);
