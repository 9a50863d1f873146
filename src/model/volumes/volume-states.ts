import type { Pod } from '../pod/pod.js';
import type { Volume } from '../manifest/volume-defaults.js';

/** The state of one volume of one pod. */
interface VolumeState {
  readonly volume: Volume;
  /** The volume is set up, and nothing takes it down now. */
  readonly isMounted: boolean;
  /** Failed attempts in a row to bring it to its desired state. */
  readonly failures: number;
  /** The error of the last attempt; undefined after a success. */
  readonly error?: string | undefined;
}

interface PodState {
  readonly pod: Pod;
  readonly isWanted: boolean;
  /** Its containers end: they keep the files that they have. */
  readonly isEnding: boolean;
  /** The states change in place: with a copy for each change, a pod of many volumes would take the square of their number. */
  readonly volumes: Map<string, VolumeState>;
  /** The names of the volumes that are not set up. */
  readonly missing: Set<string>;
}

/** A change of the desired or the actual state. `volume` is the name in the pod. */
export type VolumeChange =
  /** The containers of the pod need these volumes. */
  | { readonly kind: 'wanted'; readonly pod: Pod; readonly volumes: readonly Volume[] }
  /** The containers of the pod end. Nothing is set up for them from now on, and nothing is taken down. */
  | { readonly kind: 'ending'; readonly uid: string }
  /** No container of the pod needs a volume any more; these may exist. */
  | { readonly kind: 'unwanted'; readonly pod: Pod; readonly volumes: readonly Volume[] }
  | { readonly kind: 'mounted'; readonly uid: string; readonly volume: string }
  /** From here on containers cannot rely on the volume. */
  | { readonly kind: 'unmounting'; readonly uid: string; readonly volume: string }
  | { readonly kind: 'unmounted'; readonly uid: string; readonly volume: string }
  | { readonly kind: 'failed'; readonly uid: string; readonly volume: string; readonly error: string };

/**
 * The desired and the actual state of the volumes of a node, as a fold of changes. A new life of the agent begins with an empty
 * actual state: the disk is read where that matters, and a set-up that finds everything in place changes nothing.
 *
 * Source: pkg/kubelet/volumemanager/cache
 */
export class VolumeStates {
  readonly #pods = new Map<string, PodState>();

  apply(change: VolumeChange): void {
    switch (change.kind) {
      case 'wanted':
      case 'unwanted':
        this.#setDesired(change);
        break;
      case 'ending':
        this.#setEnding(change);
        break;
      case 'mounted':
        this.#update(change, { isMounted: true, failures: 0, error: undefined });
        break;
      case 'unmounting':
        this.#update(change, { isMounted: false });
        break;
      case 'unmounted':
        // The pod may want it again by now.
        if (this.isWanted(change.uid)) this.#update(change, { isMounted: false, failures: 0, error: undefined });
        else this.#remove(change);
        break;
      case 'failed': {
        const failures = this.failures(change.uid, change.volume) + 1;
        this.#update(change, { failures, error: change.error });
        break;
      }
    }
  }

  /** The pod of the last `wanted` or `unwanted`; undefined once nothing is known of its volumes. */
  pod(uid: string): Pod | undefined {
    return this.#pods.get(uid)?.pod;
  }

  isWanted(uid: string): boolean {
    return this.#pods.get(uid)?.isWanted ?? false;
  }

  isEnding(uid: string): boolean {
    return this.#pods.get(uid)?.isEnding ?? false;
  }

  volume(uid: string, name: string): Volume | undefined {
    return this.#pods.get(uid)?.volumes.get(name)?.volume;
  }

  isMounted(uid: string, name: string): boolean {
    return this.#pods.get(uid)?.volumes.get(name)?.isMounted ?? false;
  }

  failures(uid: string, name: string): number {
    return this.#pods.get(uid)?.volumes.get(name)?.failures ?? 0;
  }

  areAllMounted(uid: string): boolean {
    return (this.#pods.get(uid)?.missing.size ?? 0) === 0;
  }

  /** Whether a volume of the pod exists or may exist. */
  hasAny(uid: string): boolean {
    return this.#pods.has(uid);
  }

  /** Volumes that are not set up, by name, with the error of the last attempt. */
  notMounted(uid: string): readonly { readonly name: string; readonly error?: string | undefined }[] {
    return this.#of(uid)
      .filter(([, { isMounted }]) => !isMounted)
      .map(([name, { error }]) => ({ name, error }));
  }

  /** All volumes that exist or may exist, by name, with the error of the last attempt. */
  known(uid: string): readonly { readonly name: string; readonly error?: string | undefined }[] {
    return this.#of(uid).map(([name, { error }]) => ({ name, error }));
  }

  /** The pods that want volumes. */
  wantedPods(): readonly Pod[] {
    return [...this.#pods.values()].filter(({ isWanted }) => isWanted).map(({ pod }) => pod);
  }

  /** The volumes of all pods, for metrics: each with whether it is wanted and whether it is set up. */
  all(): readonly { readonly volume: Volume; readonly isWanted: boolean; readonly isMounted: boolean }[] {
    return [...this.#pods.values()].flatMap(({ isWanted, volumes }) =>
      [...volumes.values()].map(({ volume, isMounted }) => ({ volume, isWanted, isMounted })),
    );
  }

  #of(uid: string): readonly (readonly [string, VolumeState])[] {
    return [...(this.#pods.get(uid)?.volumes ?? [])].toSorted(([a], [b]) => (a < b ? -1 : 1));
  }

  #setDesired({ kind, pod, volumes }: Extract<VolumeChange, { pod: Pod }>): void {
    const { uid } = pod.metadata;
    const before = this.#pods.get(uid);
    const isWanted = kind === 'wanted';
    const next = new Map(before?.volumes);
    for (const volume of volumes) {
      const known = next.get(volume.name);
      // The waits of what was tried before do not count for the opposite.
      const failures = before?.isWanted === isWanted ? (known?.failures ?? 0) : 0;
      next.set(volume.name, { isMounted: known?.isMounted ?? false, error: known?.error, volume, failures });
    }
    const missing = new Set([...next].flatMap(([name, { isMounted }]) => (isMounted ? [] : [name])));
    if (next.size === 0) this.#pods.delete(uid);
    else this.#pods.set(uid, { pod, isWanted, isEnding: false, volumes: next, missing });
  }

  #setEnding({ uid }: { readonly uid: string }): void {
    const pod = this.#pods.get(uid);
    if (pod) this.#pods.set(uid, { ...pod, isEnding: true });
  }

  #update({ uid, volume }: { readonly uid: string; readonly volume: string }, values: Partial<VolumeState>): void {
    const pod = this.#pods.get(uid);
    const before = pod?.volumes.get(volume);
    if (!pod || !before) return;
    const after = { ...before, ...values };
    pod.volumes.set(volume, after);
    if (after.isMounted) pod.missing.delete(volume);
    else pod.missing.add(volume);
  }

  #remove({ uid, volume }: { readonly uid: string; readonly volume: string }): void {
    const pod = this.#pods.get(uid);
    if (!pod) return;
    pod.volumes.delete(volume);
    pod.missing.delete(volume);
    if (pod.volumes.size === 0) this.#pods.delete(uid);
  }
}
