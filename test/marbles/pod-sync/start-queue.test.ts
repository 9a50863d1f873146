import { catchError, mergeMap, NEVER, type Observable, of, concat } from 'rxjs';
import { describe, it } from 'vitest';
import { SyncCancelled } from '../../../src/model/pod-actions/sync-error.js';
import { type StartingCall, type StartQueue, startQueue } from '../../../src/streams/pod-sync/start-queue.js';
import { marbles } from '../marbles.js';

const CALLS: Readonly<Record<string, StartingCall>> = {
  r: 'RunPodSandbox',
  c: 'CreateContainer',
  s: 'StartContainer',
};

/** Emits its letter when it begins, and an x when it is cancelled. */
const beginning = (name: string, queue: StartQueue, call$: Observable<string>, signal?: AbortSignal) =>
  concat(of(name), call$).pipe(
    queue(CALLS[name] ?? 'RunPodSandbox', signal),
    catchError((error: unknown) => of(error instanceof SyncCancelled ? 'x' : String(error))),
  );

describe('what a runtime has to start', () => {
  it(
    'waits for one of eight slots; containers that are made go first, then pods that have a sandbox',
    marbles(({ cold, hot, expectObservable, scheduler }) => {
      const name$ = hot('rrrrrrrrrcsrr       ');
      const call = cold('--------------|     ');
      const begun = '    rrrrrrrr------scrr  ';
      const queue = startQueue(scheduler);
      const begun$ = name$.pipe(mergeMap((name) => beginning(name, queue, call)));
      expectObservable(begun$, '------------------!').toBe(begun);
    }),
  );

  it(
    'leaves the queue when its pod has to stop, and goes on if it has begun',
    marbles(({ cold, hot, expectObservable, expectSubscriptions, scheduler }) => {
      const name$ = hot('rrrrrrrrrr           ');
      const call = cold('--------------|      ');
      const stop = '     -----------s         ';
      const begun = '    rrrrrrrr---x--r      ';
      const queue = startQueue(scheduler);
      const abort = new AbortController();
      cold(stop).subscribe((value) => value === 's' && abort.abort());
      const begun$ = name$.pipe(
        mergeMap((name, index) => beginning(name, queue, call, index === 0 || index === 8 ? abort.signal : undefined)),
      );
      expectObservable(begun$, '------------------!').toBe(begun);
      expectSubscriptions(call.subscriptions).toBe([
        '^-------------!     ',
        '-^-------------!    ',
        '--^-------------!   ',
        '---^-------------!  ',
        '----^-------------! ',
        '-----^------------! ',
        '------^-----------! ',
        '-------^----------! ',
        '--------------^---! ',
      ]);
    }),
  );

  it(
    'gives the slot of a call that hangs to the next one after 5 s',
    marbles(({ hot, expectObservable, scheduler }) => {
      const name$ = hot('rrrrrrrrrr              ');
      const begun = '    rrrrrrrr 4992ms rr      ';
      const queue = startQueue(scheduler);
      const begun$ = name$.pipe(mergeMap((name) => beginning(name, queue, NEVER)));
      expectObservable(begun$, '5010ms !').toBe(begun);
    }),
  );

  it(
    'does not even get in line for a pod that has to stop already',
    marbles(({ expectObservable, scheduler }) => {
      const abort = new AbortController();
      abort.abort();
      expectObservable(beginning('r', startQueue(scheduler), NEVER, abort.signal)).toBe('(x|)');
    }),
  );
});
