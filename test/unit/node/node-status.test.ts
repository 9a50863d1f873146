import { describe, expect, it } from 'vitest';
import type { Image } from '../../../src/generated/runtime/v1/api.js';
import { initialNode } from '../../../src/model/node/initial-node.js';
import type { Node } from '../../../src/model/node/node.js';
import type { NodeObjectSettings } from '../../../src/model/node/node-settings.js';
import { foldNodeStatus, type NodeStatusFacts } from '../../../src/model/node/node-status.js';
import { aMachine, nodeSettings, nodeStatusFacts } from '../../support/node-object.js';

const initial = (settings: Partial<NodeObjectSettings> = {}, facts: Partial<NodeStatusFacts> = {}) =>
  initialNode({ ...nodeSettings, ...settings }, { ...nodeStatusFacts, ...facts });
const again = (before: Node, settings: Partial<NodeObjectSettings> = {}, facts: Partial<NodeStatusFacts> = {}) =>
  foldNodeStatus(before, { ...nodeSettings, ...settings }, { ...nodeStatusFacts, ...facts });
const image = (name: string, size: bigint, tags = 1): Image => ({
  id: name,
  repoTags: Array.from({ length: tags }, (_, at) => `${name}:${at}`),
  repoDigests: [`${name}@sha256:1`],
  size,
  uid: undefined,
  username: '',
  spec: undefined,
  pinned: false,
});

