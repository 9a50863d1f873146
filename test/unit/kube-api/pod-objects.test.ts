import { describe, expect, it } from 'vitest';
import type { ApiObject } from '../../../src/model/kube-api/api-object.js';
import {
  noPodObjects,
  notePodObjects,
  type ObjectsEvent,
  readKeptPods,
} from '../../../src/model/kube-api/pod-objects.js';
import { growth } from '../../support/map-steps.js';

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
  const state = noPodObjects();
  const said: string[] = [];
  for (const event of events)
    said.push(...notePodObjects(state, event).map(({ severity, message }) => `${severity}: ${message}`));
  return { state, said, names: [...state.pods.values()].map(({ metadata }) => metadata.name).join(' ') };
};
const list = (version: number, ...objects: readonly ApiObject[]): ObjectsEvent => ({
  kind: 'replaced',
  objects,
  resourceVersion: String(version),
});
const put = (object: ApiObject): ObjectsEvent => ({ kind: 'put', object });

describe('pods of the API server', () => {
  it.each<[what: string, make: (name: string, version: number) => ApiObject]>([
    ['that can be read', podOf],
    ['that cannot be read', bare],
  ])('%s cost as much with many others as with few', (_what, make) => {
    const follow = (count: number): void => {
      const state = noPodObjects();
      for (let index = 0; index < count; index++) notePodObjects(state, put(make(`p${index}`, index)));
    };
    expect(growth(follow, 100)).toBeLessThan(2.1);
  });

  it('may have annotations of 256 KiB', () => {
    const annotated = podOf('a', 1, { metadata: { ...podOf('a').metadata, annotations: { ab: 'x'.repeat(262_142) } } });
    expect(play(list(5, annotated)).names).toBe('a');
  });

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
      'error: pod default/a of the API server has no spec, so its earlier version stays',
      'error: pod default/a of the API server has no spec, so its earlier version stays',
      'info: pod default/a of the API server can be read again',
    ]);
  });

  it('that could not be read and are gone are forgotten', () => {
    const { state } = play(list(5, bare('a')), { kind: 'deleted', object: bare('a', 6) });
    expect([state.pods.size, state.refused.size]).toEqual([0, 0]);
    expect(play(list(5, bare('a')), list(6)).state.refused.size).toBe(0);
  });
});

it('takes of what was kept only what can be a pod, and says what is wrong with the rest', () => {
  const pod = podOf('a');
  const { pods, problems } = readKeptPods([pod, bare('b'), null, { metadata: null }]);
  expect(pods).toEqual([pod]);
  expect(problems.map(({ message }) => message)).toEqual([
    'last known pod default/b has no spec, so it is left out',
    'last known pod without a name has no metadata, so it is left out',
    'last known pod without a name has no metadata, so it is left out',
  ]);
});

describe('a pod that Kubernetes would not have', () => {
  const named = (meta: object): ApiObject => {
    const pod = podOf('a');
    return { ...pod, metadata: { ...pod.metadata, ...meta } };
  };
  const containing = (spec: object): ApiObject => podOf('a', 1, { spec: { containers: [{ name: 'main' }], ...spec } });

  it.each<[string, ApiObject, string]>([
    [
      'annotations of more than 256 KiB',
      named({ annotations: { first: 'x'.repeat(131_072), last: 'x'.repeat(131_072) } }),
      'has annotations of more than 262144 bytes',
    ],
    ['a null container', containing({ containers: [null] }), 'has no spec.containers[0].name'],
    [
      'init containers of text',
      containing({ initContainers: 'x' }),
      'spec.initContainers is a string, expected a list',
    ],
    ['conditions of another type', podOf('a', 1, { status: { conditions: {} } }), 'status.conditions is a mapping'],
    ['a name that leads out of a directory', named({ name: '../../etc' }), 'has the metadata.name "../../etc"'],
    ['a namespace of dots', named({ namespace: '..' }), 'has the metadata.namespace ".."'],
    ['a UID with a slash', named({ uid: '../../../root' }), 'has the metadata.uid "../../../root"'],
    ['a name with an escape', named({ name: 'a\u001b[2J' }), 'has the metadata.name "a\\u001b[2J"'],
    ['a namespace that is no text', named({ namespace: { toString: 1 } }), 'has no metadata.namespace'],
    ['a container of dots', containing({ containers: [{ name: '..' }] }), 'has the spec.containers[0].name ".."'],
    [
      'an ephemeral container of a path',
      containing({ ephemeralContainers: [{ name: 'a/../b' }] }),
      'has the spec.ephemeralContainers[0].name "a/../b"',
    ],
    [
      'two containers of a name',
      containing({ initContainers: [{ name: 'main' }] }),
      'has two containers of the name "main"',
    ],
    ['a volume of a path', containing({ volumes: [{ name: '../v' }] }), 'has the spec.volumes[0].name "../v"'],
    [
      'a profile from elsewhere',
      containing({ securityContext: { seccompProfile: { type: 'Localhost', localhostProfile: '../x.json' } } }),
      'has the seccomp profile "../x.json"',
    ],
  ])('for %s is refused, and no other', (_what, object, problem) => {
    const { state, said } = play(list(5, podOf('b'), object, podOf('c')));
    expect([...state.pods.values()].map(({ metadata }) => metadata.name)).toEqual(['b', 'c']);
    expect(said).toHaveLength(1);
    expect(said[0]).toContain(problem);
  });

  it('may name what there can be nothing of: it waits for that', () => {
    const env = [{ name: 'A', valueFrom: { configMapKeyRef: { name: '../x', key: 'k' } } }];
    expect(play(list(5, containing({ containers: [{ name: 'main', env }] }))).names).toBe('a');
  });

  it('is reported in an event where it can be named in one', () => {
    const eventOf = (object: ApiObject) => notePodObjects(noPodObjects(), list(5, object))[0]?.event;
    expect(eventOf(containing({ containers: 7 }))).toMatchObject({
      reason: 'FailedValidation',
      message:
        'pod default/a of the API server cannot be read: spec.containers is a number, expected a list, so it is left out',
      pod: { metadata: { namespace: 'default', name: 'a', uid: 'uid-a' } },
    });
    expect(eventOf(named({ name: '../a' }))).toBeUndefined();
  });

  it('keeps nothing of a former pod of its name', () => {
    const other = podOf('a', 6, {
      metadata: { namespace: 'default', name: 'a', uid: 'other' },
      spec: { containers: 1 },
    });
    expect(play(list(5, podOf('a')), put(other)).names).toBe('');
  });
});
