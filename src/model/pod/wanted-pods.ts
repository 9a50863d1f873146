import { Map as ImmutableMap, OrderedMap } from 'immutable';
import { type AllocatedResources, allocatedOfPod, allocatedOfStatus, withAllocated } from './allocated-resources.js';
import { updated } from '../values/updated.js';
import { isMirrorPod, type Pod, podFullName } from './pod.js';

/**
 * The desired pods of all sources, by UID and by full name. Mirror pods are kept apart and linked by full name, in any
 * order of arrival.
 *
 * Source: pkg/kubelet/pod/pod_manager.go
 */
export interface WantedPods {
  readonly pods: NamedPods;
  readonly mirrors: NamedPods;
  /** The pods as their sources have them, by UID, where that is not how they run: with the amounts of a resize that has not begun. */
  readonly asked: ImmutableMap<string, Pod>;
}

/** Pods of one kind. A manifest and its earlier version may have one full name at the same time. */
export interface NamedPods {
  /** In the order in which they came. */
  readonly byUid: OrderedMap<string, Pod>;
  /** By full name, the one that was set last. */
  readonly newest: ImmutableMap<string, Pod>;
  /** By full name, then by UID. */
  readonly named: ImmutableMap<string, OrderedMap<string, Pod>>;
}

/** A pod and its mirror pod, if there is one. `pod` is absent for a mirror pod without a static pod. */
export interface PodAndMirror {
  readonly pod?: Pod;
  readonly mirrorPod?: Pod;
  readonly isMirror: boolean;
}

const EMPTY: NamedPods = { byUid: OrderedMap(), newest: ImmutableMap(), named: ImmutableMap() };

export const NO_PODS: WantedPods = { pods: EMPTY, mirrors: EMPTY, asked: ImmutableMap() };

/**
 * Adds or replaces a pod. It keeps the amounts that it has: those of its version before, or for a pod that comes, those that an earlier
 * agent has allocated. Its status has them if nothing else is known.
 *
 * Source: pkg/kubelet/allocation/allocation_manager.go UpdatePodFromAllocation
 */
export const withPod = (wanted: WantedPods, asked: Pod, allocated?: AllocatedResources): WantedPods => {
  if (isMirrorPod(asked)) return updated(wanted, { mirrors: put(wanted.mirrors, asked) });
  const before = wanted.pods.byUid.get(asked.metadata.uid);
  const known = before ? allocatedOfPod(before) : (allocated ?? allocatedOfStatus(asked.status ?? {}));
  return withAmountsOf(wanted, asked, known);
};

/** The pod has these amounts, also if its source asks for others. Changes nothing about a pod that no source wants. */
export const withAllocatedPod = (wanted: WantedPods, uid: string, allocated: AllocatedResources): WantedPods => {
  const asked = wanted.asked.get(uid) ?? wanted.pods.byUid.get(uid);
  return asked ? withAmountsOf(wanted, asked, allocated) : wanted;
};

const withAmountsOf = (wanted: WantedPods, asked: Pod, allocated: AllocatedResources): WantedPods => {
  const { uid } = asked.metadata;
  const pod = withAllocated(asked, allocated);
  return updated(wanted, {
    pods: put(wanted.pods, pod),
    asked: pod === asked ? wanted.asked.delete(uid) : wanted.asked.set(uid, asked),
  });
};

export const withoutPod = (wanted: WantedPods, pod: Pod): WantedPods =>
  updated(
    wanted,
    isMirrorPod(pod)
      ? { mirrors: take(wanted.mirrors, pod) }
      : { pods: take(wanted.pods, pod), asked: wanted.asked.delete(pod.metadata.uid) },
  );

const put = (pods: NamedPods, pod: Pod): NamedPods => {
  const { byUid, newest, named } = pods;
  const { uid } = pod.metadata;
  const name = podFullName(pod);
  const before = byUid.get(uid);
  const others = before && podFullName(before) !== name ? withoutName(named, before) : named;
  return updated(pods, {
    byUid: byUid.set(uid, pod),
    newest: newest.set(name, pod),
    named: others.set(name, others.get(name, NONE).set(uid, pod)),
  });
};

