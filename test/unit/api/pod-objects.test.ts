import { describe, expect, it } from 'vitest';
import type { ApiObject } from '../../../src/model/api/api-object.js';
import { foldPodObjects, NO_POD_OBJECTS, type ObjectsEvent, readablePods } from '../../../src/model/api/pod-objects.js';

const podOf = (name: string, version = 1, change: object = {}): ApiObject =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'default', name, uid: `uid-${name}`, resourceVersion: String(version) },
    spec: { containers: [], aFieldOfTomorrow: 1 },
    ...change,
  }) as ApiObject;
const bare = (name: string, version = 1): ApiObject => podOf(name, version, { spec: undefined });
const without = (field: string): ApiObject => {
  const pod = podOf('a');
  return { ...pod, metadata: { ...pod.metadata, [field]: undefined } };
};

const play = (...events: readonly ObjectsEvent[]) => {
  let state = NO_POD_OBJECTS;
  const said: string[] = [];
  for (const event of events) {
    const folded = foldPodObjects(state, event);
    state = folded.state;
    said.push(...folded.problems.map(({ severity, message }) => `${severity}: ${message}`));
  }
  return { state, said, names: [...state.pods.values()].map(({ metadata }) => metadata.name).join(' ') };
};
const list = (version: number, ...objects: readonly ApiObject[]): ObjectsEvent => ({
  kind: 'replaced',
  objects,
  resourceVersion: String(version),
});
const put = (object: ApiObject): ObjectsEvent => ({ kind: 'put', object });

describe('pods of the API server', () => {
  it('are kept whole, the very objects that came', () => {
    const pod = podOf('a');
    expect([...play(list(5, pod)).state.pods.values()][0]).toBe(pod);
  });

  it('follow lists and changes, with the version up to which they are known', () => {
    const { state, names, said } = play(list(5, podOf('a'), podOf('b')), put(podOf('c', 6)), {
      kind: 'deleted',
      object: podOf('a', 7),
    });
    expect([names, state.resourceVersion, said]).toEqual(['b c', '7', []]);
    expect(play(list(5, podOf('a')), list(9, podOf('b'))).names).toBe('b');
  });

  it('of one name are the newest one', () => {
    const again = podOf('a', 6, { metadata: { namespace: 'default', name: 'a', uid: 'other', resourceVersion: '6' } });
    expect([...play(list(5, podOf('a')), put(again)).state.pods.values()].map(({ metadata }) => metadata.uid)).toEqual([
      'other',
    ]);
  });

  it.each([
    ['name', without('name'), 'pod default/ of the API server has no metadata.name, so it is left out'],
    ['namespace', without('namespace'), 'pod a of the API server has no metadata.namespace, so it is left out'],
    ['uid', without('uid'), 'pod default/a of the API server has no metadata.uid, so it is left out'],
    ['spec', bare('a'), 'pod default/a of the API server has no spec, so it is left out'],
    [
      'containers',
      podOf('a', 1, { spec: {} }),
      'pod default/a of the API server has no spec.containers, so it is left out',
    ],
  ])('without %s are a problem', (_what, object, message) => {
    const { names, said } = play(list(5, podOf('b'), object));
    expect([names, said]).toEqual(['b', [`error: ${message}`]]);
  });

  it('that cannot be read stay as they were, are said once per version, and are taken back', () => {
    const { names, said } = play(
      list(5, podOf('a')),
      put(bare('a', 6)),
      list(8, bare('a', 6)),
      put(bare('a', 9)),
      put(podOf('a', 10)),
      put(podOf('a', 11)),
    );
    expect(names).toBe('a');
    expect(said).toEqual([
      'error: pod default/a of the API server has no spec, so it is kept as it was',
      'error: pod default/a of the API server has no spec, so it is kept as it was',
      'info: pod default/a of the API server can be read again',
    ]);
  });

  it('that could not be read and are gone are forgotten', () => {
    const { state } = play(list(5, bare('a')), { kind: 'deleted', object: bare('a', 6) });
    expect([state.pods.size, state.refused.size]).toEqual([0, 0]);
    expect(play(list(5, bare('a')), list(6)).state.refused.size).toBe(0);
  });
});

it('takes of what was kept only what can be a pod', () => {
  const pod = podOf('a');
  expect(readablePods([pod, bare('b'), null, 7, {}, { metadata: null }])).toEqual([pod]);
});
