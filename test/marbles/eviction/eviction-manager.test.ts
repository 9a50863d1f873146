import { concat, defer, EMPTY, ignoreElements, type Observable, of, throwError, timer } from 'rxjs';
import { expect, it } from 'vitest';
import type { EvictionPolicy } from '../../../src/model/eviction/eviction-policy.js';
import type { SignalObservations, PodFigures } from '../../../src/model/eviction/figures.js';
import type { DiskDevices } from '../../../src/model/eviction/signals.js';
import type { Pod } from '../../../src/model/pod/pod.js';
import { evictionManager, type EvictionManagerOptions } from '../../../src/streams/eviction/eviction-manager.js';
import { aPod } from '../../support/a-pod.js';
import { disk, figuresOf, memory, memoryBelow, MI } from '../../support/eviction-parts.js';
import { expectLanes } from '../lanes.js';
import { marbles } from '../marbles.js';

const SINGLE: DiskDevices = { node: '1', images: '1', containers: '1' };
const SHORT_OF_DISK = { signal: 'nodefs.available', value: { share: 0.1 }, gracePeriodMs: 0 } as const;
const [big, small] = ['big', 'small'].map((uid) => aPod({ uid, name: uid, source: 'api' })) as [Pod, Pod];

interface Scene {
  readonly policy?: Partial<EvictionPolicy>;
  /** What a check at this second finds. */
  readonly observations: (seconds: number) => SignalObservations;
  readonly figures?: readonly PodFigures[];
  readonly pods?: readonly Pod[];
  readonly devices?: (seconds: number) => Observable<DiskDevices>;
  /** The time that an evicted pod takes to stop, and to be cleaned up after it, in seconds. */
  readonly stops?: number;
  readonly cleanedUpAfter?: number;
  readonly reclaim?: Partial<EvictionManagerOptions['reclaim']>;
  readonly untilSeconds: number;
}

