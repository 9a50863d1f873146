import { defer, EMPTY, type Observable, type SchedulerLike, takeLast, tap, throwError } from 'rxjs';
import { errorText } from '../../model/cri-error.js';
import type { JournalId, JournalRecord } from '../../model/journal.js';
import type { NodeFacts } from '../../model/node-facts.js';
import { type Pod, podRef } from '../../model/pod.js';
import type { PodStartTracker } from '../../model/pod-start-tracker.js';
import { SyncCancelled } from '../../model/sync-error.js';
import { slowCallText } from '../../model/why/describe-entry.js';
import { tapLate } from '../operators/tap-late.js';
import type {
  CredentialPorts,
  HttpRequest,
  ImageService,
  Logger,
  Metrics,
  NodeFiles,
  PodFiles,
  PodReferences,
  Random,
  RecordEvent,
  RecordJournal,
  RuntimeClasses,
  RuntimeService,
  WallClock,
} from '../ports.js';
import type { PullLedger } from '../pull-ledger.js';
import type { PullQueue } from '../pull-queue.js';
import type { StartQueue } from '../start-queue.js';

/** The outside world as a pass over a pod needs it. */
export interface PodSyncPorts extends CredentialPorts {
  readonly runtime: RuntimeService;
  readonly images: ImageService;
  /** Shared by all pods of the node. */
  readonly pullQueue: PullQueue;
  readonly pullLedger: PullLedger;
  /** As is this one. */
  readonly startQueue: StartQueue;
  readonly files: NodeFiles;
  readonly httpRequest: HttpRequest;
  /** Absent where there is nothing to look classes up in; then every pod gets the default handler. */
  readonly runtimeClasses?: RuntimeClasses | undefined;
  /** Absent for an agent without an API server. */
  readonly podReferences?: PodReferences | undefined;
  /** What pods wait for while they start; absent where nobody measures that. */
  readonly podStarts?: Pick<PodStartTracker, 'pullStarted' | 'pullEnded'> | undefined;
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
  /** Where the runtime is to put the pod; absent where it chooses. */
  readonly cgroupParent?: string;
  /** Hears of every call that takes long, while it is under way; `container` is whom it is about, absent for the whole pod. */
  readonly waitsFor?: (wait: { readonly call: string; readonly container?: string; readonly text: string }) => void;
  /** Hears that the pod has a new sandbox, and with it a network: what takes long, such as pulls, comes after it. */
  readonly sandboxReady?: () => void;
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

/** After so many milliseconds a call is said to be slow, while it is still under way. */
export const SLOW_CALL_MS = 10_000;

/**
 * `call$` with its end, its duration and its error in the journal, and before that, if it takes long, that it does. Only calls
 * that change something are worth it. What was answered comes out once the call has ended, so that what follows from it also
 * follows it in the journal. `usualMs` is what the call may well take by itself.
 */
export const journaled = <T>(
  context: PodSyncContext,
  call: string,
  {
    target,
    container,
    usualMs = 0,
  }: { readonly target?: string; readonly container?: string; readonly usualMs?: number },
  call$: Observable<T>,
): Observable<T> =>
  defer(() => {
    const { scheduler } = context.ports;
    const startedAt = scheduler.now();
    const end = (error?: string) =>
      note(context, { kind: 'call', call, target, container, durationMs: scheduler.now() - startedAt, error });
    const late = (): void => {
      const waitedMs = scheduler.now() - startedAt;
      note(context, { kind: 'call-slow', call, target, container, waitedMs });
      context.waitsFor?.({ call, container, text: slowCallText(call, waitedMs) });
    };
    return call$.pipe(
      tap({ complete: () => end(), error: (error: unknown) => end(errorText(error)) }),
      tapLate(usualMs + SLOW_CALL_MS, late, scheduler),
      takeLast(1),
    );
  });

/** `read$`, which asks the runtime for the state of the pod; if that takes long, the journal says so meanwhile. */
export const watchedRead = <T>(
  { record, scheduler }: Pick<PodSyncPorts, 'record' | 'scheduler'>,
  about: Pick<JournalRecord, 'pod' | 'causes'>,
  read$: Observable<T>,
): Observable<T> => {
  const late = () => void record({ ...about, kind: 'call-slow', waitedMs: SLOW_CALL_MS });
  return read$.pipe(tapLate(SLOW_CALL_MS, late, scheduler));
};

/** Completes, or errors with `SyncCancelled` once the signal has fired: put it wherever a pass may safely let go. */
export const letGo = ({ signal }: PodSyncContext): Observable<never> =>
  defer(() => (signal?.aborted ? throwError(() => new SyncCancelled()) : EMPTY));
