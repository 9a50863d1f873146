import { describe, expect, it } from 'vitest';
import { CONFIG_MIRROR_ANNOTATION, podFullName } from '../../../src/model/pod/pod.js';
import { PodManager } from '../../../src/model/pod/pod-manager.js';
import { aPod } from '../../support/a-pod.js';

const fixed = aPod({ uid: 'static' });
const mirror = aPod({ uid: 'mirror', source: 'api', annotations: { [CONFIG_MIRROR_ANNOTATION]: 'hash' } });

describe('the pods that are wanted', () => {
  it('are found by UID until they are removed; the newest configuration counts', () => {
    const pods = new PodManager();
    pods.set(fixed);
    const newer = aPod({ uid: 'static', labels: { v: '2' } });
    pods.set(newer);
    expect(pods.get('static')).toBe(newer);
    expect(pods.pods()).toEqual([newer]);
    pods.remove(newer);
    expect(pods.get('static')).toBeUndefined();
    expect(pods.pods()).toEqual([]);
  });

  it('never include mirrors', () => {
    const pods = new PodManager();
    pods.set(fixed);
    pods.set(mirror);
    expect(pods.pods()).toEqual([fixed]);
    expect(pods.get('mirror')).toBeUndefined();
    expect(pods.mirrors()).toEqual([mirror]);
    pods.remove(mirror);
    expect(pods.mirrors()).toEqual([]);
    expect(pods.pods()).toEqual([fixed]);
  });

  it.each([
    { first: fixed, second: mirror },
    { first: mirror, second: fixed },
  ])('find their mirror, and it finds them, whichever comes first', ({ first, second }) => {
    const pods = new PodManager();
    pods.set(first);
    pods.set(second);
    expect(pods.resolve(fixed)).toEqual({ pod: fixed, mirrorPod: mirror, isMirror: false });
    expect(pods.resolve(mirror)).toEqual({ pod: fixed, mirrorPod: mirror, isMirror: true });
  });

  it('are found by their full name, the first known first, until they go', () => {
    const pods = new PodManager();
    const [other, newer] = [aPod({ uid: 'other', name: 'other' }), aPod({ uid: 'newer' })];
    for (const pod of [fixed, other, mirror, newer]) pods.set(pod);
    const changed = aPod({ uid: 'static', labels: { v: '2' } });
    pods.set(changed);
    const name = podFullName(fixed);
    expect(pods.podsNamed(name)).toEqual([changed, newer]);
    expect(pods.mirrorsNamed(name)).toEqual([mirror]);
    pods.remove(fixed);
    pods.remove(mirror);
    expect(pods.podsNamed(name)).toEqual([newer]);
    expect(pods.mirrorsNamed(name)).toEqual([]);
    pods.set(aPod({ uid: 'newer', name: 'renamed' }));
    expect(pods.podsNamed(name)).toEqual([]);
    expect(pods.podsNamed(podFullName(other))).toEqual([other]);
  });

  it('leave a mirror alone when they go', () => {
    const pods = new PodManager();
    pods.set(fixed);
    pods.set(mirror);
    pods.remove(fixed);
    expect(pods.resolve(mirror)).toEqual({ pod: undefined, mirrorPod: mirror, isMirror: true });
  });

  it('keep their name when an older revision of the same name goes after them', () => {
    const pods = new PodManager();
    const newer = aPod({ uid: 'newer' });
    pods.set(fixed);
    pods.set(newer);
    pods.remove(fixed);
    expect(pods.resolve(mirror).pod).toBe(newer);
  });
});
