import {
  concat,
  defer,
  EMPTY,
  ignoreElements,
  map,
  NEVER,
  type Observable,
  of,
  type SchedulerLike,
  throwError,
  timer,
} from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { ContainerStatusResponse, ListContainersResponse } from '../../../src/generated/runtime/v1/api.js';
import { CriError } from '../../../src/model/cri/cri-error.js';
import { DEFAULT_LOG_ROTATION, type LogRotationPolicy } from '../../../src/model/upkeep/log-rotation.js';
import { logRotation } from '../../../src/streams/upkeep/log-rotation.js';
import { expectLanes } from '../lanes.js';
import { marbles } from '../marbles.js';

const SECOND = 1_000;
const SMALL = 1_000n;
const away = new CriError('unavailable', 'ReopenContainerLog', 'the runtime is away');

interface Scene {
  readonly running?: readonly string[];
  /** Bytes by path; a log is at `/logs/<container>`. */
  readonly files?: Readonly<Record<string, bigint>>;
  readonly policy?: Partial<LogRotationPolicy>;
  readonly untilMs?: number;
  /** What becomes of a call, by `<call> <container or path>`; otherwise it succeeds at once. */
  readonly calls?: Readonly<Record<string, () => Observable<never>>>;
  /** Of containers that have ended since they were listed. */
  readonly ended?: readonly string[];
  /** The runtime makes a new file although its answer is an error. */
  readonly reopensAllTheSame?: boolean;
  readonly listing?: (scheduler: SchedulerLike) => Observable<ListContainersResponse>;
  /** Bytes of the log of `c1` from a time on. */
  readonly grows?: readonly [atMs: number, bytes: bigint];
}

/** The calls until `untilMs`, as `<seconds> <call> <what>`; reads of containers and of the sizes of files have different names. */
const played = (scene: Scene) => {
  const { running = ['c1'], policy, untilMs = SECOND, calls = {}, ended = [] } = scene;
  const files = new Map(Object.entries(scene.files ?? {}));
  const done: string[] = [];
  const looks: string[] = [];
  const sizes = new Set<string>();
  const logged: string[] = [];
  marbles(({ scheduler }) => {
    const call = (name: string, effect: () => void, notes = done): Observable<never> =>
      defer(() => {
        notes.push(`${scheduler.now() / SECOND} ${name}`);
        if (scene.reopensAllTheSame && name.startsWith('reopen')) effect();
        const special = calls[name.split(' ').slice(0, 2).join(' ')];
        if (special) return special();
        effect();
        return EMPTY;
      });
    const move = (from: string, to: string) => {
      files.set(to, files.get(from) ?? 0n);
      files.delete(from);
    };
    const say = (fields: object, message: string) =>
      logged.push(`${message}: ${'error' in fields ? String(fields.error) : ''}`);
    const rotation$ = logRotation({
      runtime: {
        listContainers: ({ filter }) => {
          expect(filter).toEqual({ state: { state: 'CONTAINER_RUNNING' } });
          if (scene.listing) return scene.listing(scheduler);
          return of(listed(...running));
        },
        containerStatus: ({ containerId = '' }) => {
          const state = ended.includes(containerId) ? 'CONTAINER_EXITED' : 'CONTAINER_RUNNING';
          const status = { status: { state, logPath: `/logs/${containerId}` } } as unknown as ContainerStatusResponse;
          return defer(() => {
            looks.push(`${scheduler.now() / SECOND} ${containerId}`);
            return calls[`look ${containerId}`]?.() ?? of(status);
          });
        },
        reopenContainerLog: ({ containerId = '' }) => {
          const make = () => files.set(`/logs/${containerId}`, 0n);
          return concat(call(`reopen ${containerId}`, make), of({}));
        },
      },
      logFiles: {
        size: (path) => {
          sizes.add(`${scheduler.now() / SECOND} ${path.replace('/logs/', '')}`);
          return of(files.get(path));
        },
        rotated: (path) => of([...files.keys()].filter((name) => name.startsWith(`${path}.`))),
        rename: (from, to) => call(`rename ${from} ${to}`, () => move(from, to)),
        compress: (path) => call(`compress ${path}`, () => move(path, `${path}.gz`)),
        remove: (path) => call(`remove ${path}`, () => files.delete(path)),
        utcOffsetMinutes: () => 60,
      },
      policy: { ...DEFAULT_LOG_ROTATION, maxBytes: SMALL, ...policy },
      log: { debug: say, info: say, warn: say, error: say },
      scheduler,
      wallClock: () => scheduler.now(),
    });
    const { grows } = scene;
    if (grows) scheduler.schedule(() => files.set('/logs/c1', grows[1]), grows[0]);
    const subscription = rotation$.subscribe();
    scheduler.schedule(() => subscription.unsubscribe(), untilMs);
  })();
  return { done, looks, sizes: [...sizes], logged, files: [...files.keys()].toSorted() };
};

const listed = (...ids: readonly string[]) =>
  ({ containers: ids.map((id) => ({ id })) }) as unknown as ListContainersResponse;
