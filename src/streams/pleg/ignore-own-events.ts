import { defer, finalize, type Observable } from 'rxjs';
import type { PodWork } from '../pod-workers/pod-workers.js';
import type { RuntimeEventNews } from './runtime-events.js';

/** Separates the runtime's events that a running worker causes from all others. */
export interface OwnEvents {
  /** The UIDs of the pods to read because of an event: none if the running worker of the pod causes it. */
  readonly hints: (news: RuntimeEventNews) => readonly string[];
  /** A read of the pod was requested: it covers all events until now. */
  readonly readRequested: (uid: string) => void;
  /** The same work; while it runs, events that a call causes count as its own. */
  readonly during: (work: PodWork) => PodWork;
}

/** One run of a worker. */
interface Run {
  /** An event of its own arrived, and no read of the pod was requested since. */
  isReadDue: boolean;
}

/**
 * Ignores the events that a worker causes by its own calls while it runs, since it requests a read of its pod after its changes. If
 * a run ends without that request although an event arrived, `requestRead` is called with its pod. Outside a run no event is
 * ignored: a call that was cancelled may still succeed later.
 */
export const ignoreOwnEvents = (requestRead: (uid: string) => void): OwnEvents => {
  const runs = new Map<string, Run>();

  const within = <T>(uid: string, work: () => Observable<T>): Observable<T> =>
    defer(() => {
      const run: Run = { isReadDue: false };
      runs.set(uid, run);
      return work().pipe(
        finalize(() => {
          // The next run of the pod may begin before this one is torn down.
          if (runs.get(uid) === run) runs.delete(uid);
          if (run.isReadDue) requestRead(uid);
        }),
      );
    });

  return {
    hints: (news) => {
      if (news.kind !== 'event') return [];
      const run = news.isCausedByCall ? runs.get(news.uid) : undefined;
      if (!run) return [news.uid];
      run.isReadDue = true;
      return [];
    },
    readRequested: (uid) => {
      const run = runs.get(uid);
      if (run) run.isReadDue = false;
    },
    during: (work) => ({
      syncPod: (run, signal) => within(run.uid, () => work.syncPod(run, signal)),
      syncTerminatingPod: (run) => within(run.uid, () => work.syncTerminatingPod(run)),
      syncTerminatingRuntimePod: (run) => within(run.uid, () => work.syncTerminatingRuntimePod(run)),
      syncTerminatedPod: (run, signal) => within(run.uid, () => work.syncTerminatedPod(run, signal)),
    }),
  };
};
