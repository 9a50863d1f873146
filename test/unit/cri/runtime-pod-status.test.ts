import { describe, expect, it } from 'vitest';
import {
  leftOutOf,
  podUidsIn,
  type RanItem,
  runtimeContainerState,
  runtimeSandboxState,
  toRuntimePods,
  toRuntimePodStatus,
} from '../../../src/model/cri/runtime-pod-status.js';
import { isIpAddress } from '../../../src/model/values/ip-address.js';
import { aContainerStatus, aListedContainer, aSandbox, aSandboxStatus } from '../cri-fixtures.js';

it.each([
  ['CONTAINER_CREATED', 'created'],
  ['CONTAINER_RUNNING', 'running'],
  ['CONTAINER_EXITED', 'exited'],
  ['CONTAINER_UNKNOWN', 'unknown'],
  ['UNRECOGNIZED', 'unknown'],
] as const)('a container that is %s is %s', (state, expected) => {
  expect(runtimeContainerState(state)).toBe(expected);
});

it.each([
  ['SANDBOX_READY', 'running'],
  ['SANDBOX_NOTREADY', 'exited'],
] as const)('a sandbox that is %s is %s', (state, expected) => {
  expect(runtimeSandboxState(state)).toBe(expected);
});

describe('toRuntimePods', () => {
  it('groups by the uid label, the newest pod first', () => {
    const pods = toRuntimePods(
      [aSandbox('a', 'sa'), aSandbox('b', 'sb', { createdAt: 5n, state: 'SANDBOX_NOTREADY' })],
      [aListedContainer('a', 'c1', { podSandboxId: 'sa' }), aListedContainer('b', 'c2', { state: 'CONTAINER_EXITED' })],
      7,
    );
    expect(
      pods.map(({ items, ...rest }) => ({ ...rest, items: items.map(({ id, state }) => `${id} ${state}`) })),
    ).toEqual([
      { uid: 'b', namespace: 'ns', name: 'name-b', observedAt: 7, items: ['sb exited', 'c2 exited'] },
      { uid: 'a', namespace: 'ns', name: 'name-a', observedAt: 7, items: ['sa running', 'c1 running'] },
    ]);
    expect(pods[1]?.items).toEqual([
      { kind: 'sandbox', id: 'sa', name: '', state: 'running', createdAt: 1n, sandboxId: 'sa', attempt: 0 },
      {
        kind: 'container',
        id: 'c1',
        name: 'container-c1',
        state: 'running',
        createdAt: 2n,
        sandboxId: 'sa',
        attempt: 0,
      },
    ]);
  });

  it('shows the attempts', () => {
    const sandbox = aSandbox('a', 'sa', { metadata: { name: 'pod', uid: 'a', namespace: 'ns', attempt: 3 } });
    const container = aListedContainer('a', 'c1', { podSandboxId: 'sa', metadata: { name: 'web', attempt: 6 } });
    const [pod] = toRuntimePods([sandbox], [container], 7);
    expect(pod?.items.map(({ id, attempt }) => `${id} ${attempt}`)).toEqual(['sa 3', 'c1 6']);
  });

  it('shows a pod of which only a container is left, and leaves out what belongs to no pod', () => {
    const pods = toRuntimePods([aSandbox('x', 'foreign', { labels: {} })], [aListedContainer('a', 'c1')], 0);
    expect(pods.map(({ uid, items }) => [uid, items.length])).toEqual([['a', 1]]);
  });
});

