import { Map as ImmutableMap } from 'immutable';
import { describe, expect, it } from 'vitest';
import { selectsNode } from '../../../src/model/admission/node-affinity.js';
import { takenPort } from '../../../src/model/admission/host-ports.js';
import { resourceRejection } from '../../../src/model/admission/resource-fit.js';
import { toleratesTaints } from '../../../src/model/admission/taints.js';
import { sandboxConfig } from '../../../src/model/cri/sandbox-config.js';
import { plegEvents } from '../../../src/model/pleg/pleg.js';
import { newestStatusOf, type RuntimePodStatus } from '../../../src/model/pleg/runtime-pod.js';
import type { Container, Pod, PodSpec, PodStatus } from '../../../src/model/pod/pod.js';
import { computePodActions } from '../../../src/model/pod-actions/compute-pod-actions.js';
import { type InstanceStarts, startOf, withStart } from '../../../src/model/pod-actions/instance-starts.js';
import { readyCondition } from '../../../src/model/pod-status/conditions.js';
import { generatePodStatus } from '../../../src/model/pod-status/generate-pod-status.js';
import { illegalTransition, withFormerEnds, withoutRunAnew } from '../../../src/model/pod-status/illegal-transition.js';
import { isKnownToApi } from '../../../src/model/probes/is-known-to-api.js';
import { paceProblems, PROBE_PERIOD_ANNOTATION } from '../../../src/model/probes/probe-pace.js';
import { ProbeResultStore } from '../../../src/model/probes/probe-result-store.js';
import { isProbed, probeWorkersOf } from '../../../src/model/probes/probe-worker.js';
import { podAmounts } from '../../../src/model/resources/pod-resources.js';
import { containersTogether } from '../../../src/model/resources/resource-list.js';
import { containerMounts } from '../../../src/model/volumes/container-mounts.js';
import { downwardPayload } from '../../../src/model/volumes/downward-payload.js';
import { nestedMountPoints } from '../../../src/model/volumes/nested-mount-points.js';
import { cleanPayload } from '../../../src/model/volumes/payload-path.js';
import { readOnce } from '../../../src/model/volumes/read-once.js';
import { initialState } from '../../../src/model/node-state/node-state.js';
import { reduce } from '../../../src/model/node-state/reduce.js';
import type { StateChange } from '../../../src/model/node-state/state-change.js';
import { volumeStatesView } from '../../../src/model/volumes/volume-states.js';
import { aContainer, aNode, aPod, aRuntimePod, aStatus, exited } from '../pods.js';

const range = <T>(count: number, item: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => item(at));

/** Counts the reads of one field of objects. */
class Reads {
  count = 0;

  of<T extends object>(items: readonly T[], field: keyof T): T[] {
    return items.map((item) => {
      const value = item[field];
      return Object.defineProperty({ ...item }, field, {
        enumerable: true,
        get: () => {
          this.count += 1;
          return value;
        },
      });
    });
  }
}

type Work = (count: number, reads: Reads) => () => unknown;

const podOf = (count: number, reads: Reads, spec: Partial<PodSpec> = {}): Pod =>
  aPod({
    restartPolicy: 'Never',
    containers: reads.of(
      range(count, (at) => aContainer(`main-${at}`)),
      'name',
    ),
    initContainers: reads.of(
      range(count, (at) => aContainer(`init-${at}`)),
      'name',
    ),
    ...spec,
  });

const runtimeOf = (count: number, reads: Reads, state: 'running' | 'exited'): RuntimePodStatus => {
  const one = state === 'running' ? aStatus : (name: string) => exited(name, 0);
  const names = ['main', 'init'].flatMap((kind) => range(count, (at) => `${kind}-${at}`));
  return aRuntimePod(
    reads.of(
      names.map((name) => one(name)),
      'name',
    ),
  );
};

const statusOf = (pod: Pod, runtime: RuntimePodStatus, previous?: PodStatus): PodStatus =>
  generatePodStatus({ pod, runtime, previous, podIsTerminal: false, now: 0, runtimeName: 'containerd' });

