import type { Pod, PodStatus } from '../../../../src/model/pod/pod.js';
import type { SimulatedResources, WorldEvent } from '../../../../src/tools/sim/world/world-event.js';
import { aPod } from '../../../support/a-pod.js';
import {
  agentStarted,
  call,
  END,
  journal,
  pass,
  passEnded,
  type Rows,
  running,
  shown,
  started,
  wantedByApi,
} from '../story.js';

/** The node of every story has 2 CPUs. */
export const RESIZE_FACTS = { allocatable: { cpu: '2', memory: '1Gi', pods: '110' } };

type Policy = 'RestartContainer' | 'NotRequired';
/** A version of the pod with one container, which requests this much CPU and has a limit of twice as much. */
const version = (generation: number, milli: number, policy: Policy = 'NotRequired', uid = 'uid-1'): Pod => {
  const requests = { cpu: `${milli}m`, memory: '64Mi' };
  const limits = { cpu: `${2 * milli}m`, memory: '64Mi' };
  const resizePolicy = [{ resourceName: 'cpu', restartPolicy: policy }];
  const containers = [{ name: 'main', image: 'host', resources: { requests, limits }, resizePolicy }];
  const pod = aPod({ uid, name: uid, source: 'api', spec: { containers } });
  return { ...pod, metadata: { ...pod.metadata, generation } };
};
const other = (milli: number): Pod => version(1, milli, 'NotRequired', 'uid-2');
const small = version(1, 100);
const large = version(2, 1_000);

const amounts = (milli: number): SimulatedResources => ({
  cpuShares: Math.floor((milli * 1024) / 1000),
  ...{ cpuQuota: milli * 200, memoryBytes: 64 * 2 ** 20 },
});
const has = (at: number, milli: number, containerId = 'a'): WorldEvent => ({
  ...{ kind: 'container-resources', at: at * 1000, resources: amounts(milli) },
  ...{ uid: 'uid-1', pod: 'uid-1', namespace: 'default', container: 'main', containerId, sandboxId: 's1', attempt: 0 },
  image: 'host',
});
const created = (at: number, milli: number, id = 'a', attempt = 0): readonly WorldEvent[] => [
  ...started(at, id, { attempt }),
  has(at, milli, id),
];
const update = (at: number, milli: number): WorldEvent => {
  const { cpuShares, cpuQuota, memoryBytes } = amounts(milli);
  return call(at, 'UpdateContainerResources', {
    containerId: 'a',
    linux: { cpuShares: BigInt(cpuShares), cpuQuota: BigInt(cpuQuota), memoryLimitInBytes: BigInt(memoryBytes) },
  });
};
/** What the checkpoint says that the pod was given. */
const kept = (at: number, { spec, metadata: { uid } }: Pod): WorldEvent => {
  const ContainerResources = Object.fromEntries(spec.containers.map(({ name, resources }) => [name, resources]));
  const data = JSON.stringify({ entries: { [uid]: { ContainerResources, PodLevelResources: null } } });
  return { kind: 'checkpoint', at: at * 1000, name: 'allocated_pods_state', content: JSON.stringify({ data }) };
};

const about = (uid: string) => ({ pod: { uid, name: uid, namespace: 'default' } });
const heard = (at: number, uid: string): WorldEvent =>
  journal(at, { kind: 'config', source: 'api', op: 'ADD' }, about(uid));
const decided = (at: number, generation: number, decision: 'allocated' | 'deferred', uid = 'uid-1'): WorldEvent =>
  journal(at, { kind: 'resize', trigger: 'pod_updated', decision, generation }, about(uid));
const rejected = (at: number): WorldEvent =>
  journal(at, { kind: 'admission-rejected', reason: 'OutOfcpu', message: 'no room' }, about('uid-1'));
const sandboxAsked = (at: number, uid: string): WorldEvent =>
  call(at, 'RunPodSandbox', { config: { metadata: { uid } } });
