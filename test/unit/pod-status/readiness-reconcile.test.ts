import { expect, it } from 'vitest';
import type { ContainerStatus, Pod, PodCondition } from '../../../src/model/pod/pod.js';
import { isReadinessOutdated } from '../../../src/model/pod-status/readiness-reconcile.js';
import { aContainer, aPod } from '../pods.js';

const GATE = 'example.com/gate';
const gate: PodCondition = { type: GATE, status: 'True' };
const ready = (status: string, message?: string): PodCondition => ({
  type: 'Ready',
  status,
  ...(message && { message }),
});
const container = (name: string, isReady: boolean) => ({ name, ready: isReady }) as ContainerStatus;

const pod = (conditions: readonly PodCondition[], { isSidecarReady = true, isGated = true } = {}): Pod => ({
  ...aPod({
    ...(isGated && { readinessGates: [{ conditionType: GATE }] }),
    initContainers: [aContainer('setup'), aContainer('side', { restartPolicy: 'Always' })],
  }),
  status: {
    phase: 'Running',
    conditions,
    containerStatuses: [container('web', true)],
    // What has ended well counts for nothing, ready or not.
    initContainerStatuses: [container('setup', false), container('side', isSidecarReady)],
  },
});
const unready = 'containers with unready status: [side]';
const shut = `the status of pod readiness gate "${GATE}" is not "True", but False`;

it.each<[row: string, pod: Pod, isOutdated: boolean]>([
  ['the gate is open, and the API knows', pod([ready('True'), gate]), false],
  ['the gate is open, and the API does not know', pod([ready('False', shut), gate]), true],
  ['the gate was shut since', pod([ready('True'), { ...gate, status: 'False' }]), true],
  ['the gate is shut, and the API knows why', pod([ready('False', shut), { ...gate, status: 'False' }]), false],
  ['the API knows another reason', pod([ready('False', unready), { ...gate, status: 'False' }]), true],
  // The kubelet leaves sidecars out, and syncs such a pod again and again.
  ['a sidecar is not ready, and the API knows', pod([ready('False', unready), gate], { isSidecarReady: false }), false],
  ['a sidecar is not ready, and the API does not know', pod([ready('True'), gate], { isSidecarReady: false }), true],
  ['no gate', pod([ready('False', shut), gate], { isGated: false }), false],
  ['no status of its own yet', pod([gate]), false],
])('Ready of the API is outdated: %s', (_, one, isOutdated) => {
  expect(isReadinessOutdated(one)).toBe(isOutdated);
});