/** A status whose lists count the reads of names. */
const counted = (status: PodStatus, reads: Reads): PodStatus => ({
  ...status,
  containerStatuses: reads.of(status.containerStatuses ?? [], 'name'),
  initContainerStatuses: reads.of(status.initContainerStatuses ?? [], 'name'),
});

const withStatuses =
  (state: 'running' | 'exited', work: (pod: Pod, runtime: RuntimePodStatus, status: PodStatus) => unknown): Work =>
  (count, reads) => {
    const [pod, runtime] = [podOf(count, reads), runtimeOf(count, reads, state)];
    const status = counted(statusOf(pod, runtime), reads);
    return () => work(pod, runtime, status);
  };

describe('the work for a pod grows with the number of its containers, not with the square of it', () => {
  const nothing = aRuntimePod([], []);
  it.each<[string, Work]>([
    [
      'the first status',
      (count, reads) => {
        const pod = podOf(count, reads);
        return () => statusOf(pod, nothing);
      },
    ],
    ['the next status while they wait', withStatuses('running', (pod, _, status) => statusOf(pod, nothing, status))],
    ['the next status while they run', withStatuses('running', statusOf)],
    ['the next status after their end', withStatuses('exited', statusOf)],
    [
      'the actions while they run',
      withStatuses('running', (pod, status, last) => computePodActions({ pod, status, last })),
    ],
    [
      'the actions after their end',
      withStatuses('exited', (pod, status, last) => computePodActions({ pod, status, last })),
    ],
    [
      'the actions in a new sandbox',
      withStatuses('exited', (pod, _, last) => computePodActions({ pod, status: nothing, last })),
    ],
    [
      'the actions of a restart of all',
      withStatuses('exited', (pod, status) => computePodActions({ pod, status, restartAll: true })),
    ],
    ['the ends of before', withStatuses('exited', (pod, _, status) => withFormerEnds(pod, status, status))],
    ['an illegal transition', withStatuses('exited', (pod, _, status) => illegalTransition(pod, status, status))],
    ['containers that run again', withStatuses('exited', (pod, _, status) => withoutRunAnew(pod, status, status))],
    [
      'the newest instance of each',
      withStatuses('running', (pod, runtime) => pod.spec.containers.map(({ name }) => newestStatusOf(runtime, name))),
    ],
    [
      'whether each is probed',
      withStatuses('running', (pod) => pod.spec.containers.map(({ name }) => isProbed(pod, name, 'readiness'))),
    ],
    [
      'whether the API knows each',
      withStatuses('running', (pod, _, status) =>
        (status.containerStatuses ?? []).map((one) => isKnownToApi({ ...pod, status }, one)),
      ),
    ],
    [
      'the mounts of volumes',
      (count, reads) => {
        const volumes = reads.of(
          range(count, (at) => ({ name: `v${at}`, emptyDir: {} })),
          'name',
        );
        const mounts = range(count, (at) => ({ name: `v${at}`, mountPath: `/m${at}` }));
        const container: Container = aContainer('web', { volumeMounts: mounts });
        const input = {
          rootDirectory: '/r',
          isMounted: () => true,
          variable: () => '',
          images: new Map<string, string>(),
        };
        return () =>
          containerMounts(aPod({ volumes, containers: [container] }), container, {
            ...input,
            canMountRecursivelyReadOnly: true,
            hasSelinux: false,
          });
      },
    ],
    [
      'the files about the resources of each',
      (count, reads) => {
        const pod = podOf(count, reads);
        const items = range(count, (at) => ({
          path: `f${at}`,
          resourceFieldRef: { containerName: `init-${at}`, resource: 'limits.cpu' },
        }));
        return () => downwardPayload(pod, items, 0o644, { allocatable: { cpu: '1' } }, readOnce());
      },
    ],
    [
      'the conditions of readiness gates',
      (count, reads) => {
        const pod = aPod({ readinessGates: range(count, (at) => ({ conditionType: `a/${at}` })) });
        const conditions = reads.of(
          range(count, (at) => ({ type: `a/${at}`, status: 'True' })),
          'type',
        );
        return () => readyCondition(pod, { type: 'ContainersReady', status: 'True' }, conditions);
      },
    ],
    [
      'events of the runtime',
      (count, reads) => {
        const containers = reads.of(
          range(count, (at) => exited(`main-${at}`, 0)),
          'id',
        );
        const changes = range(count, (at) => ({
          type: 'ContainerDied' as const,
          state: 'exited' as const,
          item: {
            ...{ kind: 'container' as const, id: `main-${at}-0`, name: `main-${at}`, state: 'exited' as const },
            ...{ createdAt: 0n, sandboxId: 's1', attempt: 0 },
          },
        }));
        return () => plegEvents({ uid: 'u', namespace: 'n', name: 'p' }, changes, aRuntimePod(containers));
      },
    ],
  ])('%s', (_what, work) => {
    const readsOf = (count: number): number => {
      const reads = new Reads();
      const run = work(count, reads);
      reads.count = 0;
      run();
      return reads.count;
    };
    expect(readsOf(200)).toBeLessThan(2.5 * readsOf(100) + 10);
  });
});

