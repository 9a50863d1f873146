import { allocatedOfPod, allocatedOfStatus, withAllocated } from './allocated-resources.js';
import { isMirrorPod, type Pod, podFullName } from './pod.js';

/** A pod and its mirror pod, if there is one. `pod` is absent for a mirror pod without a static pod. */
export interface PodAndMirror {
  readonly pod?: Pod;
  readonly mirrorPod?: Pod;
  readonly isMirror: boolean;
}

/**
 * The desired pods of all sources, by UID and by full name. Mirror pods are kept apart and linked by full name, in any
 * order of arrival.
 *
 * Source: pkg/kubelet/pod/pod_manager.go
 */
export class PodManager {
  readonly #pods = new Map<string, Pod>();
  readonly #podsByFullName = new Map<string, Pod>();
  /** The pods as their sources have them, by UID, also with the amounts of a resize that was not done. */
  readonly #asked = new Map<string, Pod>();
  readonly #mirrors = new Map<string, Pod>();
  readonly #mirrorsByFullName = new Map<string, Pod>();
  /** All pods and mirror pods of a full name, by UID: a manifest and its earlier version may exist at the same time. */
  readonly #ofFullName = { pods: new Map<string, Map<string, Pod>>(), mirrors: new Map<string, Map<string, Pod>>() };

  /** Adds or replaces a pod. A pod that was resized keeps the amounts that it has, since this agent does not resize. */
  set(asked: Pod): void {
    const [byUid, byName] = this.#shelves(asked);
    const { uid } = asked.metadata;
    const before = byUid.get(uid);
    const pod = isMirrorPod(asked)
      ? asked
      : withAllocated(asked, before ? allocatedOfPod(before) : allocatedOfStatus(asked.status ?? {}));
    if (pod !== asked) this.#asked.set(uid, asked);
    else this.#asked.delete(uid);
    if (before && podFullName(before) !== podFullName(pod)) this.#forgetName(before);
    byUid.set(uid, pod);
    byName.set(podFullName(pod), pod);
    const ofName = this.#names(pod);
    ofName.set(podFullName(pod), (ofName.get(podFullName(pod)) ?? new Map<string, Pod>()).set(uid, pod));
  }

  remove(pod: Pod): void {
    const [byUid, byName] = this.#shelves(pod);
    const before = byUid.get(pod.metadata.uid);
    if (before) this.#forgetName(before);
    byUid.delete(pod.metadata.uid);
    if (!isMirrorPod(pod)) this.#asked.delete(pod.metadata.uid);
    // Another version of the same manifest may own the name already.
    if (byName.get(podFullName(pod))?.metadata.uid === pod.metadata.uid) byName.delete(podFullName(pod));
  }

  get(uid: string): Pod | undefined {
    return this.#pods.get(uid);
  }

  /** Returns a pod as its source has it, with the amounts of a resize that was not done. */
  asked(uid: string): Pod | undefined {
    return this.#asked.get(uid) ?? this.#pods.get(uid);
  }

  /** Returns the UID of the static pod for that of its mirror pod, and any other UID as it is. Source: TranslatePodUID */
  podUidOf(uid: string): string {
    const mirror = this.#mirrors.get(uid);
    return (mirror && this.resolve(mirror).pod?.metadata.uid) ?? uid;
  }

  /** Returns every desired pod, without mirror pods. */
  pods(): readonly Pod[] {
    return [...this.#pods.values()];
  }

  mirrors(): readonly Pod[] {
    return [...this.#mirrors.values()];
  }

  /** Returns the pods of a full name, the first known first: a search of all for each of them would take the square of their number. */
  podsNamed(fullName: string): readonly Pod[] {
    return [...(this.#ofFullName.pods.get(fullName)?.values() ?? [])];
  }

  /** Returns the mirror pods of a full name; see `podsNamed`. */
  mirrorsNamed(fullName: string): readonly Pod[] {
    return [...(this.#ofFullName.mirrors.get(fullName)?.values() ?? [])];
  }

  /** Returns a pod with its mirror pod, or the static pod of a mirror pod. Source: GetPodAndMirrorPod */
  resolve(pod: Pod): PodAndMirror {
    const fullName = podFullName(pod);
    return isMirrorPod(pod)
      ? { pod: this.#podsByFullName.get(fullName), mirrorPod: pod, isMirror: true }
      : {
          pod: this.#asked.get(pod.metadata.uid) === pod ? this.#pods.get(pod.metadata.uid) : pod,
          mirrorPod: this.#mirrorsByFullName.get(fullName),
          isMirror: false,
        };
  }

  #names(pod: Pod): Map<string, Map<string, Pod>> {
    return isMirrorPod(pod) ? this.#ofFullName.mirrors : this.#ofFullName.pods;
  }

  #forgetName(pod: Pod): void {
    const ofName = this.#names(pod);
    const same = ofName.get(podFullName(pod));
    same?.delete(pod.metadata.uid);
    if (same?.size === 0) ofName.delete(podFullName(pod));
  }

  #shelves(pod: Pod): readonly [Map<string, Pod>, Map<string, Pod>] {
    return isMirrorPod(pod) ? [this.#mirrors, this.#mirrorsByFullName] : [this.#pods, this.#podsByFullName];
  }
}
