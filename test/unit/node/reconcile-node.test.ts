import { describe, expect, it } from 'vitest';
import { initialNode } from '../../../src/model/node/initial-node.js';
import type { Node } from '../../../src/model/node/node.js';
import type { NodeObjectSettings } from '../../../src/model/node/node-settings.js';
import { reconcileNode } from '../../../src/model/node/reconcile-node.js';
import { aMachine, nodeSettings, nodeStatusFacts } from '../../support/node-object.js';

const hugePages = [{ pageBytes: 2n << 20n, count: 512n }];
const initial = (settings: Partial<NodeObjectSettings> = {}): Node =>
  initialNode({ ...nodeSettings, ...settings }, { ...nodeStatusFacts, machine: { ...aMachine, hugePages } }).node;
const withLabels = (node: Node, labels: Readonly<Record<string, string>>): Node => ({
  ...node,
  metadata: { ...node.metadata, labels: { ...node.metadata.labels, ...labels } },
});
const ANNOTATION = 'volumes.kubernetes.io/controller-managed-attach-detach';

describe('a Node that was there before', () => {
  it('stays the same object where nothing differs, with any changes by others', () => {
    const existing: Node = {
      ...withLabels(initial(), { a: '1', 'node-role.kubernetes.io/master': '' }),
      spec: { taints: [{ key: 'a', effect: 'NoExecute' }], unschedulable: true },
    };
    expect(
      reconcileNode(initial({ labels: { disk: 'ssd' }, taints: [{ key: 'b', effect: 'NoExecute' }] }), existing),
    ).toBe(existing);
  });

  it('gets its default labels right, also where a flag sets others; other labels of the flag do not come', () => {
    const existing = withLabels(initial(), {
      'kubernetes.io/arch': 'arm64',
      'topology.kubernetes.io/zone': 'b',
      a: '1',
    });
    const wanted = initial({ labels: { 'topology.kubernetes.io/zone': 'a', disk: 'ssd' } });
    expect(reconcileNode(wanted, existing).metadata.labels).toEqual({
      ...initial().metadata.labels,
      'topology.kubernetes.io/zone': 'a',
      a: '1',
    });
  });

  it('loses a default label that is to be empty, and keeps empty ones of others', () => {
    const existing = withLabels(initial(), { 'topology.kubernetes.io/zone': 'b', a: '' });
    const { labels } = reconcileNode(initial({ labels: { 'topology.kubernetes.io/zone': '' } }), existing).metadata;
    expect(labels).toEqual({ ...initial().metadata.labels, a: '' });
  });

  it.each<[string, boolean, Record<string, string>, Record<string, string>]>([
    ['comes', true, { a: '1' }, { a: '1', [ANNOTATION]: 'true' }],
    ['is put right', true, { [ANNOTATION]: 'false' }, { [ANNOTATION]: 'true' }],
    ['goes', false, { a: '1', [ANNOTATION]: 'true' }, { a: '1' }],
  ])('its word on who attaches volumes %s', (_, controllerAttachDetach, annotations, expected) => {
    const existing: Node = { ...initial(), metadata: { ...initial().metadata, annotations } };
    expect(reconcileNode(initial({ controllerAttachDetach }), existing).metadata.annotations).toEqual(expected);
  });

  it('has the huge pages of this machine and no others', () => {
    const existing: Node = {
      ...initial(),
      status: {
        capacity: { cpu: '2', 'a.test/gpu': '1', 'hugepages-2Mi': '2Mi', 'hugepages-1Gi': '1Gi' },
        allocatable: { cpu: '1', 'a.test/gpu': '1', 'hugepages-2Mi': '2Mi', 'hugepages-1Gi': '1Gi' },
      },
    };
    const { status } = reconcileNode(initial(), existing);
    expect(status?.capacity).toEqual({ cpu: '2', 'a.test/gpu': '1', 'hugepages-2Mi': '1Gi' });
    expect(status?.allocatable).toEqual({ cpu: '1', 'a.test/gpu': '1', 'hugepages-2Mi': '1Gi' });
    const asWritten: Node = {
      ...initial(),
      status: { capacity: { 'hugepages-2Mi': '1024Mi' }, allocatable: { 'hugepages-2Mi': '1Gi' } },
    };
    expect(reconcileNode(initial(), asWritten)).toBe(asWritten);
  });

  it('has resources where it had none', () => {
    const bare: Node = { ...initial(), status: {} };
    expect(reconcileNode(initial(), bare).status).toEqual({
      capacity: initial().status?.capacity,
      allocatable: initial().status?.allocatable,
    });
  });
});