/** Lines that begin with milliseconds, of lines that begin with seconds. */
const inMs = (lines: readonly string[]) =>
  lines.map((line) => line.replace(/^[\d.]+/, (seconds) => `${Number(seconds) * SECOND}`));
const failing = (error: Error) => () => throwError(() => error);

describe('the logs of running containers', () => {
  it('are looked at at once and every 10 s after a listing has ended, however long that took', () => {
    const { sizes } = played({
      untilMs: 40 * SECOND,
      listing: (scheduler) => timer(2 * SECOND, scheduler).pipe(map(() => listed('c1'))),
    });
    // Each listing takes 2 s.
    expectLanes(inMs(sizes), { everyMs: SECOND }).toBe({ c1: '--c-----------c-----------c-----------c' });
  });

  it('are looked at as often as the configuration says', () => {
    const { sizes } = played({ untilMs: 10 * SECOND, policy: { periodMs: 3 * SECOND } });
    expect(sizes).toEqual(['0 c1', '3 c1', '6 c1', '9 c1']);
  });

  it('cost the runtime one question for each container, until one has grown', () => {
    const files = { '/logs/c1': 1n, '/logs/c2': SMALL };
    const { looks, sizes } = played({ untilMs: 25 * SECOND, running: ['c1', 'c2'], files });
    // The second one is large at first, and then a new file.
    expect(looks).toEqual(['0 c1', '0 c2']);
    expect(sizes).toEqual(['0 c1', '0 c2', '10 c1', '10 c2', '20 c1', '20 c2']);
    const refused = { 'reopen c2': failing(away) };
    expect(played({ untilMs: 25 * SECOND, running: ['c1', 'c2'], files, calls: refused }).looks).toEqual([
      ...['0 c1', '0 c2', '10 c2', '20 c2'],
    ]);
  });

  it('are asked for again of a container that was away from the listing', () => {
    let listings = 0;
    const { looks } = played({
      untilMs: 25 * SECOND,
      listing: () => defer(() => of(++listings === 2 ? listed('c2') : listed('c1', 'c2'))),
    });
    expect(looks).toEqual(['0 c1', '0 c2', '20 c1']);
  });

  it('are looked at again after a listing that failed, which is said', () => {
    let listings = 0;
    const { looks, logged } = played({
      untilMs: 15 * SECOND,
      listing: () => defer(() => (++listings === 1 ? throwError(() => away) : of(listed('c1')))),
    });
    expect(looks).toEqual(['10 c1']);
    expect(logged).toEqual(['logs are not rotated: the runtime could not list its containers: the runtime is away']);
  });

  it('are left alone while they are small, and when the configuration says so', () => {
    expect(played({ files: { '/logs/c1': 999n } }).done).toEqual([]);
    const off = played({ files: { '/logs/c1': 10n ** 12n }, policy: { maxBytes: -1n } });
    expect([off.done, off.looks]).toEqual([[], []]);
  });

  it('are left alone once the container has ended', () => {
    expect(played({ files: { '/logs/c1': SMALL }, ended: ['c1'] }).done).toEqual([]);
  });

  it.each([
    { case: 'is said', error: away, says: ['the log of a container could not be rotated: the runtime is away'] },
    {
      case: 'is not said of one that has gone meanwhile',
      error: new CriError('not-found', 'ContainerStatus', 'no such container'),
      says: [],
    },
  ])('are checked one after the other; a failed check $case and does not stop the others', ({ error, says }) => {
    const { done, logged } = played({
      running: ['c1', 'c2'],
      files: { '/logs/c1': SMALL, '/logs/c2': SMALL },
      calls: { 'look c1': failing(error) },
    });
    expect(done).toEqual(['0 rename /logs/c2 /logs/c2.19700101-010000', '0 reopen c2']);
    expect(logged).toEqual(says);
  });
});

