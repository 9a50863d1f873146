import { concat, defer, EMPTY, ignoreElements, type Observable, of, tap, throwError, timer } from 'rxjs';
import { expect, it } from 'vitest';
import type { ShutdownState } from '../../../src/model/shutdown/shutdown-state.js';
import type { ShutdownSignal } from '../../../src/streams/ports/shutdown-inhibitor.js';
import { shutdownManager, type ShutdownManagerOptions } from '../../../src/streams/shutdown/shutdown-manager.js';
import type { MarbleHelpers } from '../../../src/tools/marbles/marbles.js';
import { aPod } from '../../unit/pods.js';
import { expectLanes } from '../lanes.js';
import { inTurn, marbles } from '../marbles.js';

const SIGNALS: Readonly<Record<string, ShutdownSignal>> = { w: 'watching', s: 'shutdown', c: 'cancelled' };
const EMITTED = { t: true, f: false };
const pod = aPod({ priority: 0, terminationGracePeriodSeconds: 30 });

interface Parts {
  /** One picture per subscription of the watch; afterwards it fails. */
  readonly watches: readonly string[];
  /** The time that the pod takes to stop, in milliseconds. */
  readonly stopMs?: number;
  /** The attempts to take a lock that fail, counted from 1. */
  readonly lockFailures?: readonly number[];
  readonly maxDelayMs?: Observable<number>;
  readonly states?: Partial<ShutdownManagerOptions['states']>;
}

/** A manager of one pod, and its actions in their order, with their times. */
const stageOf = ({ cold, scheduler }: MarbleHelpers, parts: Parts) => {
  const did: string[] = [];
  const note = (what: string): void => void did.push(`${scheduler.now()} ${what}`);
  const noting = (what: string): Observable<never> =>
    defer(() => {
      note(what);
      return EMPTY;
    });
  const logged: string[] = [];
  const say = (fields: object, message: string): void =>
    void logged.push(`${scheduler.now()} ${message}${'error' in fields ? `: ${String(fields.error)}` : ''}`);
  const watch$ = inTurn(...parts.watches.map((picture) => cold(picture, SIGNALS, new Error('bus'))));
  let locks = 0;
  const manager$ = shutdownManager({
    inhibitor: {
      maxDelayMs: () => parts.maxDelayMs ?? of(60_000),
      setMaxDelay: (seconds) => noting(`set ${seconds}`),
      takeLock: () =>
        defer(() => {
          const lock = ++locks;
          if (parts.lockFailures?.includes(lock))
            return concat(
              noting('refuse'),
              throwError(() => new Error('refused')),
            );
          note(`take ${lock}`);
          return of(lock);
        }),
      releaseLock: (lock) => note(`release ${lock}`),
      watch: () => concat(noting('watch'), watch$),
    },
    groups: [{ priority: 0, graceSeconds: 20 }],
    activePods: () => [pod],
    stopPods$: concat(noting('stop'), timer(parts.stopMs ?? 0, scheduler), noting('stopped')).pipe(ignoreElements()),
    states: {
      read: () => of({}),
      write: ({ endedAt }) => noting(endedAt === undefined ? 'write start' : 'write end'),
      ...parts.states,
    },
    metrics: { nodeShutdown: ({ startedAt = 0, endedAt = 0 }) => note(`metrics ${startedAt} ${endedAt}`) },
    recordEvent: ({ type, reason, message }) => note(`event ${type} ${reason} ${message}`),
    log: { debug: say, info: () => undefined, warn: say, error: say },
    scheduler,
    wallClock: () => 1_000 + scheduler.now(),
  }).pipe(tap((isShuttingDown) => note(`emit ${isShuttingDown}`)));
  return { did, logged, manager$ };
};

