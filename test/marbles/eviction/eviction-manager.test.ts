import { concat, defer, EMPTY, ignoreElements, type Observable, of, throwError, timer } from 'rxjs';
import { expect, it } from 'vitest';
import type { EvictionPolicy } from '../../../src/model/eviction/eviction-policy.js';
import type { Observations, PodFigures } from '../../../src/model/eviction/figures.js';
import type { DiskDevices } from '../../../src/model/eviction/signals.js';
import type { Pod } from '../../../src/model/pod/pod.js';
import { evictionManager, type EvictionManagerOptions } from '../../../src/streams/eviction/eviction-manager.js';
import { aPod } from '../../support/a-pod.js';
import { disk, figuresOf, memory, memoryBelow, MI } from '../../support/eviction-parts.js';
import { marbles } from '../marbles.js';

const SINGLE: DiskDevices = { node: '1', images: '1', containers: '1' };
const SHORT_OF_DISK = { signal: 'nodefs.available', value: { share: 0.1 }, gracePeriodMs: 0 } as const;
const [big, small] = ['big', 'small'].map((uid) => aPod({ uid, name: uid, source: 'api' })) as [Pod, Pod];

interface Scene {
  readonly policy?: Partial<EvictionPolicy>;
  /** What a look at this second finds. */
  readonly observations: (seconds: number) => Observations;
  readonly figures?: readonly PodFigures[];
  readonly pods?: readonly Pod[];
  readonly devices?: (seconds: number) => Observable<DiskDevices>;
  /** The time that an evicted pod takes to stop, and to be cleaned up after it, in seconds. */
  readonly stops?: number;
  readonly cleanedUpAfter?: number;
  readonly reclaim?: Partial<EvictionManagerOptions['reclaim']>;
  readonly untilSeconds: number;
}

/** What the manager does, as `<seconds> <what>`. */
const played = (scene: Scene): readonly string[] => {
  const did: string[] = [];
  marbles(({ scheduler }) => {
    const now = (): number => scheduler.now() / 1_000;
    const note = (what: string): void => void did.push(`${now()} ${what}`);
    const noting = (what: string): Observable<never> =>
      defer(() => {
        note(what);
        return EMPTY;
      });
    const active = new Set(scene.pods ?? [big, small]);
    const stoppedAt = new Map<string, number>();
    let told = '';
    const manager$ = evictionManager({
      policy: {
        thresholds: [memoryBelow(100)],
        pressureTransitionMs: 300_000,
        maxPodGraceSeconds: 0,
        enforcesLocalLimits: true,
        ...scene.policy,
      },
      figures: {
        node: () =>
          defer(() => {
            note('look');
            return of(scene.observations(now()));
          }),
        pods: (pods) =>
          defer(() => {
            note(`measure ${pods.map(({ metadata }) => metadata.name).join(' and ')}`);
            return of(
              scene.figures ?? [figuresOf('big', { workingSet: 9 * MI }), figuresOf('small', { workingSet: 1 })],
            );
          }),
        devices: () => defer(() => scene.devices?.(now()) ?? of(SINGLE)),
      },
      activePods: () => [...active],
      evictPod: ({ pod, signal }) =>
        concat(
          noting(`evict ${pod.metadata.name} for ${signal}`),
          timer((scene.stops ?? 0) * 1_000, scheduler).pipe(ignoreElements()),
          defer(() => {
            active.delete(pod);
            stoppedAt.set(pod.metadata.uid, now());
            return noting(`stopped ${pod.metadata.name}`);
          }),
        ),
      isCleanedUp: (uid) => now() - (stoppedAt.get(uid) ?? Infinity) >= (scene.cleanedUpAfter ?? 0),
      reclaim: {
        'dead-containers': noting('remove containers'),
        'unused-images': noting('remove images'),
        ...scene.reclaim,
      },
      tellPressure: (pressure) => {
        const text = JSON.stringify(Object.entries(pressure).flatMap(([kind, isShort]) => (isShort ? kind : [])));
        if (text !== told) note(`pressure ${text}`);
        told = text;
      },
      recordEvent: ({ type, reason, message }) => note(`event ${type} ${reason} ${message}`),
      log: {
        debug: () => undefined,
        info: (_, message) => note(`info ${message}`),
        warn: (fields, message) => ('error' in fields ? note(`warn ${message}: ${String(fields.error)}`) : undefined),
        error: (_, message) => note(`error ${message}`),
      },
      scheduler,
    });
    const running = manager$.subscribe();
    scheduler.schedule(() => running.unsubscribe(), scene.untilSeconds * 1_000);
  })();
  return did;
};
const at = (seconds: number) => ({ timeMs: seconds * 1_000 });

it('a node at ease is looked at every 10 s, and no pod is measured', () => {
  expect(played({ observations: (s) => memory(500, at(s).timeMs), untilSeconds: 25 })).toEqual([
    ...['0 look', '0 pressure []', '10 look', '20 look'],
  ]);
});

