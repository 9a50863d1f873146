import { describe, expect, it } from 'vitest';
import { CONFIG_MIRROR_ANNOTATION, type Pod, podFullName } from '../../../src/model/pod/pod.js';
import { NO_PODS, wantedPodsView, withoutPod, withPod } from '../../../src/model/pod/wanted-pods.js';
import { aPod } from '../../support/a-pod.js';

const fixed = aPod({ uid: 'static' });
const mirror = aPod({ uid: 'mirror', source: 'api', annotations: { [CONFIG_MIRROR_ANNOTATION]: 'hash' } });

/** Wanted pods that change, and a view that follows them. */
const wantedPods = () => {
  let wanted = NO_PODS;
  return {
    ...wantedPodsView(() => wanted),
    set: (pod: Pod) => void (wanted = withPod(wanted, pod)),
    remove: (pod: Pod) => void (wanted = withoutPod(wanted, pod)),
  };
};

describe('the pods that are wanted', () => {
  it('are found by UID until they are removed; the newest configuration counts', () => {
    const pods = wantedPods();
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
    const pods = wantedPods();
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
    const pods = wantedPods();
    pods.set(first);
    pods.set(second);
    expect(pods.resolve(fixed)).toEqual({ pod: fixed, mirrorPod: mirror, isMirror: false });
    expect(pods.resolve(mirror)).toEqual({ pod: fixed, mirrorPod: mirror, isMirror: true });
  });

  it('are found by their full name, the first known first, until they go', () => {
    const pods = wantedPods();
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
    const pods = wantedPods();
    pods.set(fixed);
    pods.set(mirror);
    pods.remove(fixed);
    expect(pods.resolve(mirror)).toEqual({ pod: undefined, mirrorPod: mirror, isMirror: true });
  });

  it('are a value: one that was read before does not change, and shares what is the same', () => {
    const before = [fixed, aPod({ uid: 'other', name: 'other' })].reduce(
      (wanted, pod) => withPod(wanted, pod),
      NO_PODS,
    );
    const after = withPod(before, aPod({ uid: 'static', labels: { v: '2' } }));
    const gone = withoutPod(after, fixed);
    expect(before.pods.byUid.get('static')).toBe(fixed);
    expect([...gone.pods.byUid.keys()]).toEqual(['other']);
    expect(gone.pods.byUid.get('other')).toBe(before.pods.byUid.get('other'));
    expect(after.mirrors).toBe(before.mirrors);
  });

  it('are listed once for as long as they do not change', () => {
    const pods = wantedPods();
    pods.set(fixed);
    const listed = pods.pods();
    pods.set(mirror);
    expect(pods.pods()).toBe(listed);
    pods.set(aPod({ uid: 'other', name: 'other' }));
    expect(pods.pods()).toHaveLength(2);
  });

  it('keep their name when an older revision of the same name goes after them', () => {
    const pods = wantedPods();
    const newer = aPod({ uid: 'newer' });
    pods.set(fixed);
    pods.set(newer);
    pods.remove(fixed);
    expect(pods.resolve(mirror).pod).toBe(newer);
  });
});