describe('a Node that is made', () => {
  it('has its labels, its annotation and all of its status', () => {
    const { node, problems } = initial();
    expect(problems).toEqual([]);
    expect(JSON.parse(JSON.stringify(node))).toMatchObject({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: {
        name: 'node-1',
        labels: {
          'kubernetes.io/hostname': 'node-1',
          'kubernetes.io/os': 'linux',
          'kubernetes.io/arch': 'amd64',
          'beta.kubernetes.io/os': 'linux',
          'beta.kubernetes.io/arch': 'amd64',
        },
        annotations: { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' },
      },
      spec: {},
      status: {
        addresses: [
          { type: 'InternalIP', address: '192.0.2.2' },
          { type: 'Hostname', address: 'node-1' },
        ],
        capacity: { cpu: '4', memory: '8Gi', pods: '110', 'ephemeral-storage': '107374182400' },
        allocatable: { cpu: '4', memory: '8Gi', pods: '110', 'ephemeral-storage': '107374182400' },
        nodeInfo: {
          machineID: 'machine-1',
          systemUUID: 'system-1',
          bootID: 'boot-1',
          kernelVersion: '6.1.0-13-amd64',
          osImage: 'Debian GNU/Linux 12 (bookworm)',
          containerRuntimeVersion: 'containerd://1.7.2',
          kubeletVersion: 'v1.37.0+rx-kubelet.1.2.3',
          kubeProxyVersion: '',
          operatingSystem: 'linux',
          architecture: 'amd64',
        },
        daemonEndpoints: { kubeletEndpoint: { Port: 10_250 } },
      },
    });
    // What is empty is left out, as the API does it: else it would differ from what was read for good.
    const { images, runtimeHandlers, features, volumesInUse } = node.status ?? {};
    expect([images, runtimeHandlers, features, volumesInUse]).toEqual([undefined, undefined, undefined, undefined]);
  });

  it('has what its flags want: labels above its own, taints, an id of the cloud', () => {
    const taint = { key: 'a', effect: 'NoExecute' };
    const { node } = initial({
      labels: { 'kubernetes.io/os': 'plan9', disk: 'ssd' },
      taints: [taint],
      providerId: 'aws:///1',
      controllerAttachDetach: false,
      externalCloudProvider: true,
      nodeIps: ['192.0.2.2'],
    });
    expect(node.metadata.labels).toMatchObject({ 'kubernetes.io/os': 'plan9', disk: 'ssd' });
    expect(node.metadata.annotations).toEqual({ 'alpha.kubernetes.io/provided-node-ip': '192.0.2.2' });
    expect(node.spec).toEqual({
      taints: [taint, { key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' }],
      providerID: 'aws:///1',
    });
  });
});

describe('the status of a Node', () => {
  it('has the largest images, as many as it may, with five names each, digests first', () => {
    const images = [image('big', 3n, 6), image('small', 2n), image('tiny', 1n)];
    const told = (maxImages: number) => again(initial().node, { maxImages }, { images }).node.status?.images;
    expect(told(2)).toEqual([
      { names: ['big@sha256:1', 'big:0', 'big:1', 'big:2', 'big:3'], sizeBytes: 3 },
      { names: ['small@sha256:1', 'small:0'], sizeBytes: 2 },
    ]);
    expect([told(-1)?.length, told(0)]).toEqual([3, undefined]);
  });

  it('has what the runtime offers, by name, and what a machine swaps', () => {
    const features = { recursiveReadOnlyMounts: true, userNamespaces: false };
    const { node } = again(
      initial().node,
      {},
      {
        machine: { ...aMachine, swapBytes: 1n << 30n },
        runtime: {
          problems: [],
          handlers: [
            { name: 'runc', features },
            { name: '', features },
            { name: 'kata', features: undefined },
          ],
          features: { supplementalGroupsPolicy: true, userNamespacesHostNetwork: false },
        },
      },
    );
    const no = { recursiveReadOnlyMounts: false, userNamespaces: false };
    expect(node.status).toMatchObject({
      runtimeHandlers: [{ features }, { name: 'kata', features: no }, { name: 'runc', features }],
      features: { supplementalGroupsPolicy: true },
      nodeInfo: { swap: { capacity: 1_073_741_824 } },
    });
  });

  it('keeps what others have written, but gives no pod what there is none of', () => {
    const { node: made } = initial();
    const before: Node = {
      ...made,
      status: {
        ...made.status,
        phase: 'Running',
        volumesAttached: [{ name: 'v', devicePath: '' }],
        capacity: { ...made.status?.capacity, 'a.test/gpu': '2' },
        allocatable: { ...made.status?.allocatable, 'a.test/gpu': '1', 'a.test/gone': '1', 'kubernetes.io/batch': '1' },
      },
    };
    const { status } = again(before).node;
    expect(status).toMatchObject({ phase: 'Running', volumesAttached: [{ name: 'v', devicePath: '' }] });
    expect(status?.capacity).toMatchObject({ 'a.test/gpu': '2', cpu: '4' });
    expect(status?.allocatable).toEqual({ ...made.status?.allocatable, 'a.test/gpu': '2', 'kubernetes.io/batch': '1' });
  });

  it('says what its addresses are without, keeps them, and is written all the same', () => {
    const { node, problems } = again(initial().node, { nodeIps: ['192.0.2.3'] });
    expect(problems).toEqual([
      `failed to validate nodeIP: node IP: "192.0.2.3" not found in the host's network interfaces`,
    ]);
    expect(node.status?.addresses?.[0]?.address).toBe('192.0.2.2');
  });

  it('takes back what it wrote for a cloud', () => {
    const told = initial({ externalCloudProvider: true, nodeIps: ['192.0.2.2'] }).node;
    expect(again(told).node.metadata.annotations).toEqual({
      'volumes.kubernetes.io/controller-managed-attach-detach': 'true',
    });
  });

  it('is not ready without a resource that every pod needs', () => {
    const machine = { ...aMachine, storageBytes: undefined };
    const ready = (settings: Partial<NodeObjectSettings>) =>
      initial(settings, { machine, runtime: { problems: ['container runtime is down'] } }).node.status?.conditions?.at(
        -1,
      );
    expect(ready({})).toMatchObject({
      type: 'Ready',
      status: 'False',
      message: '[container runtime is down, missing node capacity for resources: ephemeral-storage]',
    });
    expect(ready({ localStorage: false })?.message).toBe('container runtime is down');
  });

  it('reports that the machine was started again, and each change of a condition', () => {
    const machine = { ...aMachine, bootId: 'boot-2' };
    const { events } = again(initial().node, {}, { machine, runtime: { problems: ['down'] } });
    expect(events).toEqual([
      { type: 'Warning', reason: 'Rebooted', message: 'Node node-1 has been rebooted, boot id: boot-2' },
      { type: 'Normal', reason: 'NodeNotReady', message: 'Node node-1 status is now: NodeNotReady' },
    ]);
    expect(initial({}, { machine }).events.map(({ reason }) => reason)).toEqual([
      'NodeHasSufficientMemory',
      'NodeHasNoDiskPressure',
      'NodeHasSufficientPID',
    ]);
  });
});
