import { defer, EMPTY, type Observable, type SchedulerLike, takeLast, tap, throwError } from 'rxjs';
import { errorText } from '../../model/cri-error.js';
import type { JournalId, JournalRecord } from '../../model/journal.js';
import type { NodeFacts } from '../../model/node-facts.js';
import { type Pod, podRef } from '../../model/pod.js';
import { SyncCancelled } from '../../model/sync-error.js';
import type {
  CredentialPorts,
  HttpRequest,
  ImageService,
  Logger,
  Metrics,
  NodeFiles,
  PodFiles,
  Random,
  RecordEvent,
  RecordJournal,
  RuntimeService,
  WallClock,
} from '../ports.js';
import type { PullQueue } from '../pull-queue.js';

/** The outside world as a pass over a pod needs it. */
export interface PodSyncPorts extends CredentialPorts {
  readonly runtime: RuntimeService;
  readonly images: ImageService;
  /** Shared by all pods of the node. */
  readonly pullQueue: PullQueue;
  readonly files: NodeFiles;
  readonly httpRequest: HttpRequest;
  readonly podFiles: PodFiles;
  readonly random: Random;
  readonly node: NodeFacts;
  readonly record: RecordJournal;
  readonly recordEvent: RecordEvent;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly scheduler: SchedulerLike;
  readonly wallClock: WallClock;
}

/** One pass over one pod: what it works on, why, and until when. */
export interface PodSyncContext {
  readonly pod: Pod;
  readonly ports: PodSyncPorts;
  /** The entries that every effect of this pass names as its cause. */
  readonly causes: readonly JournalId[];
  /** Fires when a newer update wants the pass to let go. */
  readonly signal?: AbortSignal;
}

/** The same pass, with what follows attributed to `cause`. */
export const because = (context: PodSyncContext, cause: JournalId): PodSyncContext => ({ ...context, causes: [cause] });

type WithoutContext<T> = T extends JournalRecord ? Omit<T, 'causes' | 'pod'> : never;

/** Writes an entry about this pass's pod. */
export const note = ({ pod, ports, causes }: PodSyncContext, event: WithoutContext<JournalRecord>): JournalId =>
  ports.record({ ...event, pod: podRef(pod), causes });

/** An event of the Kubernetes API about this pass's pod, or about one of its containers. */
export const emitEvent = (
  { pod, ports, causes }: PodSyncContext,
  type: 'Normal' | 'Warning',
  reason: string,
  message: string,
  container?: string,
): void => ports.recordEvent({ pod, container, type, reason, message, causes });

/**
 * `call$` with its end, its duration and its error in the journal. Only calls that change something are worth it. What was
 * answered comes out once the call has ended, so that what follows from it also follows it in the journal.
 */
export const journaled = <T>(
  context: PodSyncContext,
  call: string,
  { target, container }: { readonly target?: string; readonly container?: string },
  call$: Observable<T>,
): Observable<T> =>
  defer(() => {
    const { scheduler } = context.ports;
    const startedAt = scheduler.now();
    const end = (error?: string) =>
      note(context, { kind: 'call', call, target, container, durationMs: scheduler.now() - startedAt, error });
    return call$.pipe(tap({ complete: () => end(), error: (error: unknown) => end(errorText(error)) }), takeLast(1));
  });

/** Completes, or errors with `SyncCancelled` once the signal has fired: put it wherever a pass may safely let go. */
export const letGo = ({ signal }: PodSyncContext): Observable<never> =>
  defer(() => (signal?.aborted ? throwError(() => new SyncCancelled()) : EMPTY));
