import { describe, expect, it } from 'vitest';
import { choosePods, type PodRequest } from '../../../../src/cli/logs/choose-pod.js';

const pod = (namespace: string, name: string, uid: string) => ({ namespace, name, uid });
const KNOWN = [
  ...[pod('default', 'web-node1', 'u1'), pod('default', 'web-node1', 'u2'), pod('a', 'web', 'u3')],
  ...[pod('kube-system', 'dns', 'u4'), pod('a', 'dns', 'u5'), pod('b', 'job', 'u6'), pod('default', 'job', 'u7')],
];
const choose = (request: PodRequest): string => {
  const found = choosePods(KNOWN, request, new Set(['node1']));
  return found.map(({ uid }) => uid).join();
};

describe('the pod of a command line', () => {
  it.each<[string, string | undefined, string]>([
    ['web-node1', undefined, 'u1,u2'],
    ['web-node1', 'default', 'u1,u2'],
    ['web', undefined, 'u3'],
    ['web', 'default', 'u1,u2'],
    ['web', 'a', 'u3'],
    ['pod/web', 'a', 'u3'],
    ['pods/web-node1', undefined, 'u1,u2'],
    ['po/web-node1', undefined, 'u1,u2'],
    ['web-node1_default', undefined, 'u1,u2'],
    ['dns_a', undefined, 'u5'],
    ['u2', undefined, 'u2'],
    ['dns', 'kube-system', 'u4'],
    ['job', undefined, 'u7'],
    ['job', 'b', 'u6'],
  ])('%s in namespace %s is %s', (name, namespace, expected) => {
    expect(choose({ pod: name, ...(namespace !== undefined && { namespace }) })).toBe(expected);
  });

  it.each<[string, string | undefined, string]>([
    [
      'wep',
      undefined,
      'pods "wep" not found; pods here: dns_a, dns_kube-system, job_b, job_default, web-node1_default, web_a',
    ],
    ['web', 'b', 'pods "web" not found in namespace "b"; pods here: '],
    ['dns', undefined, 'pods "dns" are in several namespaces: choose with -n one of: [a kube-system]'],
  ])('%s in namespace %s is an error', (name, namespace, message) => {
    expect(() => choose({ pod: name, ...(namespace !== undefined && { namespace }) })).toThrow(message);
  });

  it('is not found where there is none', () => {
    expect(() => choosePods([], { pod: 'web' }, new Set())).toThrow('pods "web" not found; there is no pod here');
  });
});
