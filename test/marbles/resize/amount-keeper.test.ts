import {
  catchError,
  concat,
  defer,
  EMPTY,
  ignoreElements,
  mergeMap,
  of,
  type SchedulerLike,
  throwError,
  timer,
} from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { CheckpointName } from '../../../src/model/resize/checkpoints.js';
import type { Checkpoints } from '../../../src/streams/ports/checkpoints.js';
import { amountKeeper } from '../../../src/streams/resize/amount-keeper.js';
import { kubeletState } from '../../../src/streams/sync-loop/kubelet-state.js';
import { marbles } from '../marbles.js';

const given = (uid: string, cpu: string) => ({
  ...{ kind: 'allocation-found' as const, uid, amounts: { containers: { main: { requests: { cpu } } } } },
});

/** Files whose writes take 3 ms. */
const filesIn = (scheduler: SchedulerLike, files = new Map<CheckpointName, string>()) => {
  const wrote: string[] = [];
  const checkpoints: Checkpoints = {
    read: (name) => defer(() => of(files.get(name))),
    write: (name, content) =>
      defer(() => {
        wrote.push(`${scheduler.now()} ${name}`);
        return concat(
          timer(3, scheduler).pipe(ignoreElements()),
          defer(() => {
            files.set(name, content);
            return EMPTY;
          }),
        );
      }),
    pathOf: (name) => `/node/${name}`,
  };
  return { files, wrote, checkpoints };
};

describe('the amounts of resized pods', () => {
  it(
    'are saved one write at a time; a save that waits has nothing to do if the write before it had all',
    marbles(({ hot, expectObservable, scheduler, flush }) => {
      const { wrote, files, checkpoints } = filesIn(scheduler);
      const state = kubeletState();
      const keeper = amountKeeper(state, checkpoints);
      state.apply(given('a', '1'));
      state.apply(given('b', '1'));
      const saves = '    a-b----c';
      // The turn of the second save comes with the end of the first.
      const seen = '     ---(ba)c';
      const saved$ = hot(saves).pipe(mergeMap((name) => concat(keeper.save$, of(name))));
      expectObservable(saved$).toBe(seen);
      flush();
      expect(wrote).toEqual(['0 allocated_pods_state']);
      expect(files.get('allocated_pods_state')).toContain('"checksum":');
    }),
  );

  it(
    'that change while they are written are written again',
    marbles(({ hot, expectObservable, scheduler, flush }) => {
      const { wrote, checkpoints } = filesIn(scheduler);
      const state = kubeletState();
      const keeper = amountKeeper(state, checkpoints);
      state.apply(given('a', '1'));
      hot('-x').subscribe(() => {
        state.apply({ kind: 'instance-resized', uid: 'a', container: 'main', amounts: { containerId: 'c1' } });
      });
      const saves = '    a-b';
      const seen = '     ---a--b';
      const saved$ = hot(saves).pipe(mergeMap((name) => concat(keeper.save$, of(name))));
      expectObservable(saved$).toBe(seen);
      flush();
      expect(wrote).toEqual(['0 allocated_pods_state', '3 actuated_pods_state']);
    }),
  );

  it(
    'are there for the next agent, which writes nothing',
    marbles(({ expectObservable, scheduler, flush }) => {
      const { files, wrote, checkpoints } = filesIn(scheduler);
      const state = kubeletState();
      state.apply(given('a', '1'));
      expectObservable(amountKeeper(state, checkpoints).save$).toBe('---|');
      flush();
      const next = kubeletState();
      const keeper = amountKeeper(next, checkpoints);
      expectObservable(concat(keeper.restore$, keeper.save$)).toBe('---|');
      flush();
      expect(next.value.resizes.allocated.toJS()).toEqual({ a: { containers: { main: { requests: { cpu: '1' } } } } });
      expect(wrote).toHaveLength(1);
      expect(files.size).toBe(1);
    }),
  );

  it(
    'that cannot be read end the start, with the file and what to do',
    marbles(({ expectObservable, scheduler }) => {
      const { checkpoints } = filesIn(scheduler, new Map([['actuated_pods_state', '{"data":"{}","checksum":1}']]));
      const path = '/node/actuated_pods_state';
      const text = `could not restore state from checkpoint: ${path}: checkpoint is corrupted: the checksum is of another content, please drain this node and delete pod resource information checkpoint file "${path}" before restarting`;
      const restored$ = amountKeeper(kubeletState(), checkpoints).restore$;
      expectObservable(restored$.pipe(catchError((error: unknown) => of((error as Error).message)))).toBe('(t|)', {
        t: text,
      });
    }),
  );

  it(
    'that cannot be written are an error of the sync that needs them, and are written by the next one',
    marbles(({ expectObservable, scheduler, flush }) => {
      const { checkpoints, files } = filesIn(scheduler);
      let isFull = true;
      const full = new Error('no space left on device');
      const faulty: Checkpoints = {
        ...checkpoints,
        write: (...args) => defer(() => (isFull ? throwError(() => full) : checkpoints.write(...args))),
      };
      const state = kubeletState();
      const keeper = amountKeeper(state, faulty);
      state.apply(given('a', '1'));
      expectObservable(keeper.save$).toBe('#', undefined, full);
      flush();
      isFull = false;
      expectObservable(keeper.save$).toBe('---|');
      flush();
      expect(files.size).toBe(1);
    }),
  );
});