describe('toRuntimePodStatus', () => {
  const ref = { uid: 'a', namespace: 'ns', name: 'pod' };

  it('orders sandboxes by attempt, then age, then id', () => {
    const sandbox = (id: string, attempt: number, createdAt: bigint) =>
      aSandboxStatus('a', id, { createdAt, metadata: { name: 'pod', uid: 'a', namespace: 'ns', attempt } });
    const sandboxes = [sandbox('old', 0, 9n), sandbox('b', 1, 3n), sandbox('a', 1, 3n), sandbox('c', 1, 4n)];
    expect(toRuntimePodStatus(ref, sandboxes, []).sandboxes.map(({ id }) => id)).toEqual(['c', 'a', 'b', 'old']);
  });

  it('has the user of a container, where the runtime reports it', () => {
    const linux = { uid: 1000n, gid: 100n, supplementalGroups: [7n] };
    const found = [aContainerStatus('a', { user: { linux } }), aContainerStatus('b', { user: { linux: undefined } })];
    const { containers } = toRuntimePodStatus(
      ref,
      [],
      found.map((status) => ({ status, sandboxId: 's' })),
    );
    const [a, b] = ['a', 'b'].map((id) => containers.find((container) => container.id === id));
    expect(a?.user).toEqual({ uid: 1000, gid: 100, supplementalGroups: [7] });
    expect(b).not.toHaveProperty('user');
  });

  it('orders containers by age, the newest first, and reads their annotations', () => {
    const old = aContainerStatus('old', { createdAt: 1n, state: 'CONTAINER_EXITED', exitCode: 3, reason: 'Error' });
    const fresh = aContainerStatus('new', {
      createdAt: 2n,
      annotations: { 'io.kubernetes.container.hash': 'beef', 'io.kubernetes.container.restartCount': '4' },
    });
    const { containers } = toRuntimePodStatus(
      ref,
      [],
      [
        { status: old, sandboxId: 's0' },
        { status: fresh, sandboxId: 's1' },
      ],
    );
    expect(containers).toMatchObject([
      { id: 'new', sandboxId: 's1', state: 'running', hash: 'beef', restartCount: 4, image: 'image:1' },
      { id: 'old', sandboxId: 's0', state: 'exited', exitCode: 3, reason: 'Error', hash: '', restartCount: 0 },
    ]);
  });

  it.each([
    { ip: '10.0.0.1', more: [], ips: ['10.0.0.1'] },
    { ip: '10.0.0.1', more: ['fd00::1'], ips: ['10.0.0.1', 'fd00::1'] },
    { ip: '', more: [], ips: [] },
    { ip: '10.0.0.1', more: ['nonsense'], ips: [] },
    { ip: 'nonsense', more: ['fd00::1'], ips: [] },
    { ip: '10.0.0.1', more: [''], ips: [] },
  ])('takes the IPs of a ready sandbox: %j', ({ ip, more, ips }) => {
    const sandbox = aSandboxStatus('a', 's', { network: { ip, additionalIps: more.map((one) => ({ ip: one })) } });
    expect(toRuntimePodStatus(ref, [sandbox], []).ips).toEqual(ips);
  });

  it('takes the container with more restarts for the newer one, though the clock was set back before it was made', () => {
    const status = (id: string, name: string, createdAt: bigint, restarts: number) => ({
      status: aContainerStatus(id, {
        createdAt,
        metadata: { name, attempt: restarts },
        annotations: { 'io.kubernetes.container.restartCount': String(restarts) },
      }),
      sandboxId: 's1',
    });
    const { containers } = toRuntimePodStatus(
      ref,
      [],
      [status('first', 'main', 100n, 0), status('second', 'main', 40n, 1), status('beside', 'other', 70n, 0)],
    );
    expect(containers.map(({ id }) => id)).toEqual(['second', 'beside', 'first']);
  });

  it('takes no IPs of a sandbox that is not ready or not the newest', () => {
    const newest = aSandboxStatus('a', 'new', { state: 'SANDBOX_NOTREADY', createdAt: 9n });
    expect(toRuntimePodStatus(ref, [aSandboxStatus('a', 'old'), newest], []).ips).toEqual([]);
  });
});

it.each([
  ['10.0.0.1', true],
  ['255.255.255.255', true],
  ['256.0.0.1', false],
  ['10.0.0.01', false],
  ['10.0.0', false],
  ['', false],
  ['::', true],
  ['::1', true],
  ['fd00::', true],
  ['fe80::1%eth0', false],
  ['1:2:3:4:5:6:7:8', true],
  ['1:2:3:4:5:6:7', false],
  ['1:2:3:4:5:6:7:8:9', false],
  ['1::2::3', false],
  ['1:2:3:4:5:6:7::', true],
  ['1:2:3:4:5:6:7:8::', false],
  ['::ffff:10.0.0.1', true],
  ['10.0.0.1::', false],
  [':1', false],
  ['12345::', false],
])('%s is an IP address: %s', (text, expected) => {
  expect(isIpAddress(text)).toBe(expected);
});

describe('the items of a pod that ran and are in no list', () => {
  const ran: readonly RanItem[] = [
    { kind: 'sandbox', id: 's1', sandboxId: 's1' },
    { kind: 'container', id: 'c1', sandboxId: 's1' },
    { kind: 'container', id: 'c2', sandboxId: 's1' },
  ];
  const ids = (items: readonly { readonly id: string }[]): readonly string[] => items.map(({ id }) => id);

  it.each([
    { case: 'are none of a complete listing', sandboxes: ['s1'], containers: ['c1', 'c2', 'c3'], lost: [[], []] },
    { case: 'are the containers that are missing', sandboxes: ['s1'], containers: ['c2'], lost: [[], ['c1']] },
    { case: 'are the sandbox that is missing', sandboxes: ['s2'], containers: ['c1', 'c2'], lost: [['s1'], []] },
    { case: 'are all of an empty listing', sandboxes: [], containers: [], lost: [['s1'], ['c1', 'c2']] },
  ])('the items $case', ({ sandboxes, containers, lost }) => {
    const withIds = (list: readonly string[]) => list.map((id) => ({ id }));
    const found = leftOutOf(ran, withIds(sandboxes), withIds(containers));
    expect([ids(found.sandboxes), ids(found.containers)]).toEqual(lost);
  });

  it('the items are none if nothing ran', () => {
    expect(leftOutOf([], [], [])).toEqual({ sandboxes: [], containers: [] });
  });
});

it('the pods of sandboxes are named once each, and a sandbox without the label names none', () => {
  expect(podUidsIn([])).toEqual([]);
  expect(podUidsIn([aSandbox('b', 's1'), aSandbox('a', 's2'), aSandbox('b', 's3'), { labels: {} }])).toEqual([
    'b',
    'a',
  ]);
});