// None of them is measured: in time that grows with the square of their number, each would take a minute or more.
describe('a pod of tens of thousands of', () => {
  it('ports gives the runtime each once', () => {
    const ports = range(60_000, (at) => ({ containerPort: at % 30_000 }));
    const { portMappings } = sandboxConfig({
      pod: aPod({ containers: [aContainer('web', { ports })] }),
      attempt: 0,
      node: aNode(),
    });
    expect(portMappings).toHaveLength(30_000);
    expect(portMappings?.map((port) => port?.containerPort)).toEqual(range(30_000, (at) => at));
  });

  it('ports of the node is compared with another one', () => {
    const holding = (from: number): Pod =>
      aPod({
        containers: [aContainer('web', { ports: range(200_000, (at) => ({ containerPort: 1, hostPort: from + at })) })],
      });
    expect(takenPort(holding(1), [holding(300_000)])).toBeUndefined();
    expect(takenPort(holding(1), [holding(200_000)])?.port).toBe(200_000);
  });

  it('resources, each of another container, has the amounts of all', () => {
    const containers = range(40_000, (at) =>
      aContainer(`c${at}`, { resources: { requests: { [`a.com/r${at}`]: '1' } } }),
    );
    expect(podAmounts(aPod({ containers }), 'requests').size).toBe(40_000);
    expect(podAmounts(aPod({ containers: [], initContainers: containers }), 'requests').size).toBe(40_000);
    expect(Object.keys(containersTogether({ containers }, 'requests'))).toHaveLength(40_000);
    const sidecars = containers.map((container) => ({ ...container, restartPolicy: 'Always' }));
    expect(Object.keys(containersTogether({ containers: [], initContainers: sidecars }, 'requests'))).toHaveLength(
      40_000,
    );
  });

  it('mounts below another one', () => {
    const volumeMounts = [
      { name: 'v', mountPath: '/m' },
      ...range(100_000, (at) => ({ name: 'w', mountPath: `/m/${at % 50_000}/${at < 50_000 ? '' : 'inside'}` })),
    ];
    expect(nestedMountPoints(aPod({ containers: [aContainer('web', { volumeMounts })] }), 'v')).toHaveLength(50_000);
  });

  it('tolerations on a node of as many taints', () => {
    const keys = range(60_000, (at) => ({ key: `a/${at}`, effect: 'NoExecute' }));
    const tolerations = keys.map((one) => ({ ...one, operator: 'Exists' })).reverse();
    expect(toleratesTaints({ tolerations }, keys)).toBe(true);
    expect(toleratesTaints({ tolerations: tolerations.slice(1) }, keys)).toBe(false);
  });

  it('settings of the pace of its probes reads them once, and reports a few that are invalid', () => {
    const probe = { httpGet: { port: 1 } };
    const containers = range(500, (at) => aContainer(`c${at}`, { readinessProbe: probe }));
    const settings = range(15_000, (at) => `c${at % 500}.readiness=${250 + at}`).join(',');
    const workers = probeWorkersOf(aPod({ containers }, { annotations: { [PROBE_PERIOD_ANNOTATION]: settings } }));
    expect(workers.map(({ pace }) => pace.periodMs)).toEqual(range(500, (at) => 250 + at));
    const problems = paceProblems(aPod({}, { annotations: { [PROBE_PERIOD_ANNOTATION]: 'x,'.repeat(100_000) } }));
    expect(problems).toHaveLength(21);
    expect(problems.at(-1)).toContain('99980 more settings have no effect');
  });

  it('volumes notes each change without a copy of all', () => {
    const volumes = range(50_000, (at) => ({ name: `v${at}`, emptyDir: {} }));
    const pod = aPod({ volumes });
    let value = initialState();
    const states = volumeStatesView(() => value.volumes);
    const apply = (change: StateChange) => void (value = reduce(value, change));
    const { uid } = pod.metadata;
    apply({ kind: 'volumes-wanted', pod, volumes });
    for (const { name } of volumes) {
      expect(states.areAllMounted(uid)).toBe(false);
      apply({ kind: 'volume-mounted', uid, volume: name });
    }
    expect(states.areAllMounted(uid)).toBe(true);
    apply({ kind: 'volumes-unwanted', pod, volumes: [] });
    for (const { name } of volumes) apply({ kind: 'volume-unmounting', uid, volume: name });
    expect(states.notMounted(uid)).toHaveLength(50_000);
    for (const { name } of volumes) {
      expect(states.hasAny(uid)).toBe(true);
      apply({ kind: 'volume-unmounted', uid, volume: name });
    }
    expect(states.hasAny(uid)).toBe(false);
    expect(states.areAllMounted(uid)).toBe(true);
  });

  it('starts and results of probes finds those of each instance', () => {
    const results = new ProbeResultStore();
    let starts: InstanceStarts = ImmutableMap();
    const all = range(60_000, (at) => ({ uid: 'u', container: `c${at}`, containerId: `id${at}` }));
    for (const one of all) {
      starts = withStart(starts, one.uid, one.container, { containerId: one.containerId });
      results.set('readiness', one, 'success');
    }
    expect(all.every(({ containerId }) => startOf(starts, 'u', containerId)?.containerId === containerId)).toBe(true);
    expect(all.some((one) => results.keepOnly('readiness', one, one.containerId))).toBe(false);
    expect(results.keepOnly('readiness', { uid: 'u', container: 'c7' }, 'new')).toBe(true);
    expect(results.get('readiness', 'id7')).toBeUndefined();
    expect(results.get('readiness', 'id8')).toBe('success');
  });
});

