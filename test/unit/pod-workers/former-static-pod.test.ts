import { expect, it } from 'vitest';
import { mayBeFormer } from '../../../src/model/pod-workers/former-static-pod.js';
import { aPod } from '../../support/a-pod.js';

const web = (name = 'web-node-b') => {
  const pod = aPod({ source: 'file', spec: { nodeName: 'Node-B' } });
  return { ...pod, metadata: { ...pod.metadata, name, namespace: 'default' } };
};
const ready = { name: 'web-node-b', namespace: 'default' };

it.each([
  ['the same full name', {}, false],
  ['another namespace', { namespace: 'other' }, true],
  ['the name of another node', { name: 'web-node-a' }, true],
  ['both', { name: 'web-node-a', namespace: 'other' }, true],
  ['another pod of this node', { name: 'web-api-node-b' }, false],
  ['another name', { name: 'webs-node-a' }, false],
])('a pod with %s may be the former one: %s', (_, other, expected) => {
  expect(mayBeFormer(web(), { ...ready, ...other })).toBe(expected);
});

it('takes no name apart that does not end in that of the node', () => {
  expect(mayBeFormer(web('web'), { ...ready, name: 'web-node-a' })).toBe(false);
});
