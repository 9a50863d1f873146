import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  applyStrategicMergePatch,
  isSameJson,
  NODE_MERGE_KEYS,
  POD_MERGE_KEYS,
  strategicMergePatch,
} from '../../../src/model/kube-api/strategic-merge-patch.js';

const patchOf = (original: object, modified: object) =>
  strategicMergePatch({ status: original }, { status: modified }, POD_MERGE_KEYS)?.['status'];

const [ready, scheduled] = [
  { type: 'Ready', status: 'True' },
  { type: 'PodScheduled', status: 'True' },
];

describe('a strategic merge patch', () => {
  it.each<[what: string, original: object, modified: object, patch: object | undefined]>([
    ['nothing', { phase: 'Running' }, { phase: 'Running' }, undefined],
    ['null and undefined, which are absent', { a: null, b: 1 }, { b: 1, c: undefined }, undefined],
    ['the order of fields', { a: 1, b: 2 }, { b: 2, a: 1 }, undefined],
    ['a changed value', { phase: 'Pending' }, { phase: 'Running' }, { phase: 'Running' }],
    ['a removed value', { phase: 'Pending', reason: 'x' }, { phase: 'Pending' }, { reason: null }],
    ['a nested value', { a: { b: 1, c: 2 } }, { a: { b: 1, c: 3 } }, { a: { c: 3 } }],
    [
      'a list without a merge key, whole',
      { containerStatuses: [{ name: 'a', ready: false }] },
      { containerStatuses: [{ name: 'a', ready: true, lastState: null }] },
      { containerStatuses: [{ name: 'a', ready: true }] },
    ],
    ['a list that was not there', {}, { conditions: [ready] }, { conditions: [ready] }],
    ['a list that is no more', { conditions: [ready] }, {}, { conditions: null }],
    [
      'one element of a merged list',
      { conditions: [ready, scheduled] },
      { conditions: [{ ...ready, status: 'False', reason: 'x' }, scheduled] },
      {
        '$setElementOrder/conditions': [{ type: 'Ready' }, { type: 'PodScheduled' }],
        conditions: [{ type: 'Ready', status: 'False', reason: 'x' }],
      },
    ],
    [
      'an element that is new and one that is no more',
      { podIPs: [{ ip: '10.0.0.1' }] },
      { podIPs: [{ ip: '10.0.0.2' }] },
      {
        '$setElementOrder/podIPs': [{ ip: '10.0.0.2' }],
        podIPs: [{ ip: '10.0.0.2' }, { ip: '10.0.0.1', $patch: 'delete' }],
      },
    ],
    [
      'an order alone',
      { conditions: [ready, scheduled] },
      { conditions: [scheduled, ready] },
      { '$setElementOrder/conditions': [{ type: 'PodScheduled' }, { type: 'Ready' }] },
    ],
    [
      'a field of an element that is no more',
      { conditions: [{ ...ready, reason: 'x', lastProbeTime: null }] },
      { conditions: [ready] },
      { '$setElementOrder/conditions': [{ type: 'Ready' }], conditions: [{ type: 'Ready', reason: null }] },
    ],
  ])('says %s', (_what, original, modified, patch) => {
    expect(patchOf(original, modified)).toEqual(patch);
  });

  it('replaces a list whole in which a key stands twice', () => {
    const [internal, second] = [
      { type: 'InternalIP', address: '10.0.0.1' },
      { type: 'InternalIP', address: 'fd00::1' },
    ];
    const [original, modified] = [{ status: { addresses: [internal] } }, { status: { addresses: [internal, second] } }];
    const patch = strategicMergePatch(original, modified, NODE_MERGE_KEYS) ?? {};
    expect(patch).toEqual({ status: { addresses: [internal, second, { $patch: 'replace' }] } });
    expect(applyStrategicMergePatch(original, patch, NODE_MERGE_KEYS)).toEqual(modified);
  });
});

describe('a strategic merge patch that is applied', () => {
  it('leaves alone what another client has written meanwhile', () => {
    const foreign = { type: 'example.com/gate', status: 'True' };
    const patch = patchOf(
      { conditions: [ready, scheduled] },
      { conditions: [{ ...ready, status: 'False' }, scheduled] },
    );
    const now = { status: { conditions: [ready, foreign, scheduled], nominatedNodeName: 'n' } };
    expect(applyStrategicMergePatch(now, { status: patch }, POD_MERGE_KEYS)).toEqual({
      status: { conditions: [{ ...ready, status: 'False' }, foreign, scheduled], nominatedNodeName: 'n' },
    });
  });

  it('keeps in its place what the order does not name', () => {
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((type) => ({ type }));
    const patch = { status: { '$setElementOrder/conditions': [d, b] } };
    const result = applyStrategicMergePatch({ status: { conditions: [a, b, c, d] } }, patch, POD_MERGE_KEYS);
    expect(result).toEqual({ status: { conditions: [a, c, d, b] } });
  });

  it('replaces or removes an object that says so', () => {
    expect(applyStrategicMergePatch({ a: { b: 1 } }, { a: { $patch: 'replace', c: 2 } }, {})).toEqual({ a: { c: 2 } });
    expect(applyStrategicMergePatch({ a: { b: 1 } }, { a: { $patch: 'delete' } }, {})).toEqual({ a: {} });
  });
});

const value = fc.oneof(fc.constantFrom('x', 'y', 0, true), fc.constant(null));
const fields = fc.dictionary(fc.constantFrom('reason', 'message', 'time'), value, { maxKeys: 3 });
const keyedBy = (key: string) =>
  fc
    .uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { maxLength: 5 })
    .chain((names) => fc.tuple(...names.map((name) => fields.map((rest) => ({ ...rest, [key]: name })))));
const status = fc.record(
  {
    phase: value,
    conditions: keyedBy('type'),
    podIPs: keyedBy('ip'),
    containerStatuses: fc.array(fc.record({ name: value, state: fields }), { maxLength: 3 }),
    nested: fc.oneof(fields, value, fc.record({ deeper: fields })),
  },
  { requiredKeys: [] },
);

describe('patches and their application', () => {
  it('agree', () => {
    fc.assert(
      fc.property(status, status, (before, after) => {
        const [original, modified] = [{ status: before }, { status: after }];
        const patch = strategicMergePatch(original, modified, POD_MERGE_KEYS);
        expect(patch === undefined).toBe(isSameJson(original, modified));
        const result = applyStrategicMergePatch(original, patch ?? {}, POD_MERGE_KEYS);
        expect(isSameJson(result, modified)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });
});
