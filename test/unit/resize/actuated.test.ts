import { describe, expect, it } from 'vitest';
import { containerAnnotations } from '../../../src/model/cri/labels.js';
import { computePodActions } from '../../../src/model/pod-actions/compute-pod-actions.js';
import type { RuntimeContainerStatus } from '../../../src/model/pleg/runtime-pod.js';
import type { Amounts } from '../../../src/model/pod/allocated-resources.js';
import type { Container, Pod } from '../../../src/model/pod/pod.js';
import {
  type ActuatedAmounts,
  isResizeInProgress,
  NOT_RESIZED,
  shownAmounts,
} from '../../../src/model/resize/actuated.js';
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
const none = NOT_RESIZED;
const given = (amounts: Amounts, containerId?: string): ActuatedAmounts => ({
  ...NOT_RESIZED,
  container: () => ({ ...amounts, ...(containerId !== undefined && { containerId }) }),
});

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
      given(moreCpu, 'web-0'),
      [],
    ],
    [
      'whose predecessor was given it is updated',
      pod(container('web', moreCpu)),
      [createdWith('web', small)],
      given(moreCpu, 'before'),
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
      given(small),
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

describe('a container of a pod with amounts of its own', () => {
  const ofPod = (resources: Amounts, ...containers: readonly Container[]): Pod =>
    aPod({ resources, containers: [...containers] });
  const created = (name: string, own: Amounts, before: Amounts) =>
    aStatus(name, {
      annotations: containerAnnotations(ofPod(before, container(name, own)), container(name, own), 0),
    });
  const limit = (memory: string): Amounts => ({ limits: { memory } });

  it.each<[row: string, asked: Pod, instance: RuntimeContainerStatus, ActuatedAmounts, done: readonly string[]]>([
    [
      'without a limit of its own is updated with that of the pod',
      ofPod(limit('90Mi'), container('web', {})),
      created('web', {}, limit('60Mi')),
      none,
      ['update web'],
    ],
    [
      'that was given it stays',
      ofPod(limit('90Mi'), container('web', {})),
      created('web', {}, limit('60Mi')),
      given(limit('90Mi'), 'web-0'),
      [],
    ],
    [
      'with a limit of its own stays',
      ofPod(limit('90Mi'), container('web', limit('30Mi'))),
      created('web', limit('30Mi'), limit('60Mi')),
      none,
      [],
    ],
    [
      'without a limit of its own stays if that of the pod does',
      ofPod(limit('60Mi'), container('web', {})),
      created('web', {}, limit('60Mi')),
      none,
      [],
    ],
  ])('%s', (_, asked, instance, actuated, expected) => {
    expect(done(asked, [instance], actuated)).toEqual(expected);
  });

  it('shows no limit of the pod as its own', () => {
    const web = container('web', { requests: { memory: '10Mi' } });
    const shown = shownAmounts(web, aStatus('web'), given({ ...limit('90Mi'), requests: { memory: '5Mi' } }, 'web-0'));
    expect(shown).toMatchObject({ requests: { memory: '5Mi' }, limits: {} });
  });

  it('is in progress while the pod as a whole does not have its amounts', () => {
    const asked = ofPod(limit('90Mi'), container('web', limit('30Mi')));
    const status = aRuntimePod([created('web', limit('30Mi'), limit('60Mi'))]);
    const is = (ofWhole: Amounts) => isResizeInProgress(asked, status, { ...none, pod: ofWhole });
    expect([is(limit('60Mi')), is(limit('90Mi')), isResizeInProgress(asked, status, none)]).toEqual([
      true,
      false,
      false,
    ]);
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
