import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../src/model/pod/pod.js';
import { type SourceObject, sourceObjectKey } from '../../../src/model/references/source-object.js';
import {
  foldPodSet,
  NO_POD_CONFIG,
  type PodConfigState,
  type PodConfigUpdate,
} from '../../../src/model/config/pod-config.js';

const SEEN_AT = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
const SOURCE = 'kubernetes.io/config.source';
const SEEN = 'kubernetes.io/config.seen';
const MIRROR = 'kubernetes.io/config.mirror';
const HASH = 'kubernetes.io/config.hash';

const podOf = (uid: string, change: { metadata?: object; spec?: object; status?: object } = {}): Pod => ({
  metadata: { uid, name: `name-${uid}`, namespace: 'default', ...change.metadata },
  spec: { containers: [{ name: 'main', image: 'busybox' }], ...change.spec },
  ...(change.status && { status: change.status }),
});

const fold = (state: PodConfigState, pods: readonly Pod[], source = 'file') =>
  foldPodSet(state, { source, pods, seenAt: SEEN_AT });

/** What a second set says after a first one has been merged. */
const second = (before: readonly Pod[], after: readonly Pod[], source = 'file') =>
  fold(fold(NO_POD_CONFIG, before, source).state, after, source);

const outlineOf = (update: PodConfigUpdate): string => {
  switch (update.kind) {
    case 'problem':
      return `problem ${update.problem.severity}`;
    case 'objects':
      return ['objects', ...update.objects.map(sourceObjectKey)].join(' ');
    case 'pods':
      return [update.op, ...update.pods.map(({ metadata }) => metadata.uid)].join(' ');
  }
};

const outline = (updates: readonly PodConfigUpdate[]): readonly string[] => updates.map(outlineOf);

const deleted = { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 30 };
const ready = { status: { phase: 'Running' } };

