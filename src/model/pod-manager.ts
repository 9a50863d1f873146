import { isMirrorPod, type Pod, podFullName } from './pod.js';

/** A pod with the mirror that stands for it in the API, if there is one. `pod` is absent for a mirror without its static pod. */
export interface PodAndMirror {
  readonly pod?: Pod;
  readonly mirrorPod?: Pod;
  readonly isMirror: boolean;
}

/**
 * What the sources want to run, by UID and by full name. Mirror pods are kept apart and linked by full name, whichever
 * of the two arrives first.
 *
 * Source: pkg/kubelet/pod/pod_manager.go
 */
export class PodManager {
  readonly #pods = new Map<string, Pod>();
  readonly #podsByFullName = new Map<string, Pod>();
  readonly #mirrors = new Map<string, Pod>();
  readonly #mirrorsByFullName = new Map<string, Pod>();

  /** Adds or replaces. */
  set(pod: Pod): void {
    const [byUid, byName] = this.#shelves(pod);
    byUid.set(pod.metadata.uid, pod);
    byName.set(podFullName(pod), pod);
  }

  remove(pod: Pod): void {
    const [byUid, byName] = this.#shelves(pod);
    byUid.delete(pod.metadata.uid);
    // Another revision of the same manifest may have taken the name over already.
    if (byName.get(podFullName(pod))?.metadata.uid === pod.metadata.uid) byName.delete(podFullName(pod));
  }

  get(uid: string): Pod | undefined {
    return this.#pods.get(uid);
  }

  /** Every pod that is wanted, mirrors left out. */
  pods(): readonly Pod[] {
    return [...this.#pods.values()];
  }

  mirrors(): readonly Pod[] {
    return [...this.#mirrors.values()];
  }

  /** Given a pod its mirror comes with it, given a mirror its static pod. Source: GetPodAndMirrorPod */
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
