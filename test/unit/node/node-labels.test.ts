import { describe, expect, it } from 'vitest';
import { parseNodeLabels } from '../../../src/model/node/node-labels.js';

describe('--node-labels', () => {
  it.each<[string, Readonly<Record<string, string>>]>([
    ['', {}],
    ['a=1', { a: '1' }],
    ['disk=ssd, zone.example/rack=,a=1,a=2', { disk: 'ssd', 'zone.example/rack': '', a: '2' }],
    [
      'node.kubernetes.io/x=1,team.node.kubernetes.io/y=2',
      { 'node.kubernetes.io/x': '1', 'team.node.kubernetes.io/y': '2' },
    ],
    ['kubelet.kubernetes.io/x=1', { 'kubelet.kubernetes.io/x': '1' }],
    [
      'kubernetes.io/os=plan9,topology.kubernetes.io/zone=a',
      { 'kubernetes.io/os': 'plan9', 'topology.kubernetes.io/zone': 'a' },
    ],
    ['notkubernetes.io/x=1', { 'notkubernetes.io/x': '1' }],
  ])('%j', (text, labels) => expect(parseNodeLabels(text)).toEqual(labels));

  it.each([
    ['a', '--node-labels: malformed pair, expect string=string: "a"'],
    [
      'node-role.kubernetes.io/master=,kubernetes.io/role=x,x.k8s.io/y=1',
      "unknown 'kubernetes.io' or 'k8s.io' labels specified with --node-labels: " +
        '[kubernetes.io/role node-role.kubernetes.io/master x.k8s.io/y]\n',
    ],
    ['a b=1', "invalid node labels: 'a b' - expected "],
    ['a=b c', "invalid node labels: 'b c' - expected "],
    [`a=${'x'.repeat(64)}`, 'invalid node labels'],
  ])('%j is refused', (text, problem) => expect(() => parseNodeLabels(text)).toThrow(problem));
});
