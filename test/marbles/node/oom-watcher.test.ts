import { defer, map, type Observable, of, type SchedulerLike, throwError } from 'rxjs';
import { expect, it } from 'vitest';
import { oomWatcher } from '../../../src/streams/node/oom-watcher.js';
import { expectLanes } from '../lanes.js';
import { marbles } from '../marbles.js';

const OF_SYSTEM = (pid: number): string => `3,1,1,-;Out of memory: Killed process ${pid} (eater) total-vm:1kB`;
const OF_POD = (pid: number): string => `3,1,1,-;Memory cgroup out of memory: Killed process ${pid} (pod) total-vm:1kB`;

/** `kills` is the number by second, `records` what the log has by then. */
const watching = (
  scheduler: SchedulerLike,
  kills: (seconds: number) => Observable<number>,
  records: (seconds: number) => Observable<readonly string[]>,
) => {
  const did: string[] = [];
  const seconds = (): number => scheduler.now() / 1_000;
  const noted = <T>(what: string, read$: (at: number) => Observable<T>): Observable<T> =>
    defer(() => {
      did.push(`${scheduler.now()} ${what}`);
      return read$(seconds());
    });
  const watch$ = oomWatcher({
    oomLog: { kills: () => noted('count', kills), records: () => noted('log', records) },
    recordEvent: ({ type, reason, message, pod }) => {
      expect([type, reason, pod]).toEqual(['Warning', 'SystemOOM', undefined]);
      did.push(`${scheduler.now()} event ${message.slice(message.indexOf('victim'))}`);
    },
    log: { warn: (_, text) => did.push(`${scheduler.now()} warn ${text}`) },
    scheduler,
  });
  return { did, watch$ };
};
const LEGEND = {
  c: 'count',
  l: 'log',
  e: 'event victim process: eater, pid: 2',
  f: 'event victim process: eater, pid: 3',
};

it(
  'the log of the kernel is read only once the number of kills has risen, and each new kill of the system is an event',
  marbles(({ expectObservable, scheduler, flush }) => {
    const { did, watch$ } = watching(
      scheduler,
      (seconds) => of(seconds < 15 ? 5 : seconds < 35 ? 7 : 8),
      (seconds) => of([OF_SYSTEM(1), OF_SYSTEM(2), OF_POD(9), ...(seconds < 35 ? [] : [OF_SYSTEM(3)])]),
    );
    expectObservable(watch$, '^ 55s !').toBe('-');
    flush();
    expectLanes(did, { everyMs: 5_000 }).toBe('c-c-(cle)-c-(clf)-c', LEGEND);
  }),
);

it(
  'a log that cannot be read is a warning, and the next kill is reported again',
  marbles(({ expectObservable, scheduler, flush }) => {
    const { did, watch$ } = watching(
      scheduler,
      (seconds) => of(seconds),
      (seconds) => (seconds < 15 ? throwError(() => new Error('no /dev/kmsg')) : of([OF_SYSTEM(2)])),
    );
    expectObservable(watch$, '^ 25s !').toBe('-');
    flush();
    const w = 'warn the log of the kernel cannot be read: who ran out of memory is not reported';
    expectLanes(did, { everyMs: 5_000 }).toBe('c-(clw)-(cle)', { ...LEGEND, w });
  }),
);

it(
  'a kernel that does not count kills is not watched any more',
  marbles(({ expectObservable, scheduler, flush }) => {
    const { did, watch$ } = watching(
      scheduler,
      () => throwError(() => new Error('no oom_kill')),
      () => of([]),
    );
    expectObservable(watch$).toBe('|');
    flush();
    expect(did).toEqual(['0 count', '0 warn the kernel does not say how often memory ran out: that is not reported']);
  }),
);

it(
  'a slow count leaves out the next one, and a node without a log is not watched',
  marbles(({ cold, expectObservable, scheduler, flush }) => {
    const { did, watch$ } = watching(
      scheduler,
      () => cold('12s (c|)').pipe(map(() => 1)),
      () => of([]),
    );
    expectObservable(watch$, '^ 30s !').toBe('-');
    expectObservable(oomWatcher({ recordEvent: () => undefined, log: { warn: () => undefined }, scheduler })).toBe('|');
    flush();
    expect(did).toEqual(['0 count', '20000 count']);
  }),
);