it('short of memory, the node tells its pressure, evicts the first pod in the order, waits until it is cleaned up, and looks again at once', () => {
  const seen = played({
    observations: (s) => memory(s < 10 ? 500 : s < 16 ? 50 : 500, at(s).timeMs),
    ...{ stops: 2, cleanedUpAfter: 3.5, untilSeconds: 27 },
  });
  expect(seen).toEqual([
    ...['0 look', '0 pressure []', '10 look', '10 pressure ["memory"]'],
    '10 event Warning EvictionThresholdMet Attempting to reclaim memory',
    ...['10 measure big and small', '10 evict big for memory.available', '12 stopped big'],
    // Checked at 13, 14, 15 and 16 s.
    ...['16 look', '26 look'],
  ]);
});

it('a node that stays short evicts one pod after the other, and says when there is none left', () => {
  const seen = played({ observations: (s) => memory(50, at(s).timeMs), untilSeconds: 13 });
  expect(seen.filter((line) => /evict|error|look/.test(line))).toEqual([
    ...['0 look', '0 evict big for memory.available'],
    ...['1 look', '1 evict small for memory.available'],
    ...['2 look', '2 error the node is short of a resource, and no pod may be evicted'],
    ...['12 look', '12 error the node is short of a resource, and no pod may be evicted'],
  ]);
});

it('an evicted pod that is not cleaned up is waited for 30 s', () => {
  const seen = played({
    observations: (s) => memory(s === 0 ? 50 : 500, at(s).timeMs),
    ...{ cleanedUpAfter: 60, untilSeconds: 32 },
  });
  expect(seen.slice(-2)).toEqual(['30 info an evicted pod is not cleaned up yet', '30 look']);
});

it('short of disk space, what no pod needs is removed first, and no pod is evicted if that is enough with the minimum reclaim', () => {
  const thresholds = [{ ...SHORT_OF_DISK, minReclaim: { share: 0.05 } }];
  let free = 99;
  const images$ = (after: number): Observable<never> =>
    defer(() => {
      free = after;
      return EMPTY;
    });
  const scene = (after: number): Scene => ({
    policy: { thresholds },
    observations: (s) => disk(free, 100, at(s).timeMs),
    reclaim: { 'unused-images': images$(after) },
    untilSeconds: 5,
  });
  expect(played(scene(150)).slice(2)).toEqual([
    '0 event Warning EvictionThresholdMet Attempting to reclaim ephemeral-storage',
    ...['0 remove containers', '0 look'],
  ]);
  free = 99;
  expect(played({ ...scene(149), untilSeconds: 0.5 }).slice(2)).toEqual([
    '0 event Warning EvictionThresholdMet Attempting to reclaim ephemeral-storage',
    ...[
      '0 remove containers',
      '0 look',
      '0 measure big and small',
      '0 evict big for nodefs.available',
      '0 stopped big',
    ],
  ]);
});

it('a removal that fails is logged, and the next one goes on', () => {
  const seen = played({
    policy: { thresholds: [SHORT_OF_DISK] },
    observations: (s) => disk(50, 100, at(s).timeMs),
    reclaim: { 'dead-containers': throwError(() => new Error('away')) },
    untilSeconds: 0.5,
  });
  expect(seen.slice(3, 5)).toEqual(['0 warn not all dead containers could be removed: away', '0 remove images']);
});

it('pods above a limit of their own are evicted side by side, without a shortage, before anything else', () => {
  const limited = ['one', 'two', 'fits'].map((uid) =>
    aPod({
      uid,
      name: uid,
      source: 'api',
      spec: { volumes: [{ name: 'v', emptyDir: { sizeLimit: '10' } }] },
    }),
  );
  const static$ = aPod({ uid: 'static', name: 'static', spec: limited[0]!.spec });
  const seen = played({
    observations: (s) => memory(50, at(s).timeMs),
    pods: [big, static$, ...limited],
    figures: ['one', 'two', 'fits', 'static'].map((uid) =>
      figuresOf(uid, { volumes: [{ name: 'v', isEphemeral: true, bytes: uid === 'fits' ? 10 : 11 }] }),
    ),
    ...{ stops: 2, untilSeconds: 3.5 },
  });
  expect(seen).toEqual([
    ...['0 look', '0 pressure ["memory"]', '0 measure one and two and fits'],
    ...['0 evict one for emptydirfs.limit', '0 evict two for emptydirfs.limit', '2 stopped one', '2 stopped two'],
    ...['3 look', '3 measure fits', '3 event Warning EvictionThresholdMet Attempting to reclaim memory'],
    ...['3 measure big and static and fits', '3 evict big for memory.available'],
  ]);
});

it('limits of pods are not looked at where they do not count', () => {
  const pod = aPod({ source: 'api', spec: { volumes: [{ name: 'v', emptyDir: { sizeLimit: '10' } }] } });
  const seen = played({
    policy: { enforcesLocalLimits: false },
    observations: (s) => memory(500, at(s).timeMs),
    pods: [pod],
    untilSeconds: 1,
  });
  expect(seen).toEqual(['0 look', '0 pressure []']);
});

it('a failed look is logged and repeated 10 s later, and its failure is not kept', () => {
  const seen = played({
    observations: (s) => memory(500, at(s).timeMs),
    devices: (s) => (s < 20 ? throwError(() => new Error('away')) : of(SINGLE)),
    untilSeconds: 35,
  });
  const failed = 'warn the resources of the node cannot be judged for evictions: away';
  expect(seen).toEqual([`0 ${failed}`, `10 ${failed}`, '20 look', '20 pressure []', '30 look']);
});
