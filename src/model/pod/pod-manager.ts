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
  readonly #mirrors = new Map<string, Pod>();
  readonly #mirrorsByFullName = new Map<string, Pod>();

  /** Adds or replaces a pod. */
  set(pod: Pod): void {
    const [byUid, byName] = this.#shelves(pod);
    byUid.set(pod.metadata.uid, pod);
    byName.set(podFullName(pod), pod);
  }

  remove(pod: Pod): void {
    const [byUid, byName] = this.#shelves(pod);
    byUid.delete(pod.metadata.uid);
    // Another version of the same manifest may own the name already.
    if (byName.get(podFullName(pod))?.metadata.uid === pod.metadata.uid) byName.delete(podFullName(pod));
  }

  get(uid: string): Pod | undefined {
    return this.#pods.get(uid);
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

  /** Returns a pod with its mirror pod, or the static pod of a mirror pod. Source: GetPodAndMirrorPod */
  resolve(pod: Pod): PodAndMirror {
    const fullName = podFullName(pod);
    return isMirrorPod(pod)
      ? { pod: this.#podsByFullName.get(fullName), mirrorPod: pod, isMirror: true }
      : { pod, mirrorPod: this.#mirrorsByFullName.get(fullName), isMirror: false };
  }

  #shelves(pod: Pod): readonly [Map<string, Pod>, Map<string, Pod>] {
    return isMirrorPod(pod) ? [this.#mirrors, this.#mirrorsByFullName] : [this.#pods, this.#podsByFullName];
  }
}
