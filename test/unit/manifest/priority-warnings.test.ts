import { expect, it } from 'vitest';
import { formatManifestProblem } from '../../../src/model/manifest/manifest-problem.js';
import { readManifest } from '../../../src/model/manifest/parse-manifest.js';

const warningsOf = (spec: string): readonly string[] => {
  const { problems, warnings } = readManifest(
    `{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {${spec}, containers: [{name: c, image: i}]}}`,
    { file: 'p' },
  );
  expect(problems).toEqual([]);
  return warnings.map((warning) => formatManifestProblem(warning).replace(/^p:\d+:\d+: /, ''));
};

it.each([
  ['no priority', 'hostNetwork: true', []],
  ['a priority of a user', 'priority: 1000000000', []],
  ['a class with its priority', 'priorityClassName: batch, priority: 7', []],
  ['a class of the system with its priority', 'priorityClassName: system-node-critical, priority: 2000001000', []],
  ['the other one', 'priorityClassName: system-cluster-critical, priority: 2000000000', []],
  [
    'a class alone',
    'priorityClassName: nosuch',
    [
      'spec.priorityClassName: has no effect: no class gives a pod of a manifest a priority, so its priority is 0 (expected spec.priority beside it)',
    ],
  ],
  [
    'a class of the system alone',
    'priorityClassName: system-node-critical',
    [
      'spec.priorityClassName: does not match: no class gives a pod of a manifest a priority (expected spec.priority: 2000001000)',
    ],
  ],
  [
    'a class of the system with another priority',
    'priorityClassName: system-cluster-critical, priority: 2000001000',
    ['spec.priorityClassName: does not match: spec.priority is 2000001000 (expected spec.priority: 2000000000)'],
  ],
  [
    'a priority of the system without its class',
    'priority: 1000000001',
    [
      'spec.priority: is above 1000000000, which only the classes of the system are (expected system-cluster-critical or system-node-critical)',
    ],
  ],
])('warns of %s as far as it does not mean what it seems to', (_, spec, warnings) => {
  expect(warningsOf(spec)).toEqual(warnings);
});