describe('foldPodSet', () => {
  it.each<[what: string, before: Pod, after: Pod, expected: readonly string[]]>([
    ['nothing different', podOf('a'), podOf('a'), []],
    ['another image', podOf('a'), podOf('a', { spec: { containers: [{ name: 'main', image: 'b' }] } }), ['UPDATE a']],
    ['another label', podOf('a'), podOf('a', { metadata: { labels: { x: 'y' } } }), ['UPDATE a']],
    ['labels empty instead of absent', podOf('a'), podOf('a', { metadata: { labels: {} } }), ['UPDATE a']],
    ['a list empty instead of absent', podOf('a'), podOf('a', { spec: { volumes: [] } }), ['UPDATE a']],
    ['another annotation', podOf('a'), podOf('a', { metadata: { annotations: { x: 'y' } } }), ['UPDATE a']],
    ['an annotation less', podOf('a', { metadata: { annotations: { x: 'y' } } }), podOf('a'), ['UPDATE a']],
    ['another hash', podOf('a'), podOf('a', { metadata: { annotations: { [HASH]: 'h' } } }), ['UPDATE a']],
    ['annotations empty instead of absent', podOf('a'), podOf('a', { metadata: { annotations: {} } }), []],
    [
      'local annotations only',
      podOf('a'),
      podOf('a', { metadata: { annotations: { [SEEN]: 'x', [MIRROR]: 'm' } } }),
      [],
    ],
    ['another status', podOf('a'), podOf('a', ready), ['RECONCILE a']],
    ['a status less', podOf('a', ready), podOf('a'), ['RECONCILE a']],
    ['status and spec', podOf('a'), podOf('a', { ...ready, spec: { priority: 1 } }), ['UPDATE a']],
    ['a deletion', podOf('a'), podOf('a', { metadata: deleted }), ['DELETE a']],
    [
      'a shorter grace period of a deleted pod',
      podOf('a', { metadata: deleted }),
      podOf('a', { metadata: { ...deleted, deletionGracePeriodSeconds: 1 } }),
      ['DELETE a'],
    ],
    [
      'a label of a deleted pod',
      podOf('a', { metadata: deleted }),
      podOf('a', { metadata: { ...deleted, labels: { x: 'y' } } }),
      ['DELETE a'],
    ],
    [
      'the status of a deleted pod',
      podOf('a', { metadata: deleted }),
      podOf('a', { metadata: deleted, ...ready }),
      ['RECONCILE a'],
    ],
    ['only the owner', podOf('a'), podOf('a', { metadata: { ownerReferences: [], resourceVersion: '7' } }), []],
    ['another UID of the same name', podOf('a'), podOf('b', { metadata: { name: 'name-a' } }), ['REMOVE a', 'ADD b']],
  ])('says of a known pod with %s', (_what, before, after, expected) => {
    expect(outline(second([before], [after]).updates)).toEqual(expected);
  });

  it('does not look into a pod that is the same object as in the set before', () => {
    let looks = 0;
    const pod: Pod = {
      metadata: podOf('a').metadata,
      get spec() {
        looks++;
        return podOf('a').spec;
      },
    };
    const { state } = fold(NO_POD_CONFIG, [pod]);
    looks = 0;
    expect(fold(fold(state, [pod, podOf('b')]).state, [pod]).updates).toMatchObject([{ op: 'REMOVE' }]);
    expect(looks).toBe(0);
    fold(state, [{ ...pod }]);
    expect(looks).toBeGreaterThan(0);
  });

  it('says REMOVE, ADD, UPDATE, DELETE, RECONCILE in that order, one update each', () => {
    const before = ['gone', 'gone2', 'spec', 'del', 'status', 'same'].map((uid) => podOf(uid));
    const after = [
      podOf('status', ready),
      podOf('del', { metadata: deleted }),
      podOf('new1'),
      podOf('spec', { spec: { priority: 1 } }),
      podOf('same'),
      podOf('new2'),
    ];
    expect(outline(second(before, after).updates)).toEqual([
      'REMOVE gone gone2',
      'ADD new1 new2',
      'UPDATE spec',
      'DELETE del',
      'RECONCILE status',
    ]);
  });

  it('says of the first empty set of a source, and of no later one, an ADD without pods', () => {
    const first = fold(NO_POD_CONFIG, []);
    expect(first.updates).toEqual([{ kind: 'pods', op: 'ADD', source: 'file', pods: [] }]);
    expect(fold(first.state, []).updates).toEqual([]);
    expect(outline(fold(first.state, [], 'http').updates)).toEqual(['ADD']);
    expect(outline(fold(fold(first.state, [podOf('a')]).state, []).updates)).toEqual(['REMOVE a']);
  });

  it('marks what a source says until its first complete set, and of that one says an ADD at least', () => {
    const part = (state: PodConfigState, pods: readonly Pod[]) =>
      foldPodSet(state, { source: 'file', pods, isPartial: true, seenAt: SEEN_AT });
    const silent = { kind: 'pods', op: 'ADD', source: 'file', pods: [] };
    const nothing = part(NO_POD_CONFIG, []);
    expect(nothing.updates).toEqual([{ ...silent, isPartial: true }]);
    expect(part(nothing.state, []).updates).toEqual([]);
    const some = part(nothing.state, [podOf('a')]);
    expect(some.updates).toMatchObject([{ op: 'ADD', isPartial: true }]);
    const whole = fold(some.state, [podOf('a')]);
    expect(whole.updates).toEqual([silent]);
    // A source that has been received in full stays so.
    expect(part(whole.state, []).updates).toMatchObject([{ op: 'REMOVE' }]);
    expect(part(whole.state, []).updates[0]).not.toHaveProperty('isPartial');
  });

  it('adds a pod that is already being deleted when it is first seen', () => {
    expect(outline(fold(NO_POD_CONFIG, [podOf('a', { metadata: deleted })]).updates)).toEqual(['ADD a']);
  });

  it('keeps sources apart: the same UID of another source is another pod', () => {
    const { state } = fold(NO_POD_CONFIG, [podOf('a')]);
    expect(outline(fold(state, [podOf('a')], 'http').updates)).toEqual(['ADD a']);
    expect(outline(fold(fold(state, [podOf('a')], 'http').state, [], 'http').updates)).toEqual(['REMOVE a']);
  });

  it('stamps source and first sight, and keeps both through all later updates', () => {
    const first = fold(NO_POD_CONFIG, [podOf('a', { metadata: { annotations: { x: '1', [SOURCE]: 'forged' } } })]);
    const seen = '2026-01-02T03:04:05.678000000Z';
    expect(first.updates).toMatchObject([
      { pods: [{ metadata: { annotations: { x: '1', [SOURCE]: 'file', [SEEN]: seen } } }] },
    ]);
    const later = foldPodSet(first.state, {
      source: 'file',
      pods: [podOf('a', { metadata: { annotations: { y: '2', [SEEN]: 'never', [MIRROR]: 'm' } } })],
      seenAt: SEEN_AT + 1000,
    });
    const annotations = { y: '2', [SOURCE]: 'file', [SEEN]: seen, [MIRROR]: 'm' };
    expect(later.updates).toMatchObject([{ op: 'UPDATE', pods: [{ metadata: { annotations } }] }]);
  });

  it('takes of an update what may change and nothing else', () => {
    const owners = [{ apiVersion: 'v1', kind: 'X', name: 'x', uid: 'x' }];
    const before = podOf('a', { metadata: { ownerReferences: owners, resourceVersion: '1', labels: { gone: '' } } });
    const after = podOf('a', {
      metadata: { resourceVersion: '2', generation: 5, finalizers: ['f'] },
      spec: { priority: 3 },
      ...ready,
    });
    const [update] = second([before], [after]).updates;
    const { metadata, spec, status } = update?.kind === 'pods' ? update.pods[0]! : podOf('none');
    expect(metadata).toMatchObject({ ownerReferences: owners, resourceVersion: '2', generation: 5 });
    expect(metadata).not.toHaveProperty('finalizers');
    expect(metadata).not.toHaveProperty('labels');
    expect(spec.priority).toBe(3);
    expect(status).toEqual(ready.status);
  });

  it('drops the second pod of a name with a problem, and removes it if it was known before', () => {
    const twin = podOf('b', { metadata: { name: 'name-a' } });
    const { updates } = second([podOf('b', { metadata: { name: 'name-b' } })], [podOf('a'), twin]);
    expect(outline(updates)).toEqual(['problem error', 'REMOVE b', 'ADD a']);
    const message = 'Error validating pod name-a_default(b) from file due to duplicate pod name "name-a", ignoring';
    expect(updates[0]).toMatchObject({
      source: 'file',
      problem: { event: { pod: twin, reason: 'FailedValidation', message } },
    });
  });

  it('drops the second pod of a UID as well', () => {
    const { updates } = fold(NO_POD_CONFIG, [podOf('a'), podOf('a', { metadata: { name: 'other' } })]);
    expect(outline(updates)).toEqual(['problem error', 'ADD a']);
  });

  it('gives a mirror of the newest sets to a reader that applies the updates', () => {
    const uids = fc.constantFrom('a', 'b', 'c', 'd');
    const pods = fc.uniqueArray(
      fc.record({
        uid: uids,
        name: fc.constantFrom('n', 'm', 'o'),
        priority: fc.nat(2),
        phase: fc.nat(2),
        gone: fc.boolean(),
      }),
      { selector: ({ uid }) => uid },
    );
    const sets = fc.array(fc.record({ source: fc.constantFrom('file', 'http', 'mine'), pods }), { maxLength: 12 });
    const toPod = ({
      uid,
      name,
      priority,
      phase,
      gone,
    }: {
      uid: string;
      name: string;
      priority: number;
      phase: number;
      gone: boolean;
    }) =>
      podOf(uid, {
        metadata: { name, ...(gone && deleted) },
        spec: { priority },
        status: { phase: `${phase}` },
      });
    fc.assert(
      fc.property(sets, (given) => {
        let state = NO_POD_CONFIG;
        const mirror = new Map<string, Map<string, Pod>>();
        for (const set of given) {
          const wanted = set.pods.map(toPod);
          const folded = foldPodSet(state, { source: set.source, pods: wanted, seenAt: SEEN_AT });
          state = folded.state;
          for (const update of folded.updates) {
            if (update.kind !== 'pods') continue;
            const own = mirror.get(update.source) ?? new Map<string, Pod>();
            mirror.set(update.source, own);
            for (const pod of update.pods) {
              const { uid } = pod.metadata;
              expect(own.has(uid)).toBe(update.op !== 'ADD');
              if (update.op === 'REMOVE') own.delete(uid);
              else own.set(uid, pod);
            }
          }
          // The naive model: the first pod of each name, as the set has it.
          const expected = wanted.filter(
            (pod, index) => wanted.findIndex(({ metadata }) => metadata.name === pod.metadata.name) === index,
          );
          const byUid = (one: Pod, other: Pod) => (one.metadata.uid < other.metadata.uid ? -1 : 1);
          const said = [...(mirror.get(set.source)?.values() ?? [])].sort(byUid);
          expect(said.map(({ metadata: { uid }, spec, status }) => ({ uid, spec, status }))).toEqual(
            expected.sort(byUid).map(({ metadata: { uid }, spec, status }) => ({ uid, spec, status })),
          );
          expect(said.map(({ metadata }) => metadata.deletionTimestamp)).toEqual(
            expected.map(({ metadata }) => metadata.deletionTimestamp),
          );
          expect(mirror.has(set.source)).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('foldPodSet with objects', () => {
  const object = (kind: 'ConfigMap' | 'Secret', name: string, value = 'v', namespace = 'default'): SourceObject => ({
    ...{ apiVersion: 'v1', kind, metadata: { name, namespace, uid: name }, data: { k: value } },
  });
  const user = (uid: string, kind: 'configMapRef' | 'secretRef', name: string): Pod =>
    podOf(uid, { spec: { containers: [{ name: 'main', envFrom: [{ [kind]: { name } }] }] } });
  const play = (...sets: readonly (readonly [pods: readonly Pod[], objects: readonly SourceObject[]])[]) => {
    let state = NO_POD_CONFIG;
    return sets.map(([pods, objects]) => {
      const folded = foldPodSet(state, { source: 'file', pods, objects, seenAt: SEEN_AT });
      state = folded.state;
      return outline(folded.updates);
    });
  };
  const [a, b, plain] = [user('a', 'configMapRef', 'c'), user('b', 'secretRef', 'c'), podOf('plain')];
  const [c, s] = [object('ConfigMap', 'c'), object('Secret', 'c')];

  it('delivers the objects of a set before its pods', () => {
    expect(play([[a], [c]], [[], []])).toEqual([
      ['objects ConfigMap default/c', 'ADD a'],
      ['objects', 'REMOVE a'],
    ]);
  });

  it.each<[what: string, before: readonly SourceObject[], after: readonly SourceObject[], said: readonly string[]]>([
    ['the same objects say nothing', [c, s], [object('ConfigMap', 'c'), s], []],
    ['objects in another order say nothing', [c, s], [s, c], []],
    [
      'a changed object wakes its pods',
      [c, s],
      [object('ConfigMap', 'c', 'w'), s],
      ['objects ConfigMap default/c Secret default/c', 'REFRESH a'],
    ],
    [
      'a new object wakes the pods that wait for it',
      [c],
      [c, s],
      ['objects ConfigMap default/c Secret default/c', 'REFRESH b'],
    ],
    ['a removed object wakes its pods', [c, s], [s], ['objects Secret default/c', 'REFRESH a']],
    [
      'an object of another namespace wakes no pod',
      [c],
      [c, object('ConfigMap', 'c', 'v', 'other')],
      ['objects ConfigMap default/c ConfigMap other/c'],
    ],
    ['an object without a pod wakes no pod', [], [object('Secret', 'd')], ['objects Secret default/d']],
    ['the second object of a name is a problem', [c], [c, object('ConfigMap', 'c', 'w')], ['problem error']],
  ])('%s', (_what, before, after, said) => {
    const pods = [a, b, plain];
    expect(play([pods, before], [pods, after])[1]).toEqual(said);
  });

  it('does not wake a pod that has changed itself, and wakes one with another status', () => {
    const edited = podOf('a', { spec: { ...a.spec, priority: 1 } });
    const [, said] = play(
      [
        [a, b],
        [c, s],
      ],
      [
        [edited, { ...b, ...ready }],
        [object('ConfigMap', 'c', 'w'), object('Secret', 'c', 'w')],
      ],
    );
    expect(said).toEqual(['objects ConfigMap default/c Secret default/c', 'UPDATE a', 'RECONCILE b', 'REFRESH b']);
  });
});
