import { describe, expect, it } from 'vitest';
import { pullQueue } from '../../../src/streams/images/pull-queue.js';
import { kubeletState } from '../../../src/streams/sync-loop/kubelet-state.js';
import { container, imageStage } from '../../support/image-stage.js';
import { marbles } from '../marbles.js';

const SECOND = 1_000;

describe('a pull among others', () => {
  it(
    'waits for its turn, and leaves the queue at once when its pod has to stop',
    marbles(({ cold, scheduler, expectObservable, expectSubscriptions }) => {
      const queue = pullQueue({}, scheduler);
      const abort = new AbortController();
      const pull$ = cold('-(p|)');
      const stage = imageStage(scheduler, { pull$, pullQueue: queue, signal: abort.signal });
      expectObservable(cold('------|').pipe(queue())).toBe('------|');
      scheduler.schedule(() => abort.abort(), 3);
      expectObservable(stage.ensure(container('Always'))).toBe('---(e|)', {
        e: 'SyncCancelled: the run was cancelled by a newer update',
      });
      expectSubscriptions(pull$.subscriptions).toBe([]);
      scheduler.schedule(() => expect(stage.records).toEqual([]), 10);
    }),
  );

  it(
    'that comes when too many have begun counts as failed and backs off',
    marbles(({ scheduler, expectObservable }) => {
      const state = kubeletState();
      const stage = imageStage(scheduler, { pulls: state.pulls, pullQueue: pullQueue({ burst: 0 }, scheduler) });
      expectObservable(stage.ensure(container('Always'))).toBe('(e|)', { e: 'ErrImagePull: pull QPS exceeded' });
      scheduler.schedule(() => {
        expect(stage.asked).toEqual([]);
        expect(stage.events).toEqual([
          'Pulling Pulling image "app:1"',
          'Failed Failed to pull image "app:1": pull QPS exceeded',
        ]);
        expect([...state.value.backOffs.pulls.values()]).toEqual([{ delayMs: 10 * SECOND, lastUpdate: 0 }]);
      }, 1);
    }),
  );
});
