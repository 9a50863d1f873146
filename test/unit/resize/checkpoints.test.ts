import { Map as ImmutableMap } from 'immutable';
import { describe, expect, it } from 'vitest';
import {
  checksumOf,
  formatActuated,
  formatAllocated,
  parseActuated,
  parseAllocated,
} from '../../../src/model/resize/checkpoints.js';
import type { Allocation, KeptAmounts } from '../../../src/model/resize/pod-resizes.js';

/** The content and the sum of upstream's own test. */
const KNOWN = '{"entries":{"pod1":{"ContainerResources":{"container1":{"requests":{"cpu":"1Ki","memory":"1Ki"}}}}}}';
const file = (data: string, checksum = checksumOf(data)): string => JSON.stringify({ data, checksum });

const kept: KeptAmounts = {
  allocated: ImmutableMap<string, Allocation>([
    ['uid-1', { containers: { web: { requests: { cpu: '1' }, limits: { cpu: '2' } }, plain: {} }, generation: 3 }],
    ['uid-2', { containers: {}, pod: { limits: { memory: '1Gi' } } }],
  ]),
  actuated: ImmutableMap([
    [
      'uid-1',
      {
        containers: ImmutableMap([['web', { requests: { cpu: '1' }, containerId: 'c1' }]]),
        pod: { limits: { cpu: '2' } },
      },
    ],
  ]),
};

describe('a checkpoint of resizes', () => {
  it('has the checksum of a kubelet', () => {
    expect(checksumOf(KNOWN)).toBe(1178570812);
    expect(parseAllocated(file(KNOWN)).toJS()).toEqual({
      pod1: { containers: { container1: { requests: { cpu: '1Ki', memory: '1Ki' } } } },
    });
  });

  it('has the form of a kubelet', () => {
    const { data } = JSON.parse(formatAllocated(kept)) as { data: string };
    expect(JSON.parse(data)).toEqual({
      entries: {
        'uid-1': {
          ContainerResources: { web: { requests: { cpu: '1' }, limits: { cpu: '2' } }, plain: {} },
          PodLevelResources: null,
        },
        'uid-2': { ContainerResources: {}, PodLevelResources: { limits: { memory: '1Gi' } } },
      },
    });
  });

  it('gives a later agent the amounts back, without the version that asked for them', () => {
    const known = kept.allocated.map(({ containers, pod }) => ({ containers, ...(pod && { pod }) }));
    expect(parseAllocated(formatAllocated(kept)).toJS()).toEqual(known.toJS());
    expect(parseActuated(formatActuated(kept)).toJS()).toEqual(kept.actuated.toJS());
  });

  it('of a kubelet has instances without an id', () => {
    expect(parseActuated(file(KNOWN)).get('pod1')?.containers.get('container1')).toEqual({
      requests: { cpu: '1Ki', memory: '1Ki' },
    });
  });

  it.each<[row: string, content: string, error: RegExp]>([
    ['no JSON', 'none', /JSON/],
    ['a list', '[]', /^the file: expected an object$/],
    ['no data', '{"checksum":1}', /^data: expected a text with JSON$/],
    ['another content than that of its checksum', file(KNOWN, 1), /^checkpoint is corrupted/],
    ['data that is no JSON', file('none'), /JSON/],
    ['entries that are a list', file('{"entries":[]}'), /^entries: expected an object$/],
    [
      'an amount that is no quantity',
      file('{"entries":{"u":{"ContainerResources":{"c":{"limits":{"cpu":"much"}}}}}}'),
      /^entries\.u\.ContainerResources\.c\.limits\.cpu: "much" is no quantity \(expected a text such as 100m or 64Mi\)$/,
    ],
    [
      'an amount that is a number',
      file('{"entries":{"u":{"ContainerResources":{},"PodLevelResources":{"requests":{"cpu":1}}}}}'),
      /^entries\.u\.PodLevelResources\.requests\.cpu: 1 is no quantity/,
    ],
  ])('with %s is refused', (_, content, error) => {
    expect(() => parseAllocated(content)).toThrow(error);
  });
});
