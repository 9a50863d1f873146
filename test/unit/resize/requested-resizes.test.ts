import { expect, it } from 'vitest';
import type { Amounts } from '../../../src/model/pod/allocated-resources.js';
import { requestedResizes } from '../../../src/model/resize/requested-resizes.js';
import { aContainer, aPod } from '../pods.js';

const of = (resources: Amounts, init: Amounts = {}) =>
  aPod({
    initContainers: [aContainer('init', { resources: init })],
    containers: [aContainer('web', { resources }), aContainer('plain')],
  });
const words = (before: Parameters<typeof of>, asked: Parameters<typeof of>): readonly string[] =>
  requestedResizes(of(...before), of(...asked)).map(
    ({ resource, requirement, operation }) => `${operation} ${resource} ${requirement}`,
  );

it.each<[row: string, before: Parameters<typeof of>, asked: Parameters<typeof of>, requested: readonly string[]]>([
  [
    'more and less',
    [{ requests: { cpu: '1', memory: '2Mi' } }],
    [{ requests: { cpu: '2', memory: '1Mi' } }],
    ['decrease memory requests', 'increase cpu requests'],
  ],
  ['a first limit', [{}], [{ limits: { memory: '1Mi' } }], ['add memory limits']],
  ['no limit any more', [{ limits: { cpu: '1' } }], [{}], ['remove cpu limits']],
  ['an init container', [{}, { requests: { cpu: '1' } }], [{}, { requests: { cpu: '2' } }], ['increase cpu requests']],
  ['the same in other words', [{ requests: { cpu: '1' } }], [{ requests: { cpu: '1000m' } }], []],
  ['another resource', [{ requests: { 'a.b/c': '1' } }], [{ requests: { 'a.b/c': '2' } }], []],
])('a version of a pod asks for %s', (_, before, asked, requested) => {
  expect(words(before, asked)).toEqual(requested);
});
