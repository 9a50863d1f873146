import { describe, expect, it } from 'vitest';
import type { ReadCgroup } from '../../../src/model/stats/readings.js';
import { writableLayersOf } from '../../../src/model/stats/runtime-figures.js';
import {
  needsRuntimeFigures,
  type SampleKind,
  sampledPods,
  wantedCgroups,
} from '../../../src/model/stats/sampled-pods.js';
import { POD_A } from '../../support/stats-parts.js';

const pods = sampledPods(POD_A.pods, POD_A.sandboxes, POD_A.containers);
const { pod, sandbox, containers } = pods[0]!;
const containerId = containers[0]!.id;

describe('the cgroups to read for a sample', () => {
  it.each<{ kind: SampleKind; hasProcesses: boolean; hasCreation: boolean }>([
    { kind: 'resources', hasProcesses: false, hasCreation: true },
    { kind: 'summary', hasProcesses: true, hasCreation: true },
    { kind: 'cgroups', hasProcesses: true, hasCreation: false },
  ])('a sample of the kind $kind reads processes: $hasProcesses, times of creation: $hasCreation', (row) => {
    const { kind, hasProcesses, hasCreation } = row;
    expect(wantedCgroups(pods, kind, ['/agent'])).toEqual([
      { key: '/' },
      { key: '/agent', hasCreation },
      { key: `pod${pod.metadata.uid}` },
      { key: sandbox.id, hasProcesses },
      { key: containerId, hasProcesses },
    ]);
  });

  it.each([
    { case: 'the root is read once', system: ['/'], keys: [] },
    { case: 'an unknown part of the system is left out', system: [undefined, '/runtime'], keys: ['/runtime'] },
    {
      case: 'a cgroup of two parts is read once',
      system: ['/agent', '/runtime', '/agent'],
      keys: ['/agent', '/runtime'],
    },
  ])('$case', ({ system, keys }) => {
    expect(wantedCgroups([], 'summary', system).map(({ key }) => key)).toEqual(['/', ...keys]);
  });
});

describe('the statistics of the runtime', () => {
  const read = (...keys: readonly string[]) => ({ cgroups: new Map(keys.map((key) => [key, {} as ReadCgroup])) });

  it.each<{ case: string; kind: SampleKind; reading: ReturnType<typeof read>; needed: boolean }>([
    { case: 'are needed for a summary', kind: 'summary', reading: read(containerId), needed: true },
    {
      case: 'are not needed while each container has a cgroup',
      kind: 'resources',
      reading: read(containerId),
      needed: false,
    },
    { case: 'are needed for a container without a cgroup', kind: 'resources', reading: read(sandbox.id), needed: true },
    { case: 'are needed for it in a sample of cgroups too', kind: 'cgroups', reading: read(), needed: true },
  ])('the statistics of the runtime $case', ({ kind, reading, needed }) => {
    expect(needsRuntimeFigures(pods, kind, reading)).toBe(needed);
  });

  it('the statistics of the runtime are not needed for a node without pods', () =>
    expect(needsRuntimeFigures([], 'cgroups', read())).toBe(false));

  it('the statistics of the runtime name the writable layers of the containers that have one', () => {
    const layer = { timestamp: 1n, fsId: { mountpoint: '/a' }, usedBytes: undefined, inodesUsed: undefined };
    const figures = new Map([
      ['a', { usage: undefined, writableLayer: layer }],
      ['b', { usage: undefined, writableLayer: undefined }],
    ]);
    expect(writableLayersOf({ containers: figures, sandboxes: new Map() })).toEqual([layer]);
  });
});
