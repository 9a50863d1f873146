import { map, NEVER, type Observable, of, throwError } from 'rxjs';
import { describe, it } from 'vitest';
import type { DirectoryFigures, VolumeSample } from '../../../src/model/stats/node-sample.js';
import { VOLUME_WAIT_MS, volumeUsage } from '../../../src/streams/stats/volume-usage.js';
import { statsPod } from '../../support/stats-parts.js';
import { marbles } from '../marbles.js';

const SPACE = { capacityBytes: 9, availableBytes: 5, usedBytes: 4, inodes: 9, inodesFree: 5 };
const figures = (usedBytes: number): DirectoryFigures => ({ timeMs: 0, usedBytes, inodesUsed: 1 });
const withVolume = (name: string) =>
  statsPod(name, {
    volumes: [
      { name: 'data', emptyDir: {} },
      { name: 'host', hostPath: { path: '/' } },
    ],
  });
/** `a=7`, or `a=` for a pod without volumes. */
const textOf = (volumes$: Observable<ReadonlyMap<string, readonly VolumeSample[]>>): Observable<string> =>
  volumes$.pipe(
    map((volumes) =>
      [...volumes].map(([uid, of]) => `${uid.slice(4)}=${of.map(({ disk }) => disk.usedBytes).join()}`).join(' '),
    ),
  );

describe('the space of volumes', () => {
  it(
    'is walked on request, at most once in its lifetime, counted from the end of the walk',
    marbles(({ cold, time, expectObservable, expectSubscriptions, scheduler }) => {
      const walk = cold('               --(w|)                   ', { w: figures(7) });
      const keptMs = time('               ----------|            ');
      const volumesOf = volumeUsage({
        rootDirectory: '/r',
        reader: { directory: () => walk, fileSystem: () => of(SPACE) },
        keptMs,
        scheduler,
      });
      const volumes$ = textOf(volumesOf([withVolume('a')]));
      expectObservable(volumes$, '      ^                        ').toBe('--(v|)', { v: 'a=7' });
      expectObservable(volumes$, '      -----------^             ').toBe('-----------(v|)', { v: 'a=7' });
      expectObservable(volumes$, '      -------------^           ').toBe('---------------(v|)', { v: 'a=7' });
      expectSubscriptions(walk.subscriptions).toBe(['^-!', '-------------^-!']);
    }),
  );

  it(
    'is left out of a reply after a second, while the walk goes on for a later one',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const walk = cold('1500ms (w|)', { w: figures(7) });
      const volumesOf = volumeUsage({
        rootDirectory: '/r',
        reader: { directory: () => walk, fileSystem: () => of(SPACE) },
        keptMs: 60_000,
        scheduler,
      });
      const volumes$ = textOf(volumesOf([withVolume('a')]));
      expectObservable(volumes$, '^').toBe(`${VOLUME_WAIT_MS}ms (v|)`, { v: '' });
      expectObservable(volumes$, '1600ms ^').toBe('1600ms (v|)', { v: 'a=7' });
      expectSubscriptions(walk.subscriptions).toBe('^ 1499ms !');
    }),
  );

  it(
    'is walked to its end beyond its lifetime where walks may be longer, and then counts no longer than that',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const walk = cold('40s (w|)', { w: figures(7) });
      const volumesOf = volumeUsage({
        ...{ rootDirectory: '/r', keptMs: 15_000, walkMs: 60_000, scheduler },
        reader: { directory: () => walk, fileSystem: () => of(SPACE) },
      });
      const volumes$ = textOf(volumesOf([withVolume('a')]));
      expectObservable(volumes$, '^').toBe('1s (v|)', { v: '' });
      expectObservable(volumes$, '54s ^').toBe('54s (v|)', { v: 'a=7' });
      expectObservable(volumes$, '55s 1ms ^').toBe('56s 1ms (v|)', { v: '' });
      expectSubscriptions(walk.subscriptions).toBe(['^ 39999ms !', '55s 1ms ^ 39999ms !']);
    }),
  );

  it(
    'is no longer walked for the next reply after its lifetime',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const walk = cold<DirectoryFigures>('90s (w|)');
      const volumesOf = volumeUsage({
        rootDirectory: '/r',
        reader: { directory: () => walk, fileSystem: () => of(SPACE) },
        keptMs: 60_000,
        scheduler,
      });
      expectObservable(textOf(volumesOf([withVolume('a')]))).toBe('1s (v|)', { v: '' });
      expectSubscriptions(walk.subscriptions).toBe('^ 60999ms !');
    }),
  );

  it(
    'of a volume that cannot be read is left out, and does not affect other pods; a negative lifetime reads none',
    marbles(({ expectObservable, scheduler }) => {
      const directory = (path: string) =>
        path.includes('uid-a') ? throwError(() => new Error('gone')) : of(figures(8));
      const reader = { directory, fileSystem: () => of(SPACE) };
      const pods = [withVolume('a'), withVolume('b'), statsPod('c')];
      expectObservable(textOf(volumeUsage({ rootDirectory: '/r', reader, keptMs: 60_000, scheduler })(pods))).toBe(
        '(v|)',
        { v: 'a= b=8 c=' },
      );
      const never = { directory: () => NEVER, fileSystem: () => NEVER };
      expectObservable(textOf(volumeUsage({ rootDirectory: '/r', reader: never, keptMs: -1, scheduler })(pods))).toBe(
        '(v|)',
        { v: '' },
      );
    }),
  );
});
