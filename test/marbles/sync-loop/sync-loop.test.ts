import { EMPTY, map, NEVER, type Observable, of, throwError } from 'rxjs';
import { describe, it } from 'vitest';
import type { PlegEvent } from '../../../src/model/pleg/pleg.js';
import type { PodConfigUpdate } from '../../../src/model/config/pod-config.js';
import type { Wake } from '../../../src/model/pod-workers/wake.js';
import type { RecordedKill } from '../../../src/model/pod-workers/pod-update.js';
import type { RuntimePod } from '../../../src/model/pleg/runtime-pod.js';
import type { ProbeChange } from '../../../src/streams/probes/probe-worker.js';
import type { StopRequest } from '../../../src/streams/sync-loop/handle-stop.js';
import {
  housekeepingTicks,
  syncLoop,
  type SyncLoopHandlers,
  type SyncLoopInputs,
  syncTicks,
} from '../../../src/streams/sync-loop/sync-loop.js';
import type { ResizeTrigger } from '../../../src/streams/resize/resize-triggers.js';
import { aPod } from '../../support/a-pod.js';
import { marbles } from '../marbles.js';

const wake = (uid: string): Wake => ({
  uid,
  update: { type: 'sync', pod: aPod({ uid }), causes: [] },
  cancel: false,
});
const uidOf = ({ uid }: Wake) => uid;
const silent: SyncLoopInputs = {
  config$: NEVER,
  pleg$: NEVER,
  probe$: NEVER,
  syncTick$: NEVER,
  housekeeping$: NEVER,
  resize$: NEVER,
  kill$: NEVER,
  stop$: NEVER,
};
const handlers: SyncLoopHandlers = {
  config: () => [wake('c'), wake('d')],
  runtimeChange: () => [wake('p')],
  probe: () => [wake('r')],
  workDue: () => [wake('s')],
  housekeeping: () => [wake('h')],
  resize: () => [wake('z')],
  kill: () => [wake('k')],
  stop: () => [wake('x')],
};

describe('the loop', () => {
  it(
    'is a merge of its inputs: each is answered at once, in order of arrival, and one answer stays together',
    marbles(({ hot, expectObservable, scheduler }) => {
      const config$ = hot<PodConfigUpdate>('  c-------|');
      const probe$ = hot<ProbeChange>('        ----r|');
      const pleg$ = hot<PlegEvent>('         -----p--|');
      const syncTick$ = hot('               ------s-|');
      const housekeeping$ = hot<readonly RuntimePod[]>('-------h|');
      const kill$ = hot<RecordedKill>('        --------k|');
      const stop$ = hot<StopRequest>('        ---------x|');
      const resize$ = hot<ResizeTrigger>('     ----------z|');
      const inputs = { config$, pleg$, probe$, syncTick$, housekeeping$, resize$, kill$, stop$ };
      const expected = '                     (cd)rpshkxz|';
      expectObservable(syncLoop(inputs, handlers, scheduler).pipe(map(uidOf))).toBe(expected);
    }),
  );

  it(
    'applies all changes of one read of the runtime before it wakes a worker for the first of them',
    marbles(({ cold, expectObservable, scheduler }) => {
      let noted = 0;
      const counting: SyncLoopHandlers = { ...handlers, runtimeChange: () => [wake(`p${(noted += 1)}`)] };
      const inputs = { ...silent, pleg$: cold<PlegEvent>('-(pq)-r') };
      const seen$ = syncLoop(inputs, counting, scheduler).pipe(map(({ uid }) => `${uid} of ${noted}`));
      expectObservable(seen$).toBe('-(ab)-c', { a: 'p1 of 2', b: 'p2 of 2', c: 'p3 of 3' });
    }),
  );

  it(
    'is silent where an input is swapped for silence',
    marbles(({ cold, expectObservable, scheduler }) => {
      const inputs = { ...silent, pleg$: cold<PlegEvent>('p-p'), syncTick$: cold('-s-') };
      const withoutPleg = (all: SyncLoopInputs): SyncLoopInputs => ({ ...all, pleg$: EMPTY });
      expectObservable(syncLoop(withoutPleg(inputs), handlers, scheduler).pipe(map(uidOf))).toBe('-s-');
    }),
  );
});

describe('ticks', () => {
  it(
    'of the work queue come every second',
    marbles(({ expectObservable, scheduler }) => {
      expectObservable(syncTicks(scheduler).pipe(map(() => 't')), '3500ms !').toBe('1s t 999ms t 999ms t');
    }),
  );

  const listed: readonly RuntimePod[] = [];

  it(
    'of housekeeping come every two seconds',
    marbles(({ expectObservable, scheduler }) => {
      const tick$ = housekeepingTicks(() => of(listed), scheduler).pipe(map(() => 'h'));
      expectObservable(tick$, '6500ms !').toBe('2s h 1999ms h 1999ms h');
    }),
  );

  it(
    'of housekeeping never overlap: a listing that takes longer skips ticks, one that fails is skipped itself',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const slow = cold<readonly RuntimePod[]>('5s (l|)', { l: listed });
      const lists: Observable<readonly RuntimePod[]>[] = [slow, EMPTY, of(listed)];
      const tick$ = housekeepingTicks(() => lists.shift() ?? throwError(() => 'too often'), scheduler);
      expectObservable(tick$.pipe(map(() => 'h')), '12500ms !').toBe('7s h 2999ms h 1999ms #', undefined, 'too often');
      expectSubscriptions(slow.subscriptions).toBe('2s ^ 4999ms !');
    }),
  );
});