/** What the manager does, as `<ms> <what>`. */
const played = (scene: Scene): readonly string[] => {
  const did: string[] = [];
  marbles(({ scheduler }) => {
    const now = (): number => scheduler.now() / 1_000;
    const note = (what: string): void => void did.push(`${scheduler.now()} ${what}`);
    const noting = (what: string): Observable<never> =>
      defer(() => {
        note(what);
        return EMPTY;
      });
    const active = new Set(scene.pods ?? [big, small]);
    const stoppedAt = new Map<string, number>();
    let reported: string | undefined;
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
            note('check');
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
      reportPressure: (pressure) => {
        const text = Object.entries(pressure).flatMap(([kind, isShort]) => (isShort ? kind : []));
        if (text.join() !== reported) note(`pressure ${text.join() || 'none'}`);
        reported = text.join();
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
/** Memory in MiB, observed at that second. */
const memoryAt = (seconds: number, mebibytes: number): SignalObservations => memory(mebibytes, seconds * 1_000);
const diskAt = (seconds: number, free: number): SignalObservations => disk(free, 100, seconds * 1_000);
const shortage = (resource: string): string => `event Warning EvictionThresholdMet Attempting to reclaim ${resource}`;

it('a node at ease is checked every 10 s, and no pod is measured', () => {
  const did = played({ observations: (s) => memoryAt(s, 500), untilSeconds: 25 });
  expectLanes(did, { everyMs: 5_000 }).toBe({ check: 'c-c-c', 'pressure none': 'p' });
});

it('a node that is short of memory reports its pressure, evicts the first pod in the order, waits until it is cleaned up, and checks again at once', () => {
  const did = played({
    observations: (s) => memoryAt(s, s >= 10 && s < 16 ? 50 : 500),
    ...{ stops: 2, cleanedUpAfter: 3.5, untilSeconds: 27 },
  });
  expectLanes(did, { everyMs: 1_000 }).toBe({
    check: '                                c---------c-----c---------c',
    'pressure none': '                      p--------------------------',
    'pressure memory': '                    ----------p----------------',
    [shortage('memory')]: '                 ----------e----------------',
    'measure big and small': '              ----------m----------------',
    'evict big for memory.available': '     ----------e----------------',
    'stopped big': '                        ------------s--------------',
  });
});

it('a node that stays short evicts one pod after the other, and logs when there is none left', () => {
  const did = played({ observations: (s) => memoryAt(s, 50), untilSeconds: 13 });
  const lines = did.filter((line) => /evict|error|check/.test(line));
  expectLanes(lines, { everyMs: 1_000 }).toBe({
    check: 'ccc---------c',
    'evict big for memory.available': 'e------------',
    'evict small for memory.available': '-e-----------',
    'error the node is short of a resource, and no pod may be evicted': '--e---------e',
  });
});

it('an evicted pod that is not cleaned up is waited for 30 s', () => {
  const did = played({
    observations: (s) => memoryAt(s, s === 0 ? 50 : 500),
    ...{ cleanedUpAfter: 60, untilSeconds: 32 },
  });
  expectLanes(did.slice(-3), { everyMs: 1_000 }).toBe({
    'stopped big': 's 30s ',
    'info an evicted pod is not cleaned up yet': '30s i',
    check: '30s c',
  });
});

it('short of disk space, what no pod needs is removed first, and no pod is evicted if that is enough with the minimum reclaim', () => {
  const thresholds = [{ ...SHORT_OF_DISK, minReclaim: { share: 0.05 } }];
  const scene = (after: number): Scene => {
    let free = 99;
    const images$ = defer(() => {
      free = after;
      return EMPTY;
    });
    return {
      policy: { thresholds },
      observations: (s) => diskAt(s, free),
      reclaim: { 'unused-images': images$ },
      untilSeconds: 0.5,
    };
  };
  const removal = [`0 ${shortage('ephemeral-storage')}`, '0 remove containers', '0 check'];
  expect(played(scene(150)).slice(2)).toEqual(removal);
  expect(played(scene(149)).slice(2)).toEqual([
    ...removal,
    ...['0 measure big and small', '0 evict big for nodefs.available', '0 stopped big'],
  ]);
});

it('a removal that fails is logged, and the next one goes on', () => {
  const did = played({
    policy: { thresholds: [SHORT_OF_DISK] },
    observations: (s) => diskAt(s, 50),
    reclaim: { 'dead-containers': throwError(() => new Error('away')) },
    untilSeconds: 0.5,
  });
  expect(did.slice(3, 5)).toEqual(['0 warn not all dead containers could be removed: away', '0 remove images']);
});

it('pods above a limit of their own are evicted side by side, before a pod for the shortage of the node', () => {
  const spec = { volumes: [{ name: 'v', emptyDir: { sizeLimit: '10' } }] };
  const limited = ['one', 'two', 'fits'].map((uid) => aPod({ uid, name: uid, source: 'api', spec }));
  const did = played({
    observations: (s) => memoryAt(s, 50),
    pods: [big, aPod({ uid: 'static', name: 'static', spec }), ...limited],
    figures: ['one', 'two', 'fits', 'static'].map((uid) =>
      figuresOf(uid, { volumes: [{ name: 'v', isEphemeral: true, bytes: uid === 'fits' ? 10 : 11 }] }),
    ),
    ...{ stops: 2, untilSeconds: 3.5 },
  });
  expectLanes(did, { everyMs: 1_000 }).toBe({
    check: '                                c--c',
    'pressure memory': '                    p---',
    'measure one and two and fits': '       m---',
    'evict one for emptydirfs.limit': '     e---',
    'evict two for emptydirfs.limit': '     e---',
    'stopped one': '                        --s-',
    'stopped two': '                        --s-',
    'measure fits': '                       ---m',
    [shortage('memory')]: '                 ---e',
    'measure big and static and fits': '    ---m',
    'evict big for memory.available': '     ---e',
  });
});

it('limits of pods are not checked where they do not count', () => {
  const pod = aPod({ source: 'api', spec: { volumes: [{ name: 'v', emptyDir: { sizeLimit: '10' } }] } });
  const did = played({
    policy: { enforcesLocalLimits: false },
    observations: (s) => memoryAt(s, 500),
    pods: [pod],
    untilSeconds: 1,
  });
  expect(did).toEqual(['0 check', '0 pressure none']);
});

it('a failed check is logged and repeated 10 s later, and its failure is not kept', () => {
  const did = played({
    observations: (s) => memoryAt(s, 500),
    devices: (s) => (s < 20 ? throwError(() => new Error('away')) : of(SINGLE)),
    untilSeconds: 35,
  });
  expectLanes(did, { everyMs: 5_000 }).toBe({
    'warn the resources of the node cannot be judged for evictions: away': 'w-w----',
    check: '----c-c',
    'pressure none': '----p--',
  });
});
