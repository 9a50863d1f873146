import {
  concat,
  defer,
  fromEvent,
  ignoreElements,
  mergeMap,
  type Observable,
  of,
  race,
  Subject,
  take,
  tap,
  throwError,
  timer,
} from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import type { Pod } from '../../src/model/pod/pod.js';
import type { PodUpdate, PodUpdateType } from '../../src/model/pod-workers/pod-update.js';
import type { Wake } from '../../src/model/pod-workers/wake.js';
import { emptyPodStatus } from '../../src/model/pleg/runtime-pod.js';
import { SyncCancelled } from '../../src/model/pod-actions/sync-error.js';
import { type PodWork, podWorkers } from '../../src/streams/pod-workers/pod-workers.js';
import { kubeletState } from '../../src/streams/sync-loop/kubelet-state.js';
import { aPod } from './a-pod.js';

/** `s1`, `s2` and `s3` are static pods of one full name; `a1` and `a2` are pods of the API. */
export const UIDS = ['a1', 'a2', 's1', 's2', 's3'] as const;
export type Uid = (typeof UIDS)[number];

/** What the loop does to the workers, `gap` milliseconds after the step before. */
export type Step = { readonly gap: number } & (
  | { readonly does: 'create' | 'update' | 'sync' | 'end' | 'orphan'; readonly uid: Uid }
  | { readonly does: 'kill'; readonly uid: Uid; readonly grace?: number; readonly evict?: boolean }
  | { readonly does: 'delete'; readonly uid: Uid; readonly grace: number }
  /** The source drops the pod. */
  | { readonly does: 'remove'; readonly uid: Uid }
  /** A known-pods pass, and what housekeeping does after it. */
  | { readonly does: 'pass' }
);

/** What one run of any worker is like; runs take them in order of start. */
export interface Behaviour {
  /** Until the view of the runtime is there; `undefined`: at once. */
  readonly look?: number;
  readonly unreadable?: boolean;
  /** `undefined`: at once, within the call. */
  readonly works?: number;
  readonly ends: 'well' | 'badly' | 'terminal';
  /** Until the run has ended after its signal; `undefined`: it does not listen. */
  readonly letsGo?: number;
}

export interface Report {
  /** What was wrong, each with its time. */
  readonly violations: readonly string[];
  /** Everything that happened, in order. */
  readonly timeline: readonly string[];
}

/** Long enough for any run of a history to be over. */
const CALM_MS = 1_000;
const PASSES = 12;

interface InFlight {
  readonly work: string;
  readonly signals: AbortSignal[];
  cancels: number;
}

/**
 * Plays `steps` against workers whose runs behave as given, then lets everything come to rest, then drops all pods, and
 * watches over the promises of the workers all the time. Virtual time; nothing of it depends on the real clock.
 */
