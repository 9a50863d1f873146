import { concat, defer, EMPTY, ignoreElements, type Observable, of, type SchedulerLike, throwError, timer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { podDirectories, type PodDirectoriesOptions } from '../../../src/streams/upkeep/pod-directories.js';
import { expectLanes } from '../lanes.js';
import { marbles } from '../marbles.js';

interface Disk {
  readonly pods?: readonly string[];
  readonly volumes?: Readonly<Record<string, readonly string[]>>;
  readonly mounts?: Readonly<Record<string, readonly string[]>>;
  /** What fails, as `did` shows it. */
  fails?: string | undefined;
}

/** Directories below `/r`. Making one takes a millisecond, removing one takes five; `did` says what was done when. */
const onDisk = (scheduler: SchedulerLike, disk: Disk) => {
  const did: string[] = [];
  const logged: string[] = [];
  const counts: string[] = [];
  const takes = (ms: number, what: string): Observable<never> =>
    defer(() => {
      did.push(`${scheduler.now()} ${what}`);
      if (disk.fails === what) return throwError(() => new Error('busy'));
      return timer(ms, scheduler).pipe(ignoreElements());
    });
  const log = (fields: { error?: string }, message: string) => logged.push(`${message}: ${fields.error}`);
  const options: PodDirectoriesOptions = {
    files: {
      makeDirectory: (path, mode) => takes(1, `mkdir ${path} ${mode.toString(8)}`),
      remove: (path) => takes(5, `rm ${path}`),
      listDirectory: (path) =>
        disk.fails === `ls ${path}`
          ? throwError(() => new Error('busy'))
          : of(path === '/r/pods' ? (disk.pods ?? []) : (disk.volumes?.[path] ?? [])),
    },
    podFiles: { mountsBelow: (path) => of(disk.mounts?.[path] ?? []) },
    removeVolumes: () => EMPTY,
    rootDirectory: '/r',
    metrics: {
      orphansCleaned: ({ pods, failed }) => void counts.push(`${scheduler.now()} counted ${pods} ${failed}`),
    },
    log: { debug: log, info: log, warn: log, error: log },
  };
  return { directories: podDirectories(options), did, logged, counts };
};

describe('the directories of a pod', () => {
  it(
    'are made one below the other',
    marbles(({ expectObservable, scheduler }) => {
      const { directories, did } = onDisk(scheduler, {});
      expectObservable(directories.make('a')).toBe('---|');
      scheduler.schedule(
        () =>
          expect(did).toEqual([
            '0 mkdir /r/pods/a 750',
            '1 mkdir /r/pods/a/volumes 750',
            '2 mkdir /r/pods/a/plugins 750',
          ]),
        5,
      );
    }),
  );

  it(
    'are an error when they cannot be made',
    marbles(({ expectObservable, scheduler }) => {
      const { directories } = onDisk(scheduler, { fails: 'mkdir /r/pods/a/volumes 750' });
      expectObservable(directories.make('a')).toBe('-#', {}, new Error('busy'));
    }),
  );
});

describe('a clean-up', () => {
  it(
    'removes what belongs to pods that are over, one after the other, and skips ticks meanwhile',
    marbles(({ hot, expectObservable, scheduler }) => {
      const tick$ = hot('-t--t-------t-|');
      const { directories, did } = onDisk(scheduler, { pods: ['a', 'b', 'c'] });
      expectObservable(directories.cleanUp(tick$, (uid) => uid !== 'b')).toBe('----------------------|');
      scheduler.schedule(
        () => expect(did).toEqual(['1 rm /r/pods/a', '6 rm /r/pods/c', '12 rm /r/pods/a', '17 rm /r/pods/c']),
        40,
      );
    }),
  );

  it.each<{ case: string; disk: Disk; why: string }>([
    {
      case: 'something is mounted',
      disk: { mounts: { '/r/pods/a': ['/r/pods/a/volumes/x/y'] } },
      why: 'something is mounted at /r/pods/a/volumes/x/y',
    },
    {
      case: 'volumes are left',
      disk: {
        volumes: { '/r/pods/a/volumes': ['kubernetes.io~csi'], '/r/pods/a/volumes/kubernetes.io~csi': ['data'] },
      },
      why: 'it still has volumes: kubernetes.io~csi/data',
    },
    { case: 'the removal fails', disk: { fails: 'rm /r/pods/a' }, why: 'busy' },
  ])('says once that a directory stays because $case, and goes on', ({ disk, why }) => {
    marbles(({ hot, expectObservable, scheduler }) => {
      const tick$ = hot('t---------t---------t--');
      const { directories, did, logged } = onDisk(scheduler, { ...disk, pods: ['a', 'b'] });
      expectObservable(
        directories.cleanUp(tick$, () => true),
        '30ms !',
      ).toBe('---');
      scheduler.schedule(() => {
        expect(did.filter((line) => line.endsWith('/b'))).toHaveLength(3);
        expect(logged).toEqual([`the directory of a pod that is over could not be removed: ${why}`]);
      }, 40);
    })();
  });

  it(
    'says so again when a directory was removed meanwhile',
    marbles(({ hot, expectObservable, scheduler }) => {
      const tick$ = hot('t---------t---------t--');
      const disk: Disk = { pods: ['a'], fails: 'rm /r/pods/a' };
      const { directories, logged } = onDisk(scheduler, disk);
      expectObservable(
        directories.cleanUp(tick$, () => true),
        '30ms !',
      ).toBe('---');
      scheduler.schedule(() => (disk.fails = undefined), 5);
      scheduler.schedule(() => (disk.fails = 'rm /r/pods/a'), 15);
      scheduler.schedule(() => expect(logged).toHaveLength(2), 40);
    }),
  );

  it(
    'goes on after the pods could not be listed',
    marbles(({ hot, expectObservable, scheduler }) => {
      const disk: Disk = { pods: ['a'], fails: 'ls /r/pods' };
      const { directories, did, logged } = onDisk(scheduler, disk);
      expectObservable(
        directories.cleanUp(hot('t---------t---'), () => true),
        '30ms !',
      ).toBe('---');
      scheduler.schedule(() => (disk.fails = undefined), 5);
      scheduler.schedule(() => {
        expect(logged).toEqual(['the directories of pods could not be listed: busy']);
        expect(did).toEqual(['10 rm /r/pods/a']);
      }, 40);
    }),
  );
});

describe('the counts of a clean-up', () => {
  it(
    'are its pods that are over, and those of them whose directory stays, and are there at its end',
    marbles(({ hot, expectObservable, scheduler }) => {
      const disk: Disk = { pods: ['a', 'b', 'c'], fails: 'rm /r/pods/c' };
      const { directories, counts } = onDisk(scheduler, { ...disk, mounts: { '/r/pods/b': ['/r/pods/b/x'] } });
      expectObservable(
        directories.cleanUp(hot('t---------t---'), (uid) => uid !== 'a' || scheduler.now() < 10),
        '30ms !',
      ).toBe('-');
      scheduler.schedule(
        () => expectLanes(counts, { everyMs: 1 }).toBe('-----a----b', { a: 'counted 3 2', b: 'counted 2 2' }),
        40,
      );
    }),
  );

  it(
    'are zero when no pod is over, and do not change when the pods cannot be listed',
    marbles(({ hot, expectObservable, scheduler }) => {
      const disk: Disk = { pods: ['a'] };
      const { directories, counts } = onDisk(scheduler, disk);
      expectObservable(
        directories.cleanUp(hot('t---------t---------t'), () => false),
        '30ms !',
      ).toBe('-');
      scheduler.schedule(() => (disk.fails = 'ls /r/pods'), 5);
      scheduler.schedule(() => (disk.fails = undefined), 15);
      scheduler.schedule(() => expectLanes(counts, { everyMs: 1 }).toBe('n 19ms n', { n: 'counted 0 0' }), 40);
    }),
  );

  it(
    'do not have a pod that comes back meanwhile',
    marbles(({ hot, expectObservable, scheduler }) => {
      const { directories, counts } = onDisk(scheduler, { pods: ['a', 'b'] });
      let isBack = false;
      expectObservable(
        directories.cleanUp(hot('t'), (uid) => {
          const isOver = uid === 'a' || !isBack;
          if (uid === 'b') isBack = true;
          return isOver;
        }),
        '30ms !',
      ).toBe('-');
      scheduler.schedule(() => expectLanes(counts, { everyMs: 1 }).toBe('-----a', { a: 'counted 1 0' }), 40);
    }),
  );
});

describe('a pod that comes back under the same uid', () => {
  it(
    'waits for a removal that has begun, and has new directories',
    marbles(({ hot, expectObservable, scheduler }) => {
      const { directories, did } = onDisk(scheduler, { pods: ['a'] });
      expectObservable(
        directories.cleanUp(hot('t'), () => true),
        '30ms !',
      ).toBe('-');
      expectObservable(concat(timer(2, scheduler).pipe(ignoreElements()), directories.make('a'))).toBe('--------|');
      scheduler.schedule(() => expect(did.slice(0, 2)).toEqual(['0 rm /r/pods/a', '5 mkdir /r/pods/a 750']), 40);
    }),
  );

  it(
    'waits even if the agent no longer cleans up, and also for a removal that fails',
    marbles(({ hot, expectObservable, scheduler }) => {
      const { directories } = onDisk(scheduler, { pods: ['a'] });
      expectObservable(
        directories.cleanUp(hot('t'), () => true),
        '-!',
      ).toBe('--');
      expectObservable(concat(timer(2, scheduler).pipe(ignoreElements()), directories.make('a'))).toBe('--------|');
      const failing = onDisk(scheduler, { pods: ['a'], fails: 'rm /r/pods/a' });
      expectObservable(
        failing.directories.cleanUp(hot('t'), () => true),
        '-!',
      ).toBe('--');
      expectObservable(failing.directories.make('a')).toBe('---|');
    }),
  );

  it(
    'in time keeps what it has',
    marbles(({ hot, expectObservable, scheduler }) => {
      const { directories, did } = onDisk(scheduler, { pods: ['a', 'b'] });
      let isBack = false;
      expectObservable(
        directories.cleanUp(hot('t'), (uid) => uid === 'a' || !isBack),
        '30ms !',
      ).toBe('-');
      // While the other one is removed.
      scheduler.schedule(() => (isBack = true), 3);
      scheduler.schedule(() => expect(did).toEqual(['0 rm /r/pods/a']), 40);
    }),
  );
});

it('does nothing before it is subscribed', () => {
  const { directories, did } = onDisk({ now: () => 0, schedule: () => EMPTY } as never, { pods: ['a'] });
  directories.make('a');
  directories.cleanUp(of(1), () => true);
  expect(did).toEqual([]);
});
