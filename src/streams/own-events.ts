import { defer, finalize, type Observable } from 'rxjs';
import type { PodWork } from './pod-workers.js';
import type { RuntimeEventNews } from './runtime-events.js';

/** Tells the events that a worker causes from those that nobody of this agent waits for. */
export interface OwnEvents {
  /** The pods to look at because of what the runtime says, at once: none while the pod's own worker is at it. */
  readonly hints: (news: RuntimeEventNews) => readonly string[];
  /** Somebody is about to look at the pod: what was heard of it until now is answered by that. */
  readonly answered: (uid: string) => void;
  /** The same work, during which events are its own. */
  readonly during: (work: PodWork) => PodWork;
}

/** One run of a worker. */
interface Pass {
  /** It was told of something that somebody has asked for, and nobody has looked at the pod since. */
  isOwed: boolean;
}

/**
 * A worker hears the answers of its own calls and looks at its pod when it has done something, so the events that it causes
 * need no look of their own. But a call that was given up may succeed later, when nobody waits for it: such an event is worth a
 * look unless a worker is at its pod. A pass that has been told of something and ends without a look owes one: `lookAt`
 * is called with its pod.
 */
export const ownEvents = (lookAt: (uid: string) => void): OwnEvents => {
  const passes = new Map<string, Pass>();

  const within = <T>(uid: string, work: () => Observable<T>): Observable<T> =>
    defer(() => {
      const pass: Pass = { isOwed: false };
      passes.set(uid, pass);
      return work().pipe(
        finalize(() => {
          // The next pass may have begun already, as soon as this one said that it was over.
          if (passes.get(uid) === pass) passes.delete(uid);
          if (pass.isOwed) lookAt(uid);
        }),
      );
    });

  return {
    hints: (news) => {
      if (news.kind !== 'event') return [];
      const pass = news.isAskedFor ? passes.get(news.uid) : undefined;
      if (!pass) return [news.uid];
      pass.isOwed = true;
      return [];
    },
    answered: (uid) => {
      const pass = passes.get(uid);
      if (pass) pass.isOwed = false;
    },
    during: (work) => ({
      syncPod: (run, signal) => within(run.uid, () => work.syncPod(run, signal)),
      syncTerminatingPod: (run) => within(run.uid, () => work.syncTerminatingPod(run)),
      syncTerminatingRuntimePod: (run) => within(run.uid, () => work.syncTerminatingRuntimePod(run)),
      syncTerminatedPod: (run, signal) => within(run.uid, () => work.syncTerminatedPod(run, signal)),
    }),
  };
};
