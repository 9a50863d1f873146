import { defer, EMPTY, type Observable, type SchedulerLike, takeLast, tap, throwError } from 'rxjs';
import { errorText } from '../../model/cri/cri-error.js';
import type { JournalId, JournalRecord } from '../../model/journal/journal.js';
import type { NodeFacts } from '../../model/node/node-facts.js';
import { type Pod, podRef } from '../../model/pod/pod.js';
import type { PodStartTracker } from '../../model/pod-status/pod-start-tracker.js';
import { SyncCancelled } from '../../model/pod-actions/sync-error.js';
import { slowCallText } from '../../model/journal/call-text.js';
import { tapIfSlow } from '../operators/tap-if-slow.js';
import type { CredentialPorts } from '../ports/credential-ports.js';
import type { HttpRequest } from '../ports/http-request.js';
import type { ImageService } from '../ports/image-service.js';
import type { Logger } from '../ports/logger.js';
import type { Metrics } from '../ports/metrics.js';
import type { NodeFiles } from '../ports/node-files.js';
import type { PodFiles } from '../ports/pod-files.js';
import type { PodReferences } from '../ports/pod-references.js';
import type { Random } from '../ports/random.js';
import type { RecordEvent } from '../ports/record-event.js';
import type { RecordJournal } from '../ports/record-journal.js';
import type { RuntimeClasses } from '../ports/runtime-classes.js';
import type { RuntimeService } from '../ports/runtime-service.js';
import type { WallClock } from '../ports/wall-clock.js';
import type { PullLedger } from '../images/pull-ledger.js';
import type { PullQueue } from '../images/pull-queue.js';
import type { StartQueue } from './start-queue.js';
import type { RecordNodeEvent } from './record-node-event.js';
import type { PodVolumes } from '../volumes/pod-volumes.js';

/** The ports of a sync of a pod. */
export interface PodSyncPorts extends CredentialPorts {
  readonly runtime: RuntimeService;
  readonly images: ImageService;
  /** The queue of pulls, shared by all pods of the node. */
  readonly pullQueue: PullQueue;
  readonly pullLedger: PullLedger;
  /** The queue of starting calls, shared by all pods of the node. */
  readonly startQueue: StartQueue;
  readonly files: NodeFiles;
  readonly httpRequest: HttpRequest;
  /** Absent if the agent knows no classes; then every pod gets the default handler. */
  readonly runtimeClasses?: RuntimeClasses | undefined;
  /** Objects of the API server, or of the source of the pod; absent where pods can refer to none. */
  readonly podReferences?: PodReferences | undefined;
  /** Measures the pulls of pods that start; absent without an API server. */
  readonly podStarts?: Pick<PodStartTracker, 'pullStarted' | 'pullEnded'> | undefined;
  readonly podFiles: PodFiles;
  readonly volumes: PodVolumes;
  readonly random: Random;
  readonly node: NodeFacts;
  readonly record: RecordJournal;
  readonly recordEvent: RecordEvent;
  /** Records each event about the node once, for all pods. */
  readonly recordNodeEvent: RecordNodeEvent;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly scheduler: SchedulerLike;
  readonly wallClock: WallClock;
}

/** One sync of one pod: its pod, its causes and its signal. */
export interface PodSyncContext {
  readonly pod: Pod;
  readonly ports: PodSyncPorts;
  /** The journal entries that every effect of this sync names as its causes. */
  readonly causes: readonly JournalId[];
  /** Fires when a newer update cancels this sync. */
  readonly signal?: AbortSignal;
  /** The cgroup into which the runtime puts the pod; absent if the runtime chooses. */
  readonly cgroupParent?: string;
  /** Receives why the start waits, such as every slow call before its end; `container` is absent for a wait of the whole pod. */
  readonly waitsFor?: (wait: { readonly container?: string; readonly text: string }) => void;
  /** Called when the pod has a new sandbox, and with it a network, before the slow steps such as pulls. */
  readonly sandboxReady?: () => void;
}

/** Returns the context with `cause` as the cause of all further effects. */
export const withCause = (context: PodSyncContext, cause: JournalId): PodSyncContext => ({
  ...context,
  causes: [cause],
});

type WithoutContext<T> = T extends JournalRecord ? Omit<T, 'causes' | 'pod'> : never;

/** Writes a journal entry about the pod of this sync. */
export const journal = ({ pod, ports, causes }: PodSyncContext, event: WithoutContext<JournalRecord>): JournalId =>
  ports.record({ ...event, pod: podRef(pod), causes });

/** Records an event of the Kubernetes API about the pod of this sync, or about one of its containers. */
export const emitEvent = (
  { pod, ports, causes }: PodSyncContext,
  type: 'Normal' | 'Warning',
  reason: string,
  message: string,
  container?: string,
): void => ports.recordEvent({ pod, container, type, reason, message, causes });

/** A call that takes longer is recorded as slow before its end, in milliseconds. */
export const SLOW_CALL_MS = 10_000;

/**
 * Records the end of `call$` in the journal, with its duration and its error, and before its end that it is slow. Used for calls
 * that change something. Emits the answer once the call has ended, so that its effects follow it in the journal. `usualMs` is the
 * usual duration of the call.
 */
export const journaled = <T>(
  context: PodSyncContext,
  call: string,
  {
    target,
    container,
    usualMs = 0,
    isNoCall = () => false,
  }: {
    readonly target?: string;
    readonly container?: string;
    readonly usualMs?: number;
    /** An error by which nothing has happened, such as that the runtime does not know the call: it is not recorded. */
    readonly isNoCall?: (error: unknown) => boolean;
  },
  call$: Observable<T>,
): Observable<T> =>
  defer(() => {
    const { scheduler } = context.ports;
    const startedAt = scheduler.now();
    const end = (error?: string) =>
      journal(context, { kind: 'call', call, target, container, durationMs: scheduler.now() - startedAt, error });
    const late = (): void => {
      const waitedMs = scheduler.now() - startedAt;
      journal(context, { kind: 'call-slow', call, target, container, waitedMs });
      context.waitsFor?.({ container, text: slowCallText(call, waitedMs) });
    };
    return call$.pipe(
      tap({ complete: () => end(), error: (error: unknown) => void (isNoCall(error) || end(errorText(error))) }),
      tapIfSlow(usualMs + SLOW_CALL_MS, late, scheduler),
      takeLast(1),
    );
  });

/** Records in the journal, before its end, that `read$`, a read of the pod from the runtime, is slow. */
export const journalIfSlow = <T>(
  { record, scheduler }: Pick<PodSyncPorts, 'record' | 'scheduler'>,
  about: Pick<JournalRecord, 'pod' | 'causes'>,
  read$: Observable<T>,
): Observable<T> => {
  const late = () => void record({ ...about, kind: 'call-slow', waitedMs: SLOW_CALL_MS });
  return read$.pipe(tapIfSlow(SLOW_CALL_MS, late, scheduler));
};

/** Completes, or errors with `SyncCancelled` once the signal has fired. It stands where a sync may safely end. */
export const throwIfCancelled = ({ signal }: PodSyncContext): Observable<never> =>
  defer(() => (signal?.aborted ? throwError(() => new SyncCancelled()) : EMPTY));
