import { EMPTY, identity, map, mergeMap, NEVER, type Observable } from 'rxjs';
import { describe, it } from 'vitest';
import type { KubeletParts } from '../../src/kubelet-parts.js';
import { runKubelet } from '../../src/kubelet.js';
import type { Wake } from '../../src/model/pod-workers/wake.js';
import type { WorkerOutcome } from '../../src/streams/pod-workers/pod-workers.js';
import { aPod } from '../support/a-pod.js';
import { marbles } from './marbles.js';

/** A wake of a pod that is named for the input it comes from. */
const wake = (uid: string): readonly Wake[] => [
  { uid, update: { type: 'sync', pod: aPod({ uid }), causes: [] }, cancel: false },
];
const outcomeOf = ({ uid }: Wake): WorkerOutcome => ({
  uid,
  work: 'sync',
  next: 'rest',
  durationMs: 0,
  journalId: '',
});
const silent: Observable<never> = NEVER;

/** Parts that answer each input with a wake of its name, and each wake with an outcome at once. */
const parts = (given: Partial<KubeletParts> & Pick<KubeletParts, 'scheduler'>): KubeletParts => ({
  config$: silent,
  pleg$: silent,
  probe$: silent,
  syncTick$: silent,
  housekeeping$: silent,
  resize$: silent,
  kill$: silent,
  stop$: silent,
  stopInOrder: identity,
  swap: (inputs) => inputs,
  handlers: {
    config: () => wake('c'),
    runtimeChange: () => wake('p'),
    probe: () => wake('r'),
    workDue: () => wake('s'),
    housekeeping: () => wake('h'),
    resize: () => wake('z'),
    kill: () => wake('k'),
    stop: () => wake('x'),
  },
  holdWhileIll: (wake$) => wake$,
  podWorkers: map(outcomeOf),
  requeue: () => undefined,
  hasStopped: () => false,
  prepare$: EMPTY,
  volumes$: silent,
  runtimeHealth$: silent,
  shutdown$: silent,
  systemOom$: silent,
  evict: () => silent,
  healthJournal$: silent,
  health$: silent,
  state$: silent,
  node$: silent,
  upkeep: () => ({
    containerGarbage$: silent,
    logs$: silent,
    imageGarbage$: silent,
    images$: silent,
    podDirectories$: silent,
    cgroups$: silent,
    reclaim: { 'dead-containers': silent, 'unused-images': silent },
  }),
  cluster: {
    nodeView$: silent,
    nodeStatus$: silent,
    lease$: silent,
    references$: silent,
    podStatuses$: silent,
    mirrorPods$: silent,
    events$: silent,
  },
  pods$: silent,
  runtimePod$: silent,
  ready$: silent,
  view: {
    pods: () => [],
    existsSince: () => undefined,
    node: () => undefined,
    runningPods: () => [],
    findRunning: () => undefined,
    images: () => [],
    health: () => undefined,
  },
  ...given,
});

const uids = map(({ uid }: WorkerOutcome) => uid);

describe('the daemon', () => {
  it(
    'merges every input into one loop, which wakes the workers',
    marbles(({ hot, expectObservable, scheduler }) => {
      const config$ = hot('      -c-----------');
      const pleg$ = hot('        ---p---------');
      const probe$ = hot('       ----r--------');
      const syncTick$ = hot('    -----s-------');
      const housekeeping$ = hot('------h------');
      const kill$ = hot('        -------k-----');
      const stop$ = hot('        --------x----');
      const expected = '         -c-prshkx----';
      const unsub = '            ------------!';
      const inputs = {
        config$,
        pleg$,
        probe$,
        syncTick$,
        housekeeping$,
        kill$,
        stop$,
      } as unknown as Partial<KubeletParts>;
      expectObservable(runKubelet(parts({ ...inputs, scheduler })).pipe(uids), unsub).toBe(expected);
    }),
  );

  it(
    'holds wakes at the gate while the runtime is ill',
    marbles(({ hot, cold, expectObservable, scheduler }) => {
      const syncTick$ = hot('-s--s--------');
      const gate = cold('     ---(o|)      ');
      const expected = '     ----s--s-----';
      const unsub = '        ------------!';
      const holdWhileIll = mergeMap((wake: Wake) => gate.pipe(map(() => wake)));
      expectObservable(runKubelet(parts({ syncTick$, holdWhileIll, scheduler })).pipe(uids), unsub).toBe(expected);
    }),
  );

  it(
    'prepares before it reads any input, and starts and stops with what runs beside the loop',
    marbles(({ hot, cold, expectObservable, expectSubscriptions, scheduler }) => {
      const prepare$ = cold<never>('  --|          ');
      const syncTick$ = hot('         -s--s--------');
      const expected = '              ----s--------';
      const unsub = '                 ---------!   ';
      const subscribed = '            --^------!   ';
      const base = parts({ scheduler });
      const lease$ = cold<never>('-');
      const logs$ = cold<never>('-');
      const upkeep = () => ({ ...base.upkeep({ pleg$: NEVER, housekeeping$: NEVER }), logs$ });
      const cluster = { ...base.cluster, lease$ };
      const life$ = runKubelet(parts({ prepare$, syncTick$, upkeep, cluster, scheduler }));
      expectObservable(life$.pipe(uids), unsub).toBe(expected);
      for (const stream of [lease$, logs$, syncTick$]) expectSubscriptions(stream.subscriptions).toBe(subscribed);
    }),
  );

  it(
    'reads no configuration after a stop, and ends with the outcome after which nothing runs',
    marbles(({ hot, expectObservable, scheduler }) => {
      const isOver = () => scheduler.now() >= 10;
      const config$ = hot('  -c-----c-----') as unknown as KubeletParts['config$'];
      const syncTick$ = hot('----s-----s--');
      const stop$ = hot('    -----x-------') as unknown as KubeletParts['stop$'];
      const expected = '     -c--sx----(s|)';
      const life$ = runKubelet(
        parts({
          config$,
          syncTick$,
          stop$,
          hasStopped: isOver,
          scheduler,
        }),
      );
      expectObservable(life$.pipe(uids)).toBe(expected);
    }),
  );

  it(
    'puts each outcome back into the work queue, and lets inputs be swapped',
    marbles(({ hot, expectObservable, scheduler }) => {
      const syncTick$ = hot('   -s-s---------');
      const swapped$ = hot('    --s--s-------');
      const expected = '        --s--s-------';
      const unsub = '           ------------!';
      const requeued: string[] = [];
      const life$ = runKubelet(
        parts({
          syncTick$,
          swap: (inputs) => ({ ...inputs, syncTick$: swapped$ }),
          requeue: ({ uid }) => requeued.push(uid),
          scheduler,
        }),
      ).pipe(map(() => requeued.at(-1)));
      expectObservable(life$, unsub).toBe(expected);
    }),
  );
});
