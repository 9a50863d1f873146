import { describe, expect, it } from 'vitest';
import {
  applyStrategicMergePatch,
  type JsonObject,
  NODE_MERGE_KEYS,
} from '../../../src/model/kube-api/strategic-merge-patch.js';
import { initialNode } from '../../../src/model/node/initial-node.js';
import type { Node } from '../../../src/model/node/node.js';
import type { NodeStatusFacts } from '../../../src/model/node/node-status.js';
import { droppedFields, nodeStatusPatch, updateNode } from '../../../src/model/node/update-node.js';
import { aMachine, nodeSettings, nodeStatusFacts } from '../../support/node-object.js';

/** As a server gives it back. */
const made: Node = JSON.parse(JSON.stringify(initialNode(nodeSettings, nodeStatusFacts).node)) as Node;
const update = (original: Node, facts: Partial<NodeStatusFacts> = {}) =>
  updateNode(original, nodeSettings, { ...nodeStatusFacts, now: nodeStatusFacts.now + 10_000, ...facts });
const applied = (node: Node, patch: JsonObject | undefined): unknown =>
  applyStrategicMergePatch(node as unknown as JsonObject, patch ?? {}, NODE_MERGE_KEYS);

describe('a Node has changed', () => {
  const status = made.status!;
  const withLabels = (labels: Record<string, string>): Node => ({ ...made, metadata: { ...made.metadata, labels } });
  const os = { 'kubernetes.io/os': 'linux' };
  it.each<[string, boolean, Node, Partial<NodeStatusFacts>]>([
    ['not by a heartbeat', false, made, {}],
    [
      'not by another order of conditions',
      false,
      { ...made, status: { ...status, conditions: status.conditions?.toReversed() } },
      {},
    ],
    [
      'not by a condition of another writer',
      false,
      { ...made, status: { ...status, conditions: [...status.conditions!, { type: 'X', status: 'True' }] } },
      {},
    ],
    [
      'not by a label of another writer',
      false,
      { ...made, metadata: { ...made.metadata, labels: { ...made.metadata.labels, a: '1' } } },
      {},
    ],
    ['by a condition', true, made, { runtime: { problems: ['down'] } }],
    [
      'by what a condition says',
      true,
      { ...made, status: { ...status, conditions: status.conditions?.map((one) => ({ ...one, message: 'x' })) } },
      {},
    ],
    ['by one that is missing', true, { ...made, status: { ...status, conditions: status.conditions?.slice(1) } }, {}],
    ['by what the machine has', true, made, { machine: { ...aMachine, cpus: 8 } }],
    ['by the version of the runtime', true, made, { runtimeVersion: 'containerd://2.0' }],
    ['by a label for the system that is missing', true, withLabels({ 'kubernetes.io/arch': 'amd64' }), {}],
    ['by a label for the processor that is wrong', true, withLabels({ ...os, 'kubernetes.io/arch': 'arm64' }), {}],
  ])('%s', (_, isChanged, original, facts) => expect(update(original, facts).isChanged).toBe(isChanged));

  it('and gets the labels that it lacks', () => {
    const { node } = update(withLabels({ a: '1' }));
    expect(node.metadata.labels).toEqual({ a: '1', ...os, 'kubernetes.io/arch': 'amd64' });
  });
});

describe('the patch of a Node', () => {
  it('of a heartbeat has nothing else', () => {
    const patch = nodeStatusPatch(made, update(made).node);
    const types = ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready'];
    expect(patch).toEqual({
      status: {
        '$setElementOrder/conditions': types.map((type) => ({ type })),
        conditions: types.map((type) => ({ type, lastHeartbeatTime: '2026-01-01T00:00:10Z' })),
      },
    });
  });

  it('leaves the spec and everything of others alone', () => {
    const original: Node = { ...made, spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } };
    const { node } = update({ ...original, spec: { unschedulable: true } }, { machine: { ...aMachine, cpus: 8 } });
    const patch = nodeStatusPatch(original, node);
    expect(patch).not.toHaveProperty('spec');
    expect(applied(original, patch)).toEqual(JSON.parse(JSON.stringify({ ...node, spec: original.spec })));
  });

  it('replaces addresses as a whole', () => {
    const addresses = [
      { type: 'InternalIP', address: '192.0.2.2' },
      { type: 'InternalIP', address: 'fd00::2' },
    ];
    const patch = nodeStatusPatch(made, { ...made, status: { ...made.status, addresses } });
    expect(patch).toEqual({ status: { addresses: [...addresses, { $patch: 'replace' }] } });
    expect(applied(made, patch)).toMatchObject({ status: { addresses } });
  });

  it('sets addresses where there were none', () => {
    const bare: Node = { ...made, status: { ...made.status, addresses: undefined } };
    expect(nodeStatusPatch(bare, made)).toEqual({ status: { addresses: made.status?.addresses } });
  });

  it('is none where nothing differs', () => expect(nodeStatusPatch(made, made)).toBeUndefined());
});

describe('what a server does not keep', () => {
  const offers = {
    machine: { ...aMachine, swapBytes: 1n },
    runtime: {
      problems: [],
      handlers: [{ name: 'runc', features: undefined }],
      features: { supplementalGroupsPolicy: true, userNamespacesHostNetwork: false },
    },
  };
  const settings = { ...nodeSettings, declaredFeatures: ['RestartAllContainersOnContainerExits'] };
  const dropped = [
    ...(['status.features', 'status.runtimeHandlers', 'status.declaredFeatures', 'status.nodeInfo.swap'] as const),
  ];

  it('is seen in its answer', () => {
    const { node } = updateNode(made, settings, { ...nodeStatusFacts, ...offers });
    expect(node.status?.declaredFeatures).toEqual(settings.declaredFeatures);
    expect(droppedFields(node, made)).toEqual(dropped);
    expect(droppedFields(node, node)).toEqual([]);
    expect(droppedFields(made, made)).toEqual([]);
  });

  it('is no change, and is not sent', () => {
    const facts = { ...nodeStatusFacts, ...offers };
    const { node, isChanged } = updateNode(made, settings, facts, new Set(dropped));
    expect(isChanged).toBe(false);
    expect(nodeStatusPatch(made, node)).toBeUndefined();
  });
});
