import {
  catchError,
  concat,
  concatMap,
  defer,
  filter,
  from,
  ignoreElements,
  mergeMap,
  type Observable,
  of,
  type SchedulerLike,
  take,
  takeUntil,
  tap,
  throwError,
  throwIfEmpty,
  timer,
} from 'rxjs';
import type { Admit } from '../../model/admission/rejection.js';
import { errorText } from '../../model/cri/cri-error.js';
import { formatPod, type Pod, podRef } from '../../model/pod/pod.js';
import type { PodConfigUpdate } from '../../model/config/pod-config.js';
import { newestStatusOf, type RuntimePodStatus } from '../../model/pleg/runtime-pod.js';
import type { PodWork } from '../pod-workers/pod-workers.js';
import type { RecordEvent } from '../ports/record-event.js';
import type { RecordJournal } from '../ports/record-journal.js';
import type { RuntimeReader } from '../pleg/runtime-reader.js';

/** Source: pkg/kubelet/runonce.go of the 1.22 era. */
export const MANIFEST_WAIT_MS = 1_000;
export const FIRST_DELAY_MS = 1_000;
const DELAY_FACTOR = 2;
const RETRIES = 10;

export interface RunOnceOptions {
  readonly config$: Observable<PodConfigUpdate>;
  readonly work: Pick<PodWork, 'syncPod'>;
  readonly reader: Pick<RuntimeReader, 'podStatus'>;
  readonly admit: Admit;
  readonly record: RecordJournal;
  readonly recordEvent: RecordEvent;
  readonly scheduler: SchedulerLike;
}

/** The result for one pod. A rejected pod is no error. */
export interface RunOnceResult {
  readonly pod: Pod;
  readonly rejected?: string;
  readonly error?: Error;
}

/** Some pods of a single run did not start. */
export class RunOnceError extends Error {
  override readonly name = 'RunOnceError';
}

/**
 * Starts the pods of the first update and leaves them running. Emits one result per pod, the rejected first, then the others as they
 * start. Later updates are ignored; no pod is watched or stopped.
 *
 * Errors: `RunOnceError` if no update arrives within a second, and after the last result if any pod failed.
 * Ends:   with the last result.
 * Source: pkg/kubelet/runonce.go of the 1.22 era; newer kubelets no longer have it.
 */
export const runOnce = (options: RunOnceOptions): Observable<RunOnceResult> =>
  defer(() => {
    const failed: string[] = [];
    const first$ = options.config$.pipe(
      filter((update) => update.kind === 'pods'),
      take(1),
      takeUntil(timer(MANIFEST_WAIT_MS, options.scheduler)),
    );
    return first$.pipe(
      throwIfEmpty(() => new RunOnceError('no pod manifest update after 1s')),
      concatMap(({ pods }) => {
        const { admitted, rejected } = admitInTurn(pods, options);
        return concat(
          from(rejected),
          from(admitted).pipe(mergeMap((pod) => bringUp(pod, options))),
          defer(() =>
            failed.length > 0
              ? throwError(() => new RunOnceError(`error running pods: [${failed.join(', ')}]`))
              : from<RunOnceResult[]>([]),
          ),
        );
      }),
      tap(({ pod, error }) => {
        if (error) failed.push(formatPod(pod));
      }),
    );
  });

/** Admits one pod after the other, each beside the pods that are admitted already. */
const admitInTurn = (
  pods: readonly Pod[],
  { admit, recordEvent }: RunOnceOptions,
): { readonly admitted: readonly Pod[]; readonly rejected: readonly RunOnceResult[] } => {
  const admitted: Pod[] = [];
  const rejected: RunOnceResult[] = [];
  for (const pod of pods) {
    const rejection = admit(pod, admitted);
    if (!rejection) {
      admitted.push(pod);
      continue;
    }
    const { reason, message } = rejection;
    recordEvent({ pod, type: 'Warning', reason, message, causes: [] });
    rejected.push({ pod, rejected: message });
  }
  return { admitted, rejected };
};

const bringUp = (pod: Pod, options: RunOnceOptions): Observable<RunOnceResult> => {
  const attempt = (retry: number, delayMs: number): Observable<RunOnceResult> =>
    options.reader.podStatus(podRef(pod)).pipe(
      catchError((error: unknown) => {
        throw new RunOnceError(`unable to get status for pod "${formatPod(pod)}": ${errorText(error)}`);
      }),
      concatMap((status) => {
        if (allRunning(pod, status)) return of<RunOnceResult>({ pod });
        return concat(
          sync(pod, status, options),
          defer(() => {
            if (retry < RETRIES) return timer(delayMs, options.scheduler).pipe(ignoreElements());
            const problem = `pod "${formatPod(pod)}" containers not running after ${RETRIES} retries`;
            return throwError(() => new RunOnceError(`timeout error: ${problem}`));
          }),
          defer(() => attempt(retry + 1, delayMs * DELAY_FACTOR)),
        );
      }),
    );
  return attempt(0, FIRST_DELAY_MS).pipe(
    catchError((error: unknown) =>
      of<RunOnceResult>({ pod, error: error instanceof Error ? error : new Error(String(error)) }),
    ),
  );
};

/** Ignores init containers. A completed container does not count as running. */
const allRunning = (pod: Pod, status: RuntimePodStatus): boolean =>
  pod.spec.containers.every(({ name }) => newestStatusOf(status, name)?.state === 'running');

const sync = (pod: Pod, status: RuntimePodStatus, { work, record }: RunOnceOptions): Observable<never> => {
  const { uid } = pod.metadata;
  const cause = record({ kind: 'sync-started', work: 'sync', trigger: 'run-once', pod: podRef(pod), causes: [] });
  const run = {
    uid,
    work: 'sync',
    type: 'update',
    pod,
    status,
    isFirst: true,
    lastSyncAt: 0,
    causes: [cause],
  } as const;
  return work.syncPod(run, new AbortController().signal).pipe(
    ignoreElements(),
    catchError((error: unknown) => {
      throw new RunOnceError(`error syncing pod "${formatPod(pod)}": ${errorText(error)}`);
    }),
  );
};