it('the containers of a pod are added up once, not for each resource of each pod that comes after it', () => {
  const reads = new Reads();
  const containers = range(10, (at) => aContainer(`c${at}`, { resources: { requests: { cpu: '1m', memory: '1Mi' } } }));
  const other = aPod({ containers: reads.of(containers, 'resources') });
  const allocatable = { cpu: '4', memory: '1Gi', pods: '110' };
  for (let round = 0; round < 10; round += 1) {
    expect(resourceRejection(aPod({ containers }), [other], allocatable)).toBeUndefined();
  }
  expect(reads.count).toBe(10);
});

describe('a pod', () => {
  it('of files with thousands of directories above each is compared in the time of their paths', () => {
    const file = { data: new Uint8Array(), mode: 0o644 };
    const deep = (at: number): string => `${'d/'.repeat(2000)}${at}`;
    const payload = new Map(range(500, (at) => [deep(at), file]));
    expect(cleanPayload(payload).size).toBe(500);
    expect(() => cleanPayload(new Map([...payload, [`${deep(7)}/x`, file]]))).toThrow(
      '7/x is both a file and a directory',
    );
  });

  it('that compares a label with a number of millions of digits does not select the node, as no 64-bit number has them', () => {
    const selects = (value: string): boolean => {
      const nodeSelectorTerms = [{ matchExpressions: [{ key: 'a', operator: 'Lt', values: [value] }] }];
      const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } };
      return selectsNode({ containers: [], affinity }, { labels: { a: '1' } });
    };
    expect(selects(`${'0'.repeat(50)}12`)).toBe(true);
    expect(selects('9'.repeat(2 ** 20))).toBe(false);
  });
});
