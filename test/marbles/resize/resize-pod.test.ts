import { defer, EMPTY, type Observable, of, type SchedulerLike, tap, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { CriError } from '../../../src/model/cri/cri-error.js';
import type { NodeFacts } from '../../../src/model/node/node-facts.js';
import type { Amounts } from '../../../src/model/pod/allocated-resources.js';
import type { ContainerUpdate } from '../../../src/model/resize/actuated.js';
import { podCgroups } from '../../../src/streams/cgroups/pod-cgroups.js';
import type { RuntimeService } from '../../../src/streams/ports/runtime-service.js';
import { resizePod, type ResizeResult } from '../../../src/streams/resize/resize-pod.js';
import { kubeletState } from '../../../src/streams/sync-loop/kubelet-state.js';
import { fakeCgroups } from '../../support/fake-cgroups.js';
import { nodeFacts } from '../../support/node-facts.js';
import { syncStage } from '../../support/sync-context.js';
import { aContainer, aPod } from '../../unit/pods.js';
import { marbles } from '../marbles.js';

const MIB = 2n ** 20n;
const amounts = (cpu: string, memory: string): Amounts => ({ requests: { cpu, memory }, limits: { memory } });
const small = amounts('100m', '30Mi');
const large = amounts('200m', '60Mi');
const withAmounts = (wanted: Amounts, ofPod?: Amounts) =>
  aPod({ ...(ofPod && { resources: ofPod }), containers: [aContainer('web', { resources: wanted })] });
const PATH = '/kubepods/burstable/poduid-1';

/** A pod that runs with `has` and was given `wanted`. */
const stageOf = (
  scheduler: SchedulerLike,
  {
    has,
    wanted,
    ofPod = [],
    usage = 0n,
    refused,
    sandboxAnswer = of({}),
    overhead,
    node = nodeFacts,
  }: {
    has: Amounts;
    wanted: Amounts;
    /** The amounts of the pod as a whole: before, and those that it was given. */
    ofPod?: readonly Amounts[];
    usage?: bigint;
    refused?: string;
    /** What the runtime answers when it is asked about the sandbox. */
    sandboxAnswer?: Observable<object>;
    overhead?: Readonly<Record<string, string>>;
    node?: NodeFacts;
  },
) => {
  const fake = fakeCgroups(scheduler, [PATH]);
  const did: string[] = [];
  const groups = podCgroups({
    cgroups: fake.cgroups,
    settings: { root: [], podPidsLimit: -1 },
    node,
    activePods: () => [],
    log: { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
    scheduler,
  });
  const before = groups.resourcesOf(withAmounts(has, ofPod[0]));
  if (before) fake.resources.set(PATH, before);
  const asked: string[] = [];
  const files: object[] = [];
  const runtime: Partial<RuntimeService> = {
    updatePodSandboxResources: ({ podSandboxId, resources, overhead: ofSandbox }) =>
      defer(() => {
        const { cpuShares, cpuQuota, cpuPeriod, memoryLimitInBytes } = resources ?? {};
        asked.push(`${did.length} ${podSandboxId} ${cpuShares} ${cpuQuota}/${cpuPeriod} ${memoryLimitInBytes}`);
        if (overhead) asked.push(`and ${ofSandbox?.cpuShares} ${ofSandbox?.memoryLimitInBytes}`);
        return sandboxAnswer;
      }),
    updateContainerResources: ({ linux }) =>
      refused === undefined
        ? of({}).pipe(
            tap(() => {
              did.push(`web ${linux?.cpuShares} ${linux?.memoryLimitInBytes}`);
              files.push(linux?.unified as object);
            }),
          )
        : throwError(() => new CriError('unknown', 'UpdateContainerResources', refused)),
    containerStats: () => of({ stats: { memory: { usageBytes: { value: usage } } } as never }),
  };
  const state = kubeletState();
  const saved: number[] = [];
  const resized = withAmounts(wanted, ofPod[1]);
  const pod = overhead ? { ...resized, spec: { ...resized.spec, overhead } } : resized;
  for (const version of [withAmounts(has, ofPod[0]), pod]) state.apply({ kind: 'pod-set', pod: version });
  state.apply({ kind: 'resize-allocated', uid: 'uid-1' });
  const { context, observed, records } = syncStage(pod, scheduler, { runtime, node });
  // Without a limit of its own, that of the pod counts for it.
  const inside = (own: Amounts, index: number): Amounts => ({
    ...own,
    limits: { ...ofPod[index]?.limits, ...own.limits },
  });
  const container = { ...pod.spec.containers[0]!, resources: inside(wanted, 1) };
  const update: ContainerUpdate = { id: 'c1', container, has: inside(has, 0) };
  const ports = {
    state,
    podCgroups: {
      ...groups,
      set: (...args: Parameters<typeof groups.set>) =>
        groups.set(...args).pipe(tap({ complete: () => did.push(`pod ${Object.keys(args[1]).join('+')}`) })),
      weigh: () => EMPTY.pipe(tap({ complete: () => did.push('weigh') })),
    },
    amountKeeper: { save$: EMPTY.pipe(tap({ complete: () => saved.push(did.length) })) },
  };
  return {
    fake,
    asked,
    files,
    did,
    saved,
    state,
    observed,
    calls: () => records.flatMap((record) => (record.kind === 'call' ? [record.call] : [])),
    desired: groups.resourcesOf(pod),
    result$: resizePod(ports)(context, [update], 's1'),
  };
};

const VALUES: Readonly<Record<string, ResizeResult>> = { y: { acted: true }, n: { acted: false } };

describe('a resize of a running pod', () => {
  it(
    'writes the cgroup of the pod and the container one after the other, and keeps what the container has after each',
    marbles(({ expectObservable, scheduler, flush }) => {
      const stage = stageOf(scheduler, { has: small, wanted: large });
      stage.fake.takes.set(`update ${PATH}`, 2);
      expectObservable(stage.result$).toBe('----(y|)', VALUES);
      flush();
      expect(stage.did).toEqual([
        'pod memory',
        `web 102 ${60n * MIB}`,
        'pod cpuShares',
        `web 204 ${60n * MIB}`,
        'weigh',
      ]);
      expect(stage.saved).toEqual([2, 4]);
      expect(stage.observed).toEqual(['resizeActuated 4 true']);
      expect(stage.fake.resources.get(PATH)).toMatchObject({ memory: 60n * MIB, cpuShares: 204 });
      expect(stage.state.value.resizes.actuated.toJS()).toEqual({
        'uid-1': { containers: { web: { ...large, containerId: 'c1' } } },
      });
    }),
  );

  it(
    'has its amounts as a whole once its cgroup has them, after its containers',
    marbles(({ expectObservable, scheduler, flush }) => {
      const stage = stageOf(scheduler, { has: {}, wanted: {}, ofPod: [small, large] });
      expectObservable(stage.result$).toBe('(y|)', VALUES);
      flush();
      expect(stage.did).toEqual(['pod memory', `web 2 ${60n * MIB}`, 'pod cpuShares', 'weigh']);
      expect(stage.state.value.resizes.actuated.get('uid-1')?.pod).toEqual(large);
      expect(stage.saved).toEqual([2, 4]);
    }),
  );

  it(
    'has its amounts as a whole, too, if its cgroup had them already',
    marbles(({ expectObservable, scheduler, flush }) => {
      const own = amounts('10m', '10Mi');
      const stage = stageOf(scheduler, { has: own, wanted: own, ofPod: [small, large] });
      stage.fake.resources.set(PATH, stage.desired ?? {});
      expectObservable(stage.result$).toBe('(y|)', VALUES);
      flush();
      expect(stage.did).toEqual([]);
      expect(stage.state.value.resizes.actuated.get('uid-1')?.pod).toEqual(large);
    }),
  );

  it(
    'writes nothing if the container uses more memory than it would get',
    marbles(({ expectObservable, scheduler, flush }) => {
      const stage = stageOf(scheduler, { has: large, wanted: small, usage: 40n * MIB });
      const error = `cannot decrease memory limits: attempting to set container "web" memory limit (${30n * MIB}) below current usage (${40n * MIB})`;
      expectObservable(stage.result$).toBe('(e|)', { e: { acted: true, error } });
      flush();
      expect(stage.did).toEqual([]);
      expect(stage.state.value.resizes.failures.get('uid-1')).toBe(error);
    }),
  );

  it(
    'ends with a write that is refused: what was written stays, and the rest is not tried',
    marbles(({ expectObservable, scheduler, flush }) => {
      const stage = stageOf(scheduler, { has: small, wanted: large, refused: 'device busy' });
      expectObservable(stage.result$).toBe('(e|)', { e: { acted: true, error: 'device busy' } });
      flush();
      expect(stage.did).toEqual(['pod memory']);
      expect(stage.observed).toEqual(['resizeActuated 0 false']);
      expect(stage.state.value.resizes.actuated.size).toBe(0);
    }),
  );

  it(
    'asks the runtime before each write to the cgroup of the pod, with all that this has then',
    marbles(({ scheduler, flush }) => {
      // The weight of 102 shares is that of 80, too.
      const stage = stageOf(scheduler, { has: small, wanted: large });
      stage.result$.subscribe();
      flush();
      expect(stage.calls().slice(0, 2)).toEqual(['UpdatePodSandboxResources', 'UpdatePodCgroup memory']);
      expect(stage.asked).toEqual([`0 s1 80 -1/100000 ${60n * MIB}`, `2 s1 204 -1/100000 ${60n * MIB}`]);
      expect(stage.did).toHaveLength(5);
    }),
  );

  it(
    'names the overhead of the sandbox beside what it has without that',
    marbles(({ scheduler, flush }) => {
      const overhead = { cpu: '50m', memory: '10Mi' };
      const stage = stageOf(scheduler, { has: small, wanted: large, overhead });
      stage.result$.subscribe();
      flush();
      expect(stage.asked).toEqual([
        ...[`0 s1 29 -1/100000 ${60n * MIB}`, `and 51 ${10n * MIB}`],
        ...[`2 s1 204 -1/100000 ${60n * MIB}`, `and 51 ${10n * MIB}`],
      ]);
    }),
  );

  it(
    'ends before the write that the runtime refuses',
    marbles(({ expectObservable, scheduler, flush }) => {
      const sandboxAnswer = throwError(() => new CriError('unknown', 'UpdatePodSandboxResources', 'the VM is full'));
      const stage = stageOf(scheduler, { has: small, wanted: large, sandboxAnswer });
      const error =
        'failed to notify runtime for UpdatePodSandboxResources (resource=memory); resize rejected: the VM is full';
      expectObservable(stage.result$).toBe('(e|)', { e: { acted: true, error } });
      flush();
      expect(stage.did).toEqual([]);
    }),
  );

  it.each([
    ['unimplemented', 'unknown method UpdatePodSandboxResources'],
    ['unknown', 'not implemented'],
  ] as const)('goes on if the runtime does not know that call: %s', (code, message) => {
    marbles(({ expectObservable, scheduler, flush }) => {
      const sandboxAnswer = throwError(() => new CriError(code, 'UpdatePodSandboxResources', message));
      const stage = stageOf(scheduler, { has: small, wanted: large, sandboxAnswer });
      expectObservable(stage.result$).toBe('(y|)', VALUES);
      flush();
      expect(stage.did).toHaveLength(5);
      expect(stage.asked).toHaveLength(2);
      expect(stage.calls()).not.toContain('UpdatePodSandboxResources');
    })();
  });

  it(
    'takes back the settings of memory that the container has from before, and keeps what it requests now',
    marbles(({ scheduler, flush }) => {
      const node = { ...nodeFacts, memoryQos: { keepsRequests: true } };
      const stage = stageOf(scheduler, { has: small, wanted: large, node });
      stage.result$.subscribe();
      flush();
      const files = { 'memory.min': '0', 'memory.low': String(60n * MIB), 'memory.high': 'max' };
      expect(stage.files).toEqual([files, files]);
      expect(stage.fake.resources.get(PATH)).toMatchObject({ memoryMin: 0n, memoryLow: 60n * MIB });
    }),
  );

  it(
    'that is done writes nothing',
    marbles(({ expectObservable, scheduler, flush }) => {
      const stage = stageOf(scheduler, { has: small, wanted: small });
      expectObservable(stage.result$).toBe('(n|)', VALUES);
      flush();
      expect([stage.did, stage.observed]).toEqual([[], []]);
    }),
  );
});
