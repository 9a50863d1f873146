import { expect, it } from 'vitest';
import type { Pod } from '../../../src/model/pod/pod.js';
import type { PodConfigUpdate, PodOperation } from '../../../src/model/config/pod-config.js';
import { slicePodUpdates } from '../../../src/model/config/slice-pod-updates.js';

/** Made in the order of their names. */
const podOf = (name: string): Pod => ({
  metadata: {
    uid: name,
    name,
    namespace: 'default',
    creationTimestamp: `2026-01-01T00:00:0${name.charCodeAt(0) - 97}Z`,
  },
  spec: { containers: [] },
});
const update = (op: PodOperation, names: string, isPartial?: true): PodConfigUpdate => ({
  ...{ kind: 'pods', op, source: 'api', pods: [...names].map(podOf) },
  ...(isPartial && { isPartial }),
});
const problem: PodConfigUpdate = { kind: 'problem', source: 'api', problem: { severity: 'error', message: 'hm' } };

/** `ADD ab` for a part, `ADD ab.` for one after which the source counts as received. */
const brief = (updates: readonly PodConfigUpdate[]): readonly string[] =>
  updates.map((one) =>
    one.kind !== 'pods'
      ? one.kind === 'problem'
        ? one.problem.message
        : 'objects'
      : `${one.op} ${one.pods.map(({ metadata }) => metadata.name).join('')}${one.isPartial ? '' : '.'}`,
  );

it.each<[what: string, updates: readonly PodConfigUpdate[], expected: readonly string[]]>([
  ['nothing', [], []],
  ['none', [update('ADD', '')], ['ADD .']],
  ['few', [update('REMOVE', 'ab'), update('ADD', 'cd')], ['REMOVE ab.', 'ADD cd.']],
  ['many', [update('UPDATE', 'dcbae')], ['UPDATE dc', 'UPDATE ba', 'UPDATE e.']],
  ['many new ones, the first that were made first', [update('ADD', 'dcba')], ['ADD ab', 'ADD cd.']],
  ['few before many', [problem, update('REMOVE', 'a'), update('ADD', 'bcd')], ['hm', 'REMOVE a', 'ADD bc', 'ADD d.']],
  ['many before few', [update('REMOVE', 'abc'), update('UPDATE', 'd')], ['REMOVE ab', 'REMOVE c', 'UPDATE d.']],
  ['a part of a set', [update('ADD', 'abc', true)], ['ADD ab', 'ADD c']],
])('cuts %s into parts, of which the last one says that the source has been received', (_what, updates, expected) => {
  expect(brief(slicePodUpdates(updates, 2))).toEqual(expected);
});

it('leaves a set of few as it is', () => {
  const updates = [update('ADD', 'ab')];
  expect(slicePodUpdates(updates, 2)).toBe(updates);
});
