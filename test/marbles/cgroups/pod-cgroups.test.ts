import { catchError, of, type SchedulerLike } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { MemoryQos } from '../../../src/model/cgroups/memory-qos.js';
import type { Pod } from '../../../src/model/pod/pod.js';
import { noPodCgroups, podCgroups } from '../../../src/streams/cgroups/pod-cgroups.js';
import { aPod } from '../../support/a-pod.js';
import { fakeCgroups } from '../../support/fake-cgroups.js';
import { marbles } from '../marbles.js';

const asking = (uid: string, cpu: string): Pod =>
  aPod({ uid, spec: { containers: [{ name: 'main', image: 'host', resources: { requests: { cpu } } }] } });
const POD = '/kubepods/burstable/poduid-1';
const there = ['/kubepods', '/kubepods/burstable', '/kubepods/besteffort'];

const stageOf = (scheduler: SchedulerLike, existing: readonly string[] = there, memoryQos?: MemoryQos) => {
  const fake = fakeCgroups(scheduler, existing);
  const logged: string[] = [];
  const say = (_: object, message: string) => logged.push(message);
  const active = { pods: [asking('uid-1', '1')] as readonly Pod[] };
  const own = podCgroups({
    cgroups: fake.cgroups,
    settings: { root: [], podPidsLimit: 100 },
    node: { cpuCfsQuota: true, cpuCfsQuotaPeriodMicros: 100_000, ...(memoryQos && { memoryQos }) },
    activePods: () => active.pods,
    log: { debug: say, info: say, warn: say, error: say },
    scheduler,
  });
  return { ...fake, own, logged, active };
};

describe('the cgroup of a pod', () => {
  it(
    'is made after the classes were weighed, with what the pod gets',
    marbles(({ scheduler, expectObservable, flush }) => {
      const stage = stageOf(scheduler);
      expectObservable(stage.own.ensure(asking('uid-1', '1'))).toBe('|');
      flush();
      expect(stage.did).toEqual(['0 update /kubepods/burstable', '0 update /kubepods/besteffort', `0 create ${POD}`]);
      expect(stage.resources.get(POD)).toMatchObject({ cpuShares: 1024, pids: 100n });
      expect(stage.resources.get('/kubepods/burstable')).toMatchObject({ cpuShares: 1024 });
      expect(stage.own.parentOf(asking('uid-1', '1'))).toBe(POD);
    }),
  );

  it(
    'is left alone when it is there',
    marbles(({ scheduler, expectObservable, flush }) => {
      const stage = stageOf(scheduler, [...there, POD]);
      expectObservable(stage.own.ensure(asking('uid-1', '1'))).toBe('|');
      expectObservable(stage.own.exists(asking('uid-1', '1'))).toBe('(t|)', { t: true });
      flush();
      expect(stage.did).toEqual([]);
    }),
  );

  it(
    'cannot be made: the error names it, in the words of the kubelet',
    marbles(({ scheduler, expectObservable }) => {
      const stage = stageOf(scheduler);
      stage.failures.set(`create ${POD}`, ['EROFS']);
      const ensure$ = stage.own.ensure(asking('uid-1', '1')).pipe(catchError((error: unknown) => of(String(error))));
      expectObservable(ensure$).toBe('(e|)', {
        e: 'Error: failed to create container for [kubepods burstable poduid-1] : EROFS',
      });
    }),
  );

  it(
    'is made although a class could not be weighed',
    marbles(({ scheduler, expectObservable, flush }) => {
      const stage = stageOf(scheduler);
      stage.failures.set('update /kubepods/burstable', ['EIO']);
      expectObservable(stage.own.ensure(asking('uid-1', '1'))).toBe('|');
      flush();
      expect(stage.there.has(POD)).toBe(true);
      expect(stage.logged).toEqual(['cannot set the share of a QoS class']);
    }),
  );

  it(
    'that takes long to make holds no other back',
    marbles(({ scheduler, expectObservable, flush }) => {
      const stage = stageOf(scheduler);
      stage.takes.set(`create ${POD}`, 5_000);
      expectObservable(stage.own.ensure(asking('uid-1', '1'))).toBe('5s |');
      expectObservable(stage.own.ensure(asking('uid-2', '1'))).toBe('|');
      flush();
      expect(stage.there.has('/kubepods/burstable/poduid-2')).toBe(true);
    }),
  );

  it(
    'is destroyed, and one that could never be made has none to lose',
    marbles(({ scheduler, expectObservable, flush }) => {
      const stage = stageOf(scheduler, [...there, POD]);
      expectObservable(stage.own.destroy(asking('uid-1', '1'))).toBe('|');
      expectObservable(stage.own.destroy(asking('a_b', '1'))).toBe('|');
      expectObservable(stage.own.ensure(asking('a_b', '1'))).toBe(
        '#',
        undefined,
        new Error('"poda_b" cannot be part of the name of a cgroup: expected a name without "/" and "_"'),
      );
      flush();
      expect(stage.did).toEqual([`0 kill ${POD}`, `0 remove ${POD}`]);
    }),
  );
});