export const playHistory = (steps: readonly Step[], behaviours: readonly Behaviour[]): Report => {
  const scheduler = new TestScheduler(() => true);
  const violations: string[] = [];
  const timeline: string[] = [];
  const say = (what: string) => timeline.push(`${scheduler.now()} ${what}`);
  const wrong = (what: string) => {
    violations.push(`${scheduler.now()} ${what}`);
    say(`WRONG: ${what}`);
  };

  const state = kubeletState();
  const { workers, apply } = state;
  const wake$ = new Subject<Wake>();
  const waiting = [...behaviours];
  const desired = new Map<string, Pod>();
  const inFlight = new Map<string, InFlight>();
  /** Per life of a pod, cleared when it is forgotten. */
  const leastGrace = new Map<string, number>();
  const acknowledged = new Set<string>();
  const newestAccepted = new Map<string, number>();
  const lastTaken = new Map<string, number>();
  const lives = [leastGrace, acknowledged, newestAccepted, lastTaken];
  let version = 0;

  const forgetLives = () => {
    for (const uid of UIDS) if (!workers.record(uid)) for (const life of lives) life.delete(uid);
  };
  const versionOf = (pod: Pod | undefined) => Number(pod?.metadata.labels?.version ?? 0);
  const podOf = (uid: Uid, rest: Parameters<typeof aPod>[0] = {}): Pod =>
    aPod({
      uid,
      name: uid.startsWith('s') ? 'shared' : uid,
      source: uid.startsWith('s') ? 'file' : 'api',
      labels: { version: String((version += 1)) },
      ...rest,
    });

  const deliver = (wakes: readonly Wake[]) => {
    for (const wake of wakes) {
      const run = inFlight.get(wake.uid);
      const others = [...inFlight].filter(([uid]) => uid !== wake.uid);
      const abortedBefore = others.map(([, { signals }]) => signals.some(({ aborted }) => aborted));
      if (wake.cancel && run) run.cancels += 1;
      wake$.next(wake);
      if (wake.cancel && run && !run.signals.every(({ aborted }) => aborted))
        wrong(`a cancel did not reach the run of ${wake.uid}`);
      others.forEach(([uid, { signals }], index) => {
        if (signals.some(({ aborted }) => aborted) !== abortedBefore[index])
          wrong(`a wake of ${wake.uid} cancelled a run of ${uid}`);
      });
    }
  };
  const give = (update: PodUpdate) => {
    forgetLives();
    const wakes = workers.update(update, scheduler.now());
    const uid = update.pod?.metadata.uid;
    if (uid !== undefined && wakes.length > 0) {
      newestAccepted.set(uid, versionOf(update.pod));
      const asked = update.kill?.graceSeconds ?? update.pod?.metadata.deletionGracePeriodSeconds;
      if (asked !== undefined) leastGrace.set(uid, Math.min(leastGrace.get(uid) ?? Infinity, Math.max(1, asked)));
    }
    deliver(wakes);
  };
  const pass = () => {
    const { known, wakes } = workers.syncKnownPods(
      new Set(state.pods.pods().map(({ metadata }) => metadata.uid)),
      scheduler.now(),
    );
    forgetLives();
    const restarts = [...desired.values()].filter(({ metadata }) => !known.has(metadata.uid));
    // As in housekeeping: every answer is made before the first of them is delivered.
    const created = restarts.flatMap((pod) => {
      newestAccepted.set(pod.metadata.uid, versionOf(pod));
      return workers.update({ type: 'create', pod, causes: [] }, scheduler.now());
    });
    deliver([...wakes, ...created]);
  };
  const want = (type: PodUpdateType, pod: Pod, rest: Partial<PodUpdate> = {}) => {
    if (type !== 'kill') {
      desired.set(pod.metadata.uid, pod);
      apply({ kind: 'pod-set', pod });
    }
    give({ type, pod, causes: [], ...rest });
  };

  const act = (step: Step) => {
    say(JSON.stringify(step));
    if (step.does === 'pass') return pass();
    const { uid } = step;
    const current = desired.get(uid);
    switch (step.does) {
      case 'create':
        return want('create', podOf(uid));
      case 'update':
        return want('update', podOf(uid, { deletionTimestamp: current?.metadata.deletionTimestamp }));
      case 'sync':
        return current && want('sync', current);
      case 'end':
        return want('update', podOf(uid, { phase: 'Succeeded' }));
      case 'kill':
        return want('kill', current ?? podOf(uid), { kill: { graceSeconds: step.grace, evict: step.evict } });
      case 'delete':
        return want(
          'update',
          podOf(uid, { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: step.grace }),
        );
      case 'remove':
        desired.delete(uid);
        if (current) apply({ kind: 'pod-removed', pod: current });
        return current && want('kill', current);
      case 'orphan': {
        const name = uid.startsWith('s') ? 'shared' : uid;
        const runningPod = { uid, name, namespace: 'default', items: [], observedAt: 0 };
        return give({ type: 'kill', runningPod, kill: { graceSeconds: 1 }, causes: [] });
      }
    }
  };

  const checkTurn = (uid: string) => {
    if (!uid.startsWith('s')) return;
    for (const record of workers.records()) {
      if (
        record.uid !== uid &&
        record.fullName === 'shared_default' &&
        record.startedAt !== undefined &&
        !record.finished
      )
        wrong(`${uid} runs while ${record.uid} holds their name`);
    }
  };
  const nextBehaviour = (): Behaviour => waiting.shift() ?? { ends: 'well' };
  /** The look of a run and its work share one behaviour. */
  const behaviourOf = new Map<string, Behaviour>();

  const begin = (uid: string, work: string, graceSeconds: number | undefined) => {
    if (work === 'terminating') {
      const least = leastGrace.get(uid) ?? Infinity;
      if ((graceSeconds ?? Infinity) > least)
        wrong(`${uid} gets ${graceSeconds} s to stop, but ${least} s were asked for`);
      if (graceSeconds !== undefined && graceSeconds < 1) wrong(`${uid} gets ${graceSeconds} s to stop`);
      leastGrace.set(uid, Math.min(least, graceSeconds ?? Infinity));
    }
    const before = inFlight.get(uid);
    if (before) wrong(`${work} of ${uid} begins while ${before.work} is in flight`);
    inFlight.set(uid, { work, signals: [], cancels: 0 });
    lastTaken.set(uid, versionOf(workers.record(uid)?.active?.pod));
    say(`${work} of ${uid} begins`);
  };
  const end = (uid: string) => {
    const run = inFlight.get(uid);
    if (run?.cancels === 0 && run.signals.some(({ aborted }) => aborted))
      wrong(`the run of ${uid} was cancelled without a cancel`);
    say(`${run?.work} of ${uid} ends`);
    inFlight.delete(uid);
  };

  /** Beside what the journal says: the work itself must not overlap either. */
  const atWork = new Set<string>();
  const alone = <T>(uid: string, work$: Observable<T>): Observable<T> =>
    defer(() => {
      if (atWork.has(uid)) wrong(`two runs of ${uid} work at once`);
      atWork.add(uid);
      const leave = () => atWork.delete(uid);
      return work$.pipe(tap({ complete: leave, error: leave }));
    });

  const working = (uid: string, signal?: AbortSignal): Observable<{ readonly isTerminal: boolean }> =>
    defer(() => {
      const { works, ends, letsGo } = behaviourOf.get(uid) ?? nextBehaviour();
      behaviourOf.delete(uid);
      const last$ = defer(() =>
        ends === 'badly' ? throwError(() => new Error('no')) : of({ isTerminal: ends === 'terminal' }),
      );
      const work$ = works === undefined ? last$ : concat(timer(works, scheduler).pipe(ignoreElements()), last$);
      if (!signal || letsGo === undefined) return alone(uid, work$);
      const asked$: Observable<unknown> = signal.aborted ? of(true) : fromEvent(signal, 'abort').pipe(take(1));
      const gone$ = asked$.pipe(
        mergeMap(() => timer(letsGo, scheduler)),
        mergeMap(() => throwError(() => new SyncCancelled())),
      );
      return alone(uid, race(work$, gone$));
    });

  const listens = (uid: string, signal: AbortSignal) => {
    const run = inFlight.get(uid);
    run?.signals.push(signal);
    if (run && run.cancels > 0 !== signal.aborted)
      wrong(`${uid} begins to work ${signal.aborted ? '' : 'not '}cancelled`);
  };

  const work: PodWork = {
    syncPod: ({ uid, pod }, signal) => {
      listens(uid, signal);
      say(`sync of ${uid} version ${versionOf(pod)}`);
      checkTurn(uid);
      if (acknowledged.has(uid)) wrong(`${uid} syncs after its termination was acknowledged`);
      return working(uid, signal);
    },
    syncTerminatingPod: ({ uid, graceSeconds }) => {
      say(`terminating of ${uid} grace ${graceSeconds}`);
      checkTurn(uid);
      acknowledged.add(uid);
      return working(uid);
    },
    syncTerminatingRuntimePod: ({ uid }) => {
      acknowledged.add(uid);
      return working(uid);
    },
    syncTerminatedPod: ({ uid }, signal) => {
      listens(uid, signal);
      say(`terminated of ${uid}`);
      checkTurn(uid);
      return working(uid, signal);
    },
  };

  const checkRest = () => {
    for (const [uid, { work: unfinished }] of inFlight) wrong(`${unfinished} of ${uid} never ends`);
    forgetLives();
    for (const record of workers.records()) {
      const { uid, fullName, startedAt, finished, pending, working: isWorking } = record;
      const isTurnTaken = [...workers.records()].some(
        (other) => other.uid !== uid && other.fullName === fullName && other.startedAt !== undefined && !other.finished,
      );
      const waits = startedAt === undefined && !finished && pending !== undefined;
      if (waits && !isTurnTaken) wrong(`${uid} starves: no pod holds its name`);
      if (isWorking) wrong(`${uid} still works`);
      if (waits || finished) continue;
      if (pending) wrong(`an update of ${uid} was never taken`);
      const newest = newestAccepted.get(uid);
      const taken = lastTaken.get(uid);
      if (newest !== undefined && taken !== newest)
        wrong(`${uid} rests at version ${taken}, but ${newest} is the newest`);
    }
  };

  scheduler.run(() => {
    const workers$ = wake$.pipe(
      podWorkers({
        state,
        work,
        newerThan: (uid) =>
          defer(() => {
            const behaviour = nextBehaviour();
            behaviourOf.set(uid, behaviour);
            const { look, unreadable } = behaviour;
            const view$ = unreadable
              ? throwError(() => new Error('unreadable'))
              : of(emptyPodStatus({ uid, namespace: 'default', name: uid }));
            return look === undefined ? view$ : timer(look, scheduler).pipe(mergeMap(() => view$));
          }),
        record: (entry) => {
          if (entry.pod && entry.kind === 'sync-started') begin(entry.pod.uid, entry.work, entry.graceSeconds);
          // A pod that was stopped before it ever started ends without having begun.
          if (entry.pod && entry.kind === 'sync-ended' && inFlight.has(entry.pod.uid)) end(entry.pod.uid);
          return 'id';
        },
        recordEvent: () => undefined,
        random: () => 0,
        scheduler,
        wallClock: () => scheduler.now(),
        resyncIntervalMs: 60_000,
      }),
      tap(({ uid, work: kind, next }) => say(`outcome of ${uid}: ${kind} ${next}`)),
    );
    const subscription = workers$.subscribe({
      error: (error: unknown) => wrong(`the stream failed: ${String(error)}`),
    });

    const following = (index: number) => {
      const step = steps[index];
      if (step) {
        scheduler.schedule(() => {
          act(step);
          following(index + 1);
        }, step.gap);
        return;
      }
      scheduler.schedule(() => {
        checkRest();
        waiting.length = 0;
        say('everything is dropped');
        for (const pod of desired.values()) apply({ kind: 'pod-removed', pod });
        desired.clear();
        pass();
        for (let index = 1; index <= PASSES; index += 1) scheduler.schedule(pass, index * CALM_MS);
        scheduler.schedule(
          () => {
            for (const { uid } of workers.records()) wrong(`${uid} is never forgotten`);
            if (!workers.isEmpty) wrong('a full name is never given back');
            subscription.unsubscribe();
          },
          (PASSES + 1) * CALM_MS,
        );
      }, CALM_MS);
    };
    following(0);
  });
  return { violations, timeline };
};