describe('a log that has grown', () => {
  it('is kept under its local time, and the runtime starts another one', () => {
    const { done, files } = played({ files: { '/logs/c1': SMALL } });
    expect(done).toEqual(['0 rename /logs/c1 /logs/c1.19700101-010000', '0 reopen c1']);
    expect(files).toEqual(['/logs/c1', '/logs/c1.19700101-010000']);
  });

  it('finds room made: unfinished and oldest files go, the last rotated one is compressed', () => {
    const { done, files } = played({
      files: {
        '/logs/c1': SMALL,
        '/logs/c1.19691201-000000.gz': 1n,
        '/logs/c1.19691202-000000.gz': 1n,
        '/logs/c1.19691203-000000': 1n,
        '/logs/c1.19691203-000000.tmp': 1n,
        '/logs/c10.19691203-000000': 1n,
      },
      policy: { maxFiles: 4 },
    });
    expect(done).toEqual([
      '0 remove /logs/c1.19691203-000000.tmp',
      '0 remove /logs/c1.19691201-000000.gz',
      '0 compress /logs/c1.19691203-000000',
      '0 rename /logs/c1 /logs/c1.19700101-010000',
      '0 reopen c1',
    ]);
    // Four files, and a foreign one.
    expect(files).toEqual([
      '/logs/c1',
      '/logs/c1.19691202-000000.gz',
      '/logs/c1.19691203-000000.gz',
      '/logs/c1.19700101-010000',
      '/logs/c10.19691203-000000',
    ]);
  });

  it('is rotated when it has 10 MiB, into five files at most', () => {
    const { maxBytes } = DEFAULT_LOG_ROTATION;
    const names = [1, 2, 3, 4].map((day) => `/logs/c1.1969120${day}-000000.gz`);
    const { done, files } = played({
      files: { '/logs/c1': 10n * 1024n * 1024n - 1n, ...Object.fromEntries(names.map((name) => [name, 1n])) },
      grows: [15 * SECOND, 10n * 1024n * 1024n],
      policy: { maxBytes },
      untilMs: 35 * SECOND,
    });
    expectLanes(inMs(done), { everyMs: 10 * SECOND }).toBe({
      'remove /logs/c1.19691201-000000.gz': '--r',
      'rename /logs/c1': '                   --r',
      'reopen c1': '                         --r',
    });
    expect(files).toEqual(['/logs/c1', ...names.slice(1), '/logs/c1.19700101-010020']);
  });

  it('is put back when the runtime does not start another one, and rotated the next time', () => {
    const { done, logged, files } = played({
      files: { '/logs/c1': SMALL },
      calls: { 'reopen c1': failing(away) },
      untilMs: 15 * SECOND,
    });
    expect(done).toEqual([
      '0 rename /logs/c1 /logs/c1.19700101-010000',
      '0 reopen c1',
      '0 rename /logs/c1.19700101-010000 /logs/c1',
      '10 rename /logs/c1 /logs/c1.19700101-010010',
      '10 reopen c1',
      '10 rename /logs/c1.19700101-010010 /logs/c1',
    ]);
    expect(files).toEqual(['/logs/c1']);
    expect(logged).toEqual(
      Array<string>(2).fill(
        'the log of a container could not be rotated: failed to reopen container log "c1": the runtime is away',
      ),
    );
  });

  it('is not put back over a log that the runtime has started although its call failed', () => {
    const { done, files } = played({
      files: { '/logs/c1': SMALL },
      calls: { 'reopen c1': failing(away) },
      reopensAllTheSame: true,
    });
    expect(done).toEqual(['0 rename /logs/c1 /logs/c1.19700101-010000', '0 reopen c1']);
    expect(files).toEqual(['/logs/c1', '/logs/c1.19700101-010000']);
  });

  it.each(['rename /logs/c1', 'compress /logs/c1.19691203-000000'])(
    'stays as it is when the disk refuses: %s',
    (call) => {
      const { done, logged } = played({
        files: { '/logs/c1': SMALL, '/logs/c1.19691203-000000': 1n },
        calls: { [call]: failing(new Error('disk full')) },
      });
      expect(done.some((line) => line.includes('reopen'))).toBe(false);
      expect(logged).toEqual(['the log of a container could not be rotated: disk full']);
    },
  );
});

describe('a log that is missing', () => {
  it('is asked for, and then there is nothing to rotate', () => {
    expect(played({ files: {} }).done).toEqual(['0 reopen c1']);
  });

  it('is asked for again the next time if the runtime cannot', () => {
    const { done, logged } = played({ calls: { 'reopen c1': failing(away) }, untilMs: 15 * SECOND });
    expect(done).toEqual(['0 reopen c1', '10 reopen c1']);
    expect(logged[0]).toBe(
      'the log of a container could not be rotated: failed to reopen container log "c1": the runtime is away',
    );
  });

  it('is said when the runtime says that it has started it, and has not', () => {
    const { logged } = played({ calls: { 'reopen c1': () => EMPTY } });
    expect(logged).toEqual([
      'the log of a container could not be rotated: /logs/c1 is missing although the runtime has reopened it',
    ]);
  });
});

describe('a container that takes long', () => {
  const slow = { 'look slow': () => NEVER };

  it('holds up one worker and no other, and is not looked at twice', () => {
    const { looks, sizes } = played({
      running: ['slow', 'c1', 'c2'],
      files: { '/logs/c1': 0n, '/logs/c2': 0n },
      policy: { workers: 2 },
      calls: slow,
      untilMs: 15 * SECOND,
    });
    expect(looks).toEqual(['0 slow', '0 c1', '0 c2']);
    expect(sizes).toEqual(['0 c1', '0 c2', '10 c1', '10 c2']);
  });

  it('lets the others wait for their one turn when there is one worker', () => {
    const { looks } = played({
      running: ['slow', 'c1'],
      files: { '/logs/c1': 0n, '/logs/slow': 0n },
      calls: { 'look slow': () => timer(25 * SECOND).pipe(ignoreElements()) },
      untilMs: 34 * SECOND,
    });
    expectLanes(inMs(looks), { everyMs: SECOND }).toBe({ slow: 's 24s -----s', c1: '  - 24s c-----' });
  });
});