it(
  'a shutdown is an event, then a value, then the stop of the pods, then the release of the lock',
  marbles((helpers) => {
    const { did, manager$ } = stageOf(helpers, { watches: ['w--s'], stopMs: 5 });
    helpers.expectObservable(manager$, '^-----------!').toBe('---t--------', EMITTED);
    helpers.flush();
    expect(did).toEqual([
      ...['0 metrics 0 0', '0 watch', '0 take 1'],
      '3 event Normal Shutdown Shutdown manager detected shutdown event',
      ...['3 emit true', '3 metrics 1003 0', '3 write start', '3 stop'],
      ...['8 stopped', '8 metrics 1003 1008', '8 write end', '8 release 1'],
    ]);
  }),
);

it(
  'a cancellation is noticed when the pods are stopped, and takes the lock again',
  marbles((helpers) => {
    const { did, manager$ } = stageOf(helpers, { watches: ['w--sc'], stopMs: 5 });
    helpers.expectObservable(manager$, '^-----------!').toBe('---t----f---', EMITTED);
    helpers.flush();
    expect(did.slice(did.indexOf('8 release 1'))).toEqual([
      '8 release 1',
      '8 event Normal Shutdown Shutdown manager detected shutdown cancellation',
      ...['8 emit false', '8 take 2', '12 release 2'],
    ]);
  }),
);

it(
  'a shutdown after a cancellation stops the pods again',
  marbles((helpers) => {
    const { did, manager$ } = stageOf(helpers, { watches: ['w-s---c---s'] });
    helpers.expectObservable(manager$, '^------------!').toBe('--t---f---t', EMITTED);
    helpers.flush();
    expectLanes(
      did.filter((line) => /stop$|take|release/.test(line)),
      { everyMs: 1 },
    ).toBe({
      take: '1-----2---',
      stop: '--s-------s',
      release: '--1-------2',
    });
  }),
);

it(
  'a lost watch begins again after a second, for ever, and takes a new lock before it releases the old one',
  marbles((helpers) => {
    const { did, logged, manager$ } = stageOf(helpers, { watches: ['w-#', '#', '#', '|', 'w--s'] });
    helpers.expectObservable(manager$, '^ 4010ms !').toBe('4005ms t', EMITTED);
    helpers.flush();
    expectLanes(
      did.filter((line) => /watch|take|release/.test(line)),
      { everyMs: 1 },
    ).toBe({
      watch: '  w 1001ms w 999ms w 999ms w 999ms w---',
      take: '   1 1001ms - 999ms - 999ms - 999ms 2---',
      release: '- 1001ms - 999ms - 999ms - 999ms 1--2',
    });
    // Each new reason once.
    expect(logged).toEqual([
      '2 the watch of the shutdown of the machine is lost, and begins again: bus',
      '3002 the watch of the shutdown of the machine is lost, and begins again: the watch of the shutdown has ended',
    ]);
  }),
);

it(
  'pods are stopped to the end while the watch is lost, which is noticed then',
  marbles((helpers) => {
    const { did, manager$ } = stageOf(helpers, { watches: ['w-s-#', 'w-c'], stopMs: 6 });
    helpers.expectObservable(manager$, '^ 1020ms !').toBe('--t 1007ms f', EMITTED);
    helpers.flush();
    expectLanes(
      did.filter((line) => /watch|take|stopped|release/.test(line)),
      { everyMs: 1 },
    ).toBe({
      watch: '  w-------- 999ms w',
      take: '   1-------- 999ms 2-3',
      stopped: '--------s',
      release: '--------1 999ms --2 10ms 3',
    });
  }),
);

it.each<[string, Omit<Parts, 'watches'> & { readonly watches?: readonly string[] }, string]>([
  ['the delay cannot be read', { maxDelayMs: throwError(() => new Error('no bus')) }, 'no bus'],
  ['nothing can be watched', { watches: ['#'] }, 'bus'],
  ['the lock is refused', { lockFailures: [1] }, 'refused'],
])('after a first attempt in which %s there is no other one', (_, parts, reason) =>
  marbles((helpers) => {
    const { logged, did, manager$ } = stageOf(helpers, { watches: ['w---s'], ...parts });
    helpers.expectObservable(manager$, '^ 5s !').toBe('|');
    helpers.flush();
    expect(logged).toEqual([
      `0 the shutdown of the machine is not watched, so the pods will not be stopped before it: ${reason}`,
    ]);
    expect(did.filter((line) => line.includes('watch')).length).toBeLessThanOrEqual(1);
  })(),
);