const condition = (type: string, rest: object = {}) => [{ type, status: 'True', ...rest }] as PodStatus['conditions'];
const shows = (at: number, pod: Pod, milli: number, rest: PodStatus = {}): WorldEvent => {
  const resources = version(1, milli).spec.containers[0]?.resources;
  return shown(at, { containerStatuses: [running('main', 'a', { resources })], ...rest }, pod);
};
const restarts = (at: number): WorldEvent =>
  journal(
    at,
    {
      kind: 'actions',
      actions: [{ action: 'kill', container: 'main', because: 'container main is killed: the pod was resized, and …' }],
    },
    about('uid-1'),
  );

const begin = (...pods: readonly Pod[]) => [
  agentStarted(0),
  wantedByApi(0, ...pods),
  ...pods.map(({ metadata }) => heard(0, metadata.uid)),
];
const resized = [wantedByApi(10, large), kept(10, large), pass(11)];

/** Stories of pods that get other amounts. */
export const resizeRows: Rows = {
  'resizes-fit': [
    [
      'a resize with room',
      [begin(small, other(1_000)), wantedByApi(1, large, other(1_000)), decided(2, 2, 'allocated')],
    ],
    [
      'a resize without room',
      [begin(small, other(1_001)), wantedByApi(1, large, other(1_001)), decided(2, 2, 'allocated')],
      'was given what it asks for, and the pods of the node have 2001 of cpu then (expected at most 2000)',
    ],
    [
      'the room of a pod that was rejected',
      [
        begin(small, other(1_001)),
        journal(1, { kind: 'admission-rejected', reason: 'OutOfcpu', message: 'no room' }, about('uid-2')),
        wantedByApi(1, large, other(1_001)),
        decided(2, 2, 'allocated'),
      ],
    ],
    ['a start with room', [begin(small, other(1_900)), sandboxAsked(1, 'uid-2')]],
    ['a start without room', [begin(small, other(1_901)), sandboxAsked(1, 'uid-2')], 'starts, and the pods'],
    [
      'a start beside what another one only asks for',
      [begin(small), wantedByApi(1, large, other(1_900)), heard(1, 'uid-2'), sandboxAsked(2, 'uid-2')],
    ],
    [
      'a wait without room',
      [
        begin(small, other(1_001)),
        wantedByApi(1, large, other(1_001)),
        shows(2, large, 100, { conditions: condition('PodResizePending', { reason: 'Deferred' }) }),
      ],
    ],
    [
      'a wait with room',
      [
        begin(small, other(1_000)),
        wantedByApi(1, large, other(1_000)),
        shows(2, large, 100, { conditions: condition('PodResizePending', { reason: 'Deferred' }) }),
      ],
      'waits for a resize (Deferred), though the node has room for it',
    ],
    [
      'a wait with room, not long enough',
      [
        begin(small, other(1_000)),
        wantedByApi(END - 100, large, other(1_000)),
        shows(END - 90, large, 100, { conditions: condition('PodResizePending', { reason: 'Deferred' }) }),
      ],
    ],
    [
      'a pod that runs makes room for what another one only asks for',
      [
        begin(small, other(1_000)),
        created(1, 100),
        wantedByApi(1, small, version(2, 2_000, 'NotRequired', 'uid-2')),
        decided(2, 2, 'deferred', 'uid-2'),
        agentStarted(3, 2),
        rejected(4),
      ],
      'runs, and is rejected although the node has room for it',
    ],
    [
      'a pod that runs is rejected beside pods that have its room',
      [begin(small, other(2_000)), created(1, 100), agentStarted(3, 2), rejected(4)],
    ],
  ],
  'resizes-are-kept': [
    ['an update that is kept', [begin(small), created(1, 100), resized, update(12, 1_000)]],
    [
      'an update that is not kept',
      [begin(small), created(1, 100), wantedByApi(10, large), pass(11), update(12, 1_000)],
      'but no checkpoint has a resize of its pod',
    ],
    [
      'an update to other amounts than those that are kept',
      [begin(small), created(1, 100), resized, update(12, 500)],
      'is given 512 shares, a quota of 100000 and 67108864 bytes (expected 1024 shares, a quota of 200000',
    ],
    [
      'one that another resize has replaced while it lasted',
      [begin(small), created(1, 100), resized, kept(12, version(3, 500)), update(13, 1_000)],
    ],
    [
      'one that another resize had replaced before',
      [begin(small), created(1, 100), resized, kept(12, version(3, 500)), passEnded(13), pass(14), update(15, 1_000)],
      'is given 1024 shares',
    ],
    ['what the container has already', [begin(small), created(1, 100), resized, update(12, 100)]],
    ['a container with what is kept', [begin(small), kept(1, large), pass(2), created(3, 1_000)]],
    [
      'a container with other amounts',
      [begin(small), kept(1, large), pass(2), created(3, 100)],
      'was created with 102 shares',
    ],
    ['a container of a run that began before the resize', [begin(small), pass(1), kept(2, large), created(3, 100)]],
  ],
  'resizes-restart-by-policy': [
    [
      'a restart as the policy asks',
      [
        begin(version(1, 100, 'RestartContainer')),
        created(1, 100),
        wantedByApi(10, version(2, 500, 'RestartContainer')),
        kept(10, version(2, 500, 'RestartContainer')),
        restarts(11),
      ],
    ],
    [
      'a restart without such a policy',
      [begin(small), created(1, 100), wantedByApi(10, large), kept(10, large), restarts(11)],
      'is restarted by a resize, though no policy',
    ],
    [
      'a restart without a change',
      [begin(version(1, 100, 'RestartContainer')), created(1, 100), restarts(11)],
      'is restarted by a resize, though no policy of a resource that has changed',
    ],
    [
      'two restarts for one resize',
      [
        begin(version(1, 100, 'RestartContainer')),
        created(1, 100),
        wantedByApi(10, version(2, 500, 'RestartContainer')),
        kept(10, version(2, 500, 'RestartContainer')),
        restarts(11),
        created(12, 500, 'b', 1),
        restarts(13),
      ],
      'is restarted again by a resize',
    ],
    [
      'two restarts for two resizes',
      [
        begin(version(1, 100, 'RestartContainer')),
        created(1, 100),
        wantedByApi(10, version(2, 500, 'RestartContainer')),
        kept(10, version(2, 500, 'RestartContainer')),
        restarts(11),
        created(12, 500, 'b', 1),
        kept(13, version(3, 600, 'RestartContainer')),
        restarts(14),
      ],
    ],
    [
      'an update in the place of a restart',
      [begin(version(1, 100, 'RestartContainer')), created(1, 100), pass(2), update(3, 500)],
      'gets another amount of cpu while it runs (expected a restart)',
    ],
    ['an update without such a policy', [begin(small), created(1, 100), pass(2), update(3, 500)]],
  ],
  'resizes-are-shown': [
    ['what a container has', [begin(small), created(1, 100), resized, has(12, 1_000), shows(13, large, 1_000)]],
    [
      'what a container has not got yet',
      [begin(small), created(1, 100), resized, shows(13, large, 1_000), has(14, 1_000)],
      'shows {"requests":{"cpu":"1000m"',
    ],
    [
      'the same, while the resize is in progress',
      [
        begin(small),
        created(1, 100),
        resized,
        shows(13, large, 1_000, { conditions: condition('PodResizeInProgress') }),
        has(14, 1_000),
        shows(15, large, 1_000),
      ],
    ],
    [
      'a resize that does not end',
      [begin(small), created(1, 100), resized, shows(13, large, 100, { conditions: condition('PodResizeInProgress') })],
      'is still being resized',
    ],
    [
      'a resize that is not done',
      [begin(small), created(1, 100), resized, shows(13, large, 100)],
      'has not the cpu that its pod asks for',
    ],
    [
      'a resize that waits',
      [begin(small), created(1, 100), resized, shows(13, large, 100, { conditions: condition('PodResizePending') })],
    ],
    [
      'a resize that is not done yet',
      [begin(small), created(1, 100), wantedByApi(END - 100, large), shows(END - 90, large, 100)],
    ],
  ],
};
