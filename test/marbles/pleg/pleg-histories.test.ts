import fc from 'fast-check';
import { catchError, concat, endWith, map, merge, mergeMap, NEVER, type Observable, of, tap } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import { type PlegEvent, type PlegState, plegState } from '../../../src/model/pleg/pleg.js';
import type { RuntimeContainerState, RuntimePodStatus } from '../../../src/model/pleg/runtime-pod.js';
import { pleg } from '../../../src/streams/pleg/pleg.js';
import { createPodCache, type PodCache } from '../../../src/streams/pleg/pod-cache.js';
import { every } from '../cadences.js';
import { type Answer, at, type FakePods, fakePods } from '../fake-pods.js';

interface Step {
  readonly uid: string;
  readonly id: string;
  readonly state: RuntimeContainerState | undefined;
}
const step = fc.record({
  uid: fc.constantFrom('a', 'b'),
  id: fc.constantFrom('s1', 'c1', 'c2'),
  state: fc.constantFrom<RuntimeContainerState | undefined>('created', 'running', 'exited', 'unknown', undefined),
});
/** What changes between one look of the PLEG and the next. */
const history = fc.array(fc.array(step, { maxLength: 4 }), { maxLength: 12 });

/** A sandbox is ready or not. */
const put = ({ put: apply }: FakePods, { uid, id, state }: Step): void =>
  apply(uid, id, state && id.startsWith('s') && state !== 'running' ? 'exited' : state);

const virtually = (
  untilMs: number,
  run: (scheduler: TestScheduler, cold: TestScheduler['createColdObservable']) => Observable<unknown>,
): void => {
  const scheduler = new TestScheduler(() => undefined);
  scheduler.maxFrames = untilMs;
  scheduler.run(({ cold, expectObservable }) => {
    expectObservable(run(scheduler, cold), `${untilMs}ms !`);
  });
};

const line = ({ pod: { uid }, id, type }: PlegEvent): string => `${uid} ${id} ${type}`;

/** The events of two looks, written down in the plainest way. */
const naive = (before: ReadonlyMap<string, PlegState>, after: ReadonlyMap<string, PlegState>): readonly string[] =>
  [...new Set([...before.keys(), ...after.keys()])].flatMap((key) => {
    const [was, is] = [before.get(key), after.get(key)];
    if (was === is || is === 'unknown') return [];
    if (is === 'running') return [`${key} ContainerStarted`];
    if (is === 'exited') return [`${key} ContainerDied`];
    const removed = `${key} ContainerRemoved`;
    return was === 'exited' ? [removed] : [`${key} ContainerDied`, removed];
  });

const look = ({ states }: FakePods): ReadonlyMap<string, PlegState> =>
  new Map(
    [...states].flatMap(([uid, items]) => [...items].map(([id, state]) => [`${uid} ${id}`, plegState(state)] as const)),
  );

const keyOf = (entries: Iterable<readonly [string, PlegState]>): string =>
  [...entries]
    .map(([id, state]) => `${id} ${state}`)
    .sort()
    .join();

/** What a status says, and what the runtime has of a pod, in the same words. */
const keyOfStatus = ({ sandboxes, containers }: RuntimePodStatus): string =>
  keyOf([
    ...sandboxes.map(({ id, state }) => [id, state === 'SANDBOX_READY' ? 'running' : 'exited'] as const),
    ...containers.map(({ id, state }) => [id, plegState(state)] as const),
  ]);
const keyOfPod = ({ states }: FakePods, uid: string): string =>
  keyOf([...(states.get(uid) ?? [])].map(([id, state]) => [id, plegState(state)] as const));

/** What the cache knows must be what the runtime has. */
const expectCacheToMatch = (cache: PodCache, runtime: FakePods): void => {
  const cached = [...cache.entries()].map(([uid, entry]) => [
    uid,
    entry.kind === 'error' ? 'error' : keyOfStatus(entry.status),
  ]);
  const actual = [...runtime.states.keys()].map((uid) => [uid, keyOfPod(runtime, uid)]);
  expect(cached.sort()).toEqual(actual.sort());
};

/** The state of every item as the events report it. */
const replay = (events: readonly PlegEvent[]): ReadonlyMap<string, PlegEvent['type']> => {
  const last = new Map<string, PlegEvent['type']>();
  for (const { pod, id, type } of events) {
    if (type === 'ContainerRemoved') last.delete(`${pod.uid} ${id}`);
    else if (type !== 'PodSync') last.set(`${pod.uid} ${id}`, type);
  }
  return last;
};