describe('the weight of the classes', () => {
  it(
    'is written once more when the pods have changed while it was written',
    marbles(({ scheduler, expectObservable, flush }) => {
      const stage = stageOf(scheduler);
      stage.takes.set('update /kubepods/burstable', 10);
      scheduler.schedule(() => (stage.active.pods = [asking('uid-1', '1'), asking('uid-2', '1')]), 5);
      expectObservable(stage.own.weigh()).toBe('20ms |');
      flush();
      expect(stage.did.filter((line) => line.includes('burstable'))).toEqual([
        '0 update /kubepods/burstable',
        '10 update /kubepods/burstable',
      ]);
      expect(stage.resources.get('/kubepods/burstable')).toMatchObject({ cpuShares: 2048 });
    }),
  );

  it(
    'is written once more, too, when only the memory has changed that is kept for them',
    marbles(({ scheduler, expectObservable, flush }) => {
      const stage = stageOf(scheduler, there, { keepsRequests: true });
      const limited = (uid: string): Pod => {
        const amounts = { cpu: '1', memory: '10Mi' };
        const container = { name: 'main', image: 'host', resources: { requests: amounts, limits: amounts } };
        return aPod({ uid, spec: { containers: [container] } });
      };
      stage.takes.set('update /kubepods', 10);
      stage.active.pods = [limited('uid-1')];
      scheduler.schedule(() => (stage.active.pods = [limited('uid-1'), limited('uid-2')]), 5);
      expectObservable(stage.own.weigh()).toBe('20ms |');
      flush();
      expect(stage.resources.get('/kubepods')).toMatchObject({ memoryMin: 20n * (1n << 20n), memoryLow: 0n });
    }),
  );

  it(
    'is right in the end in any order of writes',
    marbles(({ scheduler, flush, expectObservable }) => {
      const stage = stageOf(scheduler);
      stage.takes.set('update /kubepods/burstable', 10);
      expectObservable(stage.own.weigh()).toBe('20ms |');
      scheduler.schedule(() => {
        stage.active.pods = [];
        stage.takes.set('update /kubepods/burstable', 1);
      }, 2);
      // The second one is done while the first still holds what was right before.
      expectObservable(stage.own.weigh(), '---^').toBe('----|');
      scheduler.schedule(() => stage.takes.set('update /kubepods/burstable', 10), 6);
      flush();
      expect(stage.resources.get('/kubepods/burstable')).toMatchObject({ cpuShares: 2 });
    }),
  );
});

it(
  'without cgroups nothing is asked and nothing is waited for',
  marbles(({ expectObservable }) => {
    const pod = asking('uid-1', '1');
    expect(noPodCgroups.parentOf(pod)).toBeUndefined();
    expectObservable(noPodCgroups.exists(pod)).toBe('(t|)', { t: true });
    for (const call$ of [noPodCgroups.ensure(pod), noPodCgroups.destroy(pod), noPodCgroups.weigh()]) {
      expectObservable(call$).toBe('|');
    }
  }),
);
