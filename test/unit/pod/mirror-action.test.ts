import { describe, expect, it } from 'vitest';
import {
  isAttemptDue,
  mirrorAction,
  mirrorCreated,
  mirrorNames,
  mirrorRemoved,
  type MirrorState,
  NO_ATTEMPT,
  presentMirror,
} from '../../../src/model/pod/mirror-action.js';
import { isMirrorOf, mirrorOf } from '../../../src/model/pod/mirror-pod.js';
import {
  CONFIG_HASH_ANNOTATION,
  CONFIG_MIRROR_ANNOTATION,
  CONFIG_SOURCE_ANNOTATION,
} from '../../../src/model/pod/pod.js';
import { aPod } from '../../support/a-pod.js';

const pod = aPod({ annotations: { [CONFIG_HASH_ANNOTATION]: 'h1', 'example.com/x': 'y' }, labels: { app: 'web' } });
const mirrorWith = (hash: string, more: object = {}) =>
  aPod({ uid: 'mirror', source: 'api', annotations: { [CONFIG_MIRROR_ANNOTATION]: hash }, ...more });
const mirror = mirrorWith('h1');
const stale = mirrorWith('h0');
const deleted = mirrorWith('h1', { deletionTimestamp: '2026-01-01T00:00:00Z' });
const well = { isOfFormerLife: false, isTerminating: false, areSourcesReady: true, isNodeKnown: true };

describe('the mirror of a full name', () => {
  it.each<[what: string, state: Partial<MirrorState>, action: string]>([
    ['missing', { pod }, 'create'],
    ['missing, and the node not there', { pod, isNodeKnown: false }, 'none'],
    ['missing while the pod goes', { pod, isTerminating: true }, 'none'],
    ['there', { pod, mirror }, 'none'],
    ['of another content', { pod, mirror: stale }, 'replace'],
    ['of another content, and the node not there', { pod, mirror: stale, isNodeKnown: false }, 'remove'],
    ['of another content while the former pod goes', { pod, mirror: stale, isTerminating: true }, 'none'],
    ['to be deleted', { pod, mirror: deleted }, 'replace'],
    ['of a former life', { pod, mirror, isOfFormerLife: true }, 'replace'],
    ['of a former life while that ends', { pod, mirror, isOfFormerLife: true, isTerminating: true }, 'none'],
    ['of no pod', { mirror }, 'remove'],
    ['of no pod, with a source that has sent no set', { mirror, areSourcesReady: false }, 'none'],
    ['of a pod that goes', { mirror, isTerminating: true }, 'none'],
    ['not there, and not wanted', {}, 'none'],
  ])('that is %s', (_what, state, action) => {
    expect(mirrorAction({ ...well, ...state })).toBe(action);
  });

  it('is the pod with its hash, on its node and owned by it', () => {
    const made = mirrorOf(pod, { name: 'node-1', uid: 'node-uid' });
    expect(made).toEqual({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'web',
        namespace: 'default',
        labels: { app: 'web' },
        annotations: {
          [CONFIG_SOURCE_ANNOTATION]: 'file',
          [CONFIG_HASH_ANNOTATION]: 'h1',
          [CONFIG_MIRROR_ANNOTATION]: 'h1',
          'example.com/x': 'y',
        },
        ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'node-uid', controller: true }],
      },
      spec: { ...pod.spec, nodeName: 'node-1' },
    });
  });

  it.each<[what: string, other: typeof pod]>([
    ['name', mirrorWith('h1', { name: 'other' })],
    ['namespace', mirrorWith('h1', { namespace: 'other' })],
    ['hash', stale],
  ])('is of the pod only with the same %s', (_what, other) => {
    expect(isMirrorOf(mirror, pod)).toBe(true);
    expect(isMirrorOf(other, pod)).toBe(false);
  });
});

it('mirror pods are reconciled under the names of static pods and of mirror pods, each once', () => {
  const desired = [
    pod,
    aPod({ uid: 'a', name: 'api', source: 'api' }),
    aPod({ uid: 'd', name: 'dns', namespace: 'ns' }),
  ];
  expect(mirrorNames(desired, [mirror, mirrorWith('h', { name: 'left' })])).toEqual(
    new Set(['web_default', 'dns_ns', 'left_default']),
  );
  expect(mirrorNames([], [])).toEqual(new Set());
});

describe('the attempts to reconcile a mirror pod', () => {
  it('the first attempt is due at once, a later one from its time on', () => {
    expect(isAttemptDue(NO_ATTEMPT, 0)).toBe(true);
    const created = mirrorCreated(NO_ATTEMPT, 10);
    expect([9, 10, 11].map((now) => isAttemptDue(created, now))).toEqual([false, true, true]);
  });

  it('a removed mirror pod is none while the watch still shows it, and a newer one is', () => {
    expect(presentMirror(mirror, NO_ATTEMPT)).toBe(mirror);
    const removed = mirrorRemoved(NO_ATTEMPT, 'mirror');
    expect(presentMirror(mirror, removed)).toBeUndefined();
    expect(presentMirror(undefined, removed)).toBeUndefined();
    const newer = mirrorWith('h1', { uid: 'newer' });
    expect(presentMirror(newer, removed)).toBe(newer);
  });

  it('a removal keeps the failures and the time, a creation keeps only the removal', () => {
    const failed = { failures: 2, notBefore: 5 };
    expect(mirrorRemoved(failed, 'mirror')).toEqual({ failures: 2, notBefore: 5, removedUid: 'mirror' });
    expect(mirrorCreated({ ...failed, removedUid: 'mirror' }, 9)).toEqual({ removedUid: 'mirror', notBefore: 9 });
    expect(mirrorCreated(failed, 9)).toEqual({ notBefore: 9 });
  });
});