const take = (pods: NamedPods, pod: Pod): NamedPods => {
  const { byUid, newest, named } = pods;
  const { uid } = pod.metadata;
  const name = podFullName(pod);
  const before = byUid.get(uid);
  return updated(pods, {
    byUid: byUid.delete(uid),
    // Another version of the same manifest may own the name already.
    newest: newest.get(name)?.metadata.uid === uid ? newest.delete(name) : newest,
    named: before ? withoutName(named, before) : named,
  });
};

const NONE = OrderedMap<string, Pod>();

const withoutName = (named: NamedPods['named'], pod: Pod): NamedPods['named'] => {
  const name = podFullName(pod);
  const others = named.get(name, NONE).delete(pod.metadata.uid);
  return others.isEmpty() ? named.delete(name) : named.set(name, others);
};

/** What can be asked about the wanted pods. */
export interface WantedPodsView {
  /** Returns the pod as it runs here. */
  readonly get: (uid: string) => Pod | undefined;
  /** Returns a pod as its source has it, with the amounts of a resize that has not begun. */
  readonly asked: (uid: string) => Pod | undefined;
  /** The UIDs of the pods that ask for other amounts than they have. */
  readonly resized: () => readonly string[];
  /** Returns every desired pod, without mirror pods. */
  readonly pods: () => readonly Pod[];
  readonly mirrors: () => readonly Pod[];
  /** Returns the pods of a full name, the first known first: a search of all for each of them would take the square of their number. */
  readonly podsNamed: (fullName: string) => readonly Pod[];
  /** Returns the mirror pods of a full name; see `podsNamed`. */
  readonly mirrorsNamed: (fullName: string) => readonly Pod[];
  /** Returns a pod with its mirror pod, or the static pod of a mirror pod. Source: GetPodAndMirrorPod */
  readonly resolve: (pod: Pod) => PodAndMirror;
  /** Returns the UID of the static pod for that of its mirror pod, and any other UID as it is. Source: TranslatePodUID */
  readonly podUidOf: (uid: string) => string;
}

/** Returns a view that shows the pods as they are whenever it is asked. */
export const wantedPodsView = (now: () => WantedPods): WantedPodsView => {
  const resolve = (pod: Pod): PodAndMirror => {
    const { pods, mirrors, asked } = now();
    const { uid } = pod.metadata;
    const name = podFullName(pod);
    return isMirrorPod(pod)
      ? { pod: pods.newest.get(name), mirrorPod: pod, isMirror: true }
      : {
          pod: asked.get(uid) === pod ? pods.byUid.get(uid) : pod,
          mirrorPod: mirrors.newest.get(name),
          isMirror: false,
        };
  };
  return {
    get: (uid) => now().pods.byUid.get(uid),
    asked: (uid) => now().asked.get(uid) ?? now().pods.byUid.get(uid),
    resized: () => [...now().asked.keys()],
    pods: () => listOf(now().pods),
    mirrors: () => listOf(now().mirrors),
    podsNamed: (fullName) => [...now().pods.named.get(fullName, NONE).values()],
    mirrorsNamed: (fullName) => [...now().mirrors.named.get(fullName, NONE).values()],
    resolve,
    podUidOf: (uid) => {
      const mirror = now().mirrors.byUid.get(uid);
      return (mirror && resolve(mirror).pod?.metadata.uid) ?? uid;
    },
  };
};

/** The pods are listed every second, and change seldom. */
const listOf = (pods: NamedPods): readonly Pod[] => {
  const known = lists.get(pods);
  if (known) return known;
  const list = [...pods.byUid.values()];
  lists.set(pods, list);
  return list;
};

const lists = new WeakMap<NamedPods, readonly Pod[]>();