describe('any history', () => {
  it('comes out as a naive comparison of one look with the next', () => {
    fc.assert(
      fc.property(history, (looks) => {
        const heard: string[][] = [];
        const expected: string[][] = [];
        virtually(looks.length * 10 + 10, (scheduler) => {
          const runtime = fakePods(scheduler);
          let before: ReadonlyMap<string, PlegState> = new Map();
          const steps = looks.map((changes, index) => [
            index * 10 + 5,
            () => {
              for (const change of changes) put(runtime, change);
              const after = look(runtime);
              expected.push([...naive(before, after)].sort());
              before = after;
            },
          ]);
          const cache = createPodCache();
          const event$ = pleg({ reader: runtime.reader, cache, cadence$: every(10), scheduler }).pipe(
            tap((event) => {
              const index = scheduler.now() / 10 - 1;
              heard[index] = [...(heard[index] ?? []), line(event)];
            }),
          );
          return merge(event$, at(scheduler, Object.fromEntries(steps) as Record<number, () => void>));
        });
        expect(expected.map((_, index) => [...(heard[index] ?? [])].sort())).toEqual(expected);
      }),
      { numRuns: 200 },
    );
  });

  const answer = fc.oneof(
    { weight: 3, arbitrary: fc.constant<Answer>(0) },
    { weight: 3, arbitrary: fc.integer({ min: 1, max: 45 }) },
    { weight: 1, arbitrary: fc.constant<Answer>('error') },
  );
  const hint = fc.record({ ms: fc.nat({ max: 140 }), uid: fc.constantFrom('a', 'b', 'stranger') });

  it('ends in the truth, however slowly, wrongly and late the runtime answers and hints', () => {
    fc.assert(
      fc.property(
        history,
        fc.array(answer, { maxLength: 30 }),
        fc.array(answer, { maxLength: 8 }),
        fc.array(hint, { maxLength: 20 }),
        fc.array(hint, { maxLength: 20 }),
        (looks, reads, lists, hints, requests) => {
          const events: PlegEvent[] = [];
          let runtime: FakePods | undefined;
          const cache = createPodCache();
          const released: number[] = [];
          const stale: string[] = [];
          const pasts = new Map(['a', 'b'].map((uid) => [uid, [{ from: 0, key: '' }]]));
          virtually(3_000, (scheduler) => {
            const fake = fakePods(scheduler, { read: () => reads.shift() ?? 0, list: () => lists.shift() ?? 0 });
            runtime = fake;
            const change = (changes: readonly Step[]): void => {
              for (const one of changes) put(fake, one);
              for (const [uid, past] of pasts) past.push({ from: scheduler.now(), key: keyOfPod(fake, uid) });
            };
            const changes$ = merge(
              ...looks.map((changes, index) => at(scheduler, { [index * 10 + 5]: () => change(changes) })),
            );
            const wasSeenSince = (uid: string, sinceMs: number, key: string): boolean =>
              (pasts.get(uid) ?? [{ from: 0, key: '' }]).some(
                (state, index, past) => state.key === key && (past[index + 1]?.from ?? Infinity) >= sinceMs,
              );
            const named$ = (all: readonly { readonly ms: number; readonly uid: string }[]) =>
              merge(...all.map(({ ms, uid }) => at(scheduler, { [ms]: () => undefined }).pipe(endWith(uid))));
            // A worker of each pod waits from time to time.
            const waiters$ = merge(
              ...hints.map(({ ms, uid }) =>
                at(scheduler, { [ms]: () => undefined }).pipe(
                  endWith(released.push(0) - 1),
                  mergeMap((index) =>
                    cache.newerThan(uid, ms).pipe(
                      tap((status) => {
                        if (!wasSeenSince(uid, ms, keyOfStatus(status))) stale.push(`${uid} after ${ms}`);
                      }),
                      map(() => index),
                      catchError(() => of(index)),
                    ),
                  ),
                  tap((index) => (released[index] = (released[index] ?? 0) + 1)),
                ),
              ),
            );
            const event$ = pleg({
              reader: fake.reader,
              cache,
              cadence$: every(10),
              scheduler,
              hint$: concat(named$(hints), NEVER),
              relistRequest$: concat(named$(requests), NEVER),
            }).pipe(tap((event) => events.push(event)));
            return merge(changes$, event$, waiters$);
          });
          if (!runtime) throw new Error('nothing ran');
          expectCacheToMatch(cache, runtime);
          expect(released.every((times) => times === 1)).toBe(true);
          expect(stale).toEqual([]);
          const told = replay(events);
          for (const [key, state] of look(runtime)) {
            if (state === 'running') expect([key, told.get(key)]).toEqual([key, 'ContainerStarted']);
            if (state === 'exited') expect([key, told.get(key)]).toEqual([key, 'ContainerDied']);
          }
          for (const key of told.keys()) expect(look(runtime).has(key)).toBe(true);
        },
      ),
      { numRuns: 200 },
    );
  });
});
