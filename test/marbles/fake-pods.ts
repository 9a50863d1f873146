import { concat, defer, map, mergeMap, NEVER, type Observable, of, type SchedulerLike, throwError, timer } from 'rxjs';
import { toRuntimePods, toRuntimePodStatus } from '../../src/model/cri/runtime-pod-status.js';
import type { RuntimeContainerState } from '../../src/model/pleg/runtime-pod.js';
import type { RuntimeReader } from '../../src/streams/pleg/runtime-reader.js';
import { aContainerStatus, aListedContainer, aSandbox, aSandboxStatus } from '../unit/cri-fixtures.js';

const CRI_STATES = {
  created: 'CONTAINER_CREATED',
  running: 'CONTAINER_RUNNING',
  exited: 'CONTAINER_EXITED',
  unknown: 'CONTAINER_UNKNOWN',
} as const;

/** How the fake answers one call: after a number of milliseconds, never, or with an error. */
export type Answer = number | 'never' | 'error';

/**
 * A runtime reduced to the states of its containers by pod and id; ids that begin with `s` are sandboxes. What it answers is
 * what was true when it was asked, whenever the answer comes.
 */
export interface FakePods {
  readonly reader: Pick<RuntimeReader, 'listPods' | 'podStatus'>;
  /** Sets or, without a state, removes one container; the last one takes its pod with it. */
  readonly put: (uid: string, id: string, state?: RuntimeContainerState) => void;
  readonly states: ReadonlyMap<string, ReadonlyMap<string, RuntimeContainerState>>;
  /** What was asked: `list` or `read <uid>`, with the time. */
  readonly asked: string[];
}

export const fakePods = (
  scheduler: SchedulerLike,
  answers: { readonly list?: () => Answer; readonly read?: (uid: string) => Answer } = {},
): FakePods => {
  const states = new Map<string, Map<string, RuntimeContainerState>>();
  const asked: string[] = [];
  const answer = <T>(how: Answer, value: T): Observable<T> => {
    if (how === 'never') return NEVER;
    if (how === 'error') return throwError(() => new Error('fake'));
    return how === 0 ? of(value) : timer(how, scheduler).pipe(map(() => value));
  };
  const itemsOf = (uid: string) => [...(states.get(uid) ?? [])];
  const isSandbox = ([id]: [string, RuntimeContainerState]) => id.startsWith('s');
  const sandboxState = (state: RuntimeContainerState) =>
    state === 'running' ? ('SANDBOX_READY' as const) : ('SANDBOX_NOTREADY' as const);

  const listing = () => {
    const entries = [...states.keys()].flatMap((uid) => itemsOf(uid).map((entry) => ({ uid, entry })));
    return toRuntimePods(
      entries
        .filter(({ entry }) => isSandbox(entry))
        .map(({ uid, entry: [id, state] }) => aSandbox(uid, id, { state: sandboxState(state) })),
      entries
        .filter(({ entry }) => !isSandbox(entry))
        .map(({ uid, entry: [id, state] }) => aListedContainer(uid, id, { state: CRI_STATES[state] })),
      scheduler.now(),
    );
  };
  const status = (uid: string) =>
    toRuntimePodStatus(
      { uid, namespace: 'ns', name: `name-${uid}` },
      itemsOf(uid)
        .filter(isSandbox)
        .map(([id, state]) => aSandboxStatus(uid, id, { state: sandboxState(state) })),
      itemsOf(uid)
        .filter((entry) => !isSandbox(entry))
        .map(([id, state]) => ({
          status: aContainerStatus(id, { state: CRI_STATES[state], exitCode: state === 'exited' ? 7 : 0 }),
          sandboxId: '',
        })),
    );

  return {
    states,
    asked,
    put: (uid, id, state) => {
      const items = states.get(uid) ?? new Map<string, RuntimeContainerState>();
      if (state) items.set(id, state);
      else items.delete(id);
      if (items.size > 0) states.set(uid, items);
      else states.delete(uid);
    },
    reader: {
      listPods: () =>
        defer(() => {
          asked.push(`${scheduler.now()} list`);
          return answer(answers.list?.() ?? 0, listing());
        }),
      podStatus: ({ uid }) =>
        defer(() => {
          asked.push(`${scheduler.now()} read ${uid}`);
          return answer(answers.read?.(uid) ?? 0, status(uid));
        }),
    },
  };
};

/** Runs each step at its time, and emits nothing. */
export const at = (scheduler: SchedulerLike, steps: Readonly<Record<number, () => void>>): Observable<never> =>
  concat(
    of(...Object.entries(steps)).pipe(mergeMap(([ms, step]) => timer(Number(ms), scheduler).pipe(map(step)))),
  ).pipe(mergeMap(() => []));
