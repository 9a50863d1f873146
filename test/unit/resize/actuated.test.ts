import { describe, expect, it } from 'vitest';
import { containerAnnotations } from '../../../src/model/cri/labels.js';
import { computePodActions } from '../../../src/model/pod-actions/compute-pod-actions.js';
import type { RuntimeContainerStatus } from '../../../src/model/pleg/runtime-pod.js';
import type { Amounts } from '../../../src/model/pod/allocated-resources.js';
import type { Container, Pod } from '../../../src/model/pod/pod.js';
import { type ActuatedAmounts, isResizeInProgress } from '../../../src/model/resize/actuated.js';
import { aContainer, aPod, aRuntimePod, aStatus, exited } from '../pods.js';

const small: Amounts = { requests: { cpu: '100m', memory: '30Mi' }, limits: { memory: '60Mi' } };
const moreCpu: Amounts = { ...small, requests: { cpu: '200m', memory: '30Mi' } };
const moreMemory: Amounts = { ...small, limits: { memory: '90Mi' } };
const RESTART = [
  { resourceName: 'cpu', restartPolicy: 'NotRequired' },
  { resourceName: 'memory', restartPolicy: 'RestartContainer' },
];

const container = (name: string, resources: Amounts, fields: Partial<Container> = {}): Container =>
  aContainer(name, { resources, ...fields });
const createdWith = (name: string, amounts: Amounts, fields: Partial<RuntimeContainerStatus> = {}) =>
  aStatus(name, { annotations: containerAnnotations(aPod(), container(name, amounts), 0), ...fields });
const pod = (...containers: readonly Container[]): Pod => aPod({ containers: [...containers] });
const none: ActuatedAmounts = () => undefined;

/** What a sync does to the containers, in words. */
const done = (asked: Pod, instances: readonly RuntimeContainerStatus[], actuated: ActuatedAmounts = none) => {
  const { containersToKill, containersToStart, containersToUpdate, initContainersToStart } = computePodActions({
    ...{ pod: asked, status: aRuntimePod(instances), actuated },
  });
  return [
    ...containersToKill.map(({ name, reason }) => `kill ${name}: ${reason}`),
    ...[...initContainersToStart, ...containersToStart].map((name) => `start ${name}`),
    ...containersToUpdate.map((update) => `update ${update.container.name}`),
  ];
};

describe('a running container of a resized pod', () => {
  it.each<
    [row: string, asked: Pod, instances: readonly RuntimeContainerStatus[], ActuatedAmounts, done: readonly string[]]
  >([
    ['with what it was created with stays', pod(container('web', small)), [createdWith('web', small)], none, []],
    [
      'with the same in other words stays',
      pod(container('web', { ...small, requests: { cpu: '0.1', memory: '30Mi' } })),
      [createdWith('web', small)],
      none,
      [],
    ],
    ['with less is updated', pod(container('web', moreCpu)), [createdWith('web', small)], none, ['update web']],
    [
      'that was given it since stays',
      pod(container('web', moreCpu)),
      [createdWith('web', small)],
      () => ({ ...moreCpu, containerId: 'web-0' }),
      [],
    ],
    [
      'whose predecessor was given it is updated',
      pod(container('web', moreCpu)),
      [createdWith('web', small)],
      () => ({ ...moreCpu, containerId: 'before' }),
      ['update web'],
    ],
    [
      'is restarted for a resource whose policy asks for that',
      pod(container('web', moreMemory, { resizePolicy: RESTART })),
      [createdWith('web', small)],
      none,
      ['kill web: Resize', 'start web'],
    ],
    [
      'is updated for a resource whose policy does not ask for that',
      pod(container('web', moreCpu, { resizePolicy: RESTART })),
      [createdWith('web', small)],
      none,
      ['update web'],
    ],
    [
      'that another kubelet has created is updated without a restart, with any policy',
      pod(container('web', small, { resizePolicy: RESTART })),
      [aStatus('web')],
      none,
      ['update web'],
    ],
    [
      'that another kubelet has given the amounts stays',
      pod(container('web', small)),
      [aStatus('web')],
      () => small,
      [],
    ],
    [
      'that is replaced for another reason is not updated',
      pod(container('web', moreCpu)),
      [createdWith('web', small, { hash: '1' })],
      none,
      ['kill web: DefinitionChanged', 'start web'],
    ],
    [
      'is updated beside one that starts',
      pod(container('web', moreCpu), container('db', small)),
      [createdWith('web', small), exited('db', 1)],
      none,
      ['start db', 'update web'],
    ],
  ])('%s', (_, asked, instances, actuated, expected) => {
    expect(done(asked, instances, actuated)).toEqual(expected);
  });

  it.each<[row: string, init: Container, expected: readonly string[]]>([
    ['a sidecar is updated', container('side', moreCpu, { restartPolicy: 'Always' }), ['start web', 'update side']],
    [
      'a sidecar is restarted if its policy asks for that',
      container('side', moreMemory, { restartPolicy: 'Always', resizePolicy: RESTART }),
      ['kill side: Resize', 'start web', 'start side'],
    ],
    ['a running init container is updated', container('side', moreCpu), ['update side']],
  ])('%s', (_, init, expected) => {
    const asked = aPod({ initContainers: [init], containers: [container('web', small)] });
    expect(done(asked, [createdWith('side', small)]).toSorted()).toEqual([...expected].toSorted());
  });

  it('no pod is compared that was never resized', () => {
    const { containersToUpdate } = computePodActions({
      ...{ pod: pod(container('web', moreCpu)), status: aRuntimePod([createdWith('web', small)]) },
    });
    expect(containersToUpdate).toEqual([]);
  });
});

describe('a resize', () => {
  const side = (fields: Partial<Container> = {}): Pod =>
    aPod({ initContainers: [container('side', moreCpu, fields)], containers: [container('web', small)] });
  it.each<[row: string, asked: Pod, instances: readonly RuntimeContainerStatus[], is: boolean]>([
    ['of a running container', pod(container('web', moreCpu)), [createdWith('web', small)], true],
    ['that is done', pod(container('web', small)), [createdWith('web', small)], false],
    ['of a container that does not run', pod(container('web', moreCpu)), [exited('web', 0)], false],
    ['of a sidecar', side({ restartPolicy: 'Always' }), [createdWith('side', small)], true],
    ['of an init container', side(), [createdWith('side', small)], false],
  ])('%s is in progress: %s', (_, asked, instances, is) => {
    expect(isResizeInProgress(asked, aRuntimePod(instances), none)).toBe(is);
  });
});