it(
  'a lock that is refused after a cancellation is taken a second later, with a new watch',
  marbles((helpers) => {
    const { did, manager$ } = stageOf(helpers, { watches: ['w-s-c', 'w-s'], lockFailures: [2] });
    helpers.expectObservable(manager$, '^ 1010ms !').toBe('--t-f 1001ms t', EMITTED);
    helpers.flush();
    expectLanes(
      did.filter((line) => /watch|take|refuse|release/.test(line)),
      { everyMs: 1 },
    ).toBe({
      watch: '  w---- 999ms w',
      take: '   1---- 999ms 3',
      refuse: ' ----r',
      release: '--1-- 999ms --3',
    });
  }),
);

it(
  'an unsubscription releases the lock, also while pods are being stopped',
  marbles((helpers) => {
    const idle = stageOf(helpers, { watches: ['w'] });
    helpers.expectObservable(idle.manager$, '^--!').toBe('----');
    const busy = stageOf(helpers, { watches: ['ws'], stopMs: 9 });
    helpers.expectObservable(busy.manager$, '^--!').toBe('-t--', EMITTED);
    helpers.flush();
    expect([idle.did.at(-1), busy.did.at(-1)]).toEqual(['3 release 1', '3 release 1']);
  }),
);

it(
  'a delay that is too short is set to the seconds of all groups before the watch begins',
  marbles((helpers) => {
    const maxDelayMs = inTurn(of(5_000), of(5_000), of(20_000));
    const { did, manager$ } = stageOf(helpers, { watches: ['w'], maxDelayMs });
    helpers.expectObservable(manager$, '^ 200ms !').toBe('201ms -');
    helpers.flush();
    expect(did).toEqual(['0 metrics 0 0', '0 set 20', '100 watch', '100 take 1', '201 release 1']);
  }),
);

it(
  'the metrics begin with the shutdown that an earlier agent has written, and an unreadable one is logged',
  marbles((helpers) => {
    const earlier: ShutdownState = { startedAt: 5, endedAt: 7 };
    const read = stageOf(helpers, { watches: ['w'], states: { read: () => helpers.cold('-(s|)', { s: earlier }) } });
    helpers.expectObservable(read.manager$, '^--!').toBe('----');
    const unreadable = stageOf(helpers, { watches: ['w-s'], states: { read: () => helpers.cold('-#') } });
    helpers.expectObservable(unreadable.manager$, '^--!').toBe('--t-', EMITTED);
    helpers.flush();
    expect(read.did).toContain('1 metrics 5 7');
    expect(unreadable.logged).toEqual(['1 cannot read the newest shutdown of the node: error']);
  }),
);

it(
  'no pod waits for the disk, but the lock does, so that the end is written before the machine goes down',
  marbles((helpers) => {
    const { cold, expectObservable, flush } = helpers;
    const slow = stageOf(helpers, {
      watches: ['w-s'],
      states: { write: ({ endedAt }) => (endedAt === undefined ? cold('-----|') : cold('---|')) },
    });
    expectObservable(slow.manager$, '^-----------!').toBe('--t', EMITTED);
    const failing = stageOf(helpers, { watches: ['w-s'], states: { write: () => cold('-#') } });
    expectObservable(failing.manager$, '^-----------!').toBe('--t', EMITTED);
    flush();
    expectLanes(
      slow.did.filter((line) => /stop$|release/.test(line)),
      { everyMs: 1 },
    ).toBe({
      stop: '   --s',
      release: '--------- -1'.replaceAll(' ', ''),
    });
    expect(failing.logged).toEqual([
      '3 cannot write the newest shutdown of the node: error',
      '4 cannot write the newest shutdown of the node: error',
    ]);
    expect(failing.did.at(-1)).toBe('4 release 1');
  }),
);
