import { OrderedMap, Set as ImmutableSet } from 'immutable';
import type { Pod } from '../pod/pod.js';
import type { Volume } from '../manifest/volume-defaults.js';
import { updated } from '../values/updated.js';
import { volumePluginOf } from './volume-plugin.js';

/**
 * The desired and the actual state of the volumes of a node, by the UID of the pod. A new life of the agent begins with an empty actual
 * state: the disk is read where that matters, and a set-up that finds everything in place changes nothing.
 *
 * Source: pkg/kubelet/volumemanager/cache
 */
export type VolumeStates = OrderedMap<string, PodVolumeStates>;

/** The volumes of one pod that exist or may exist. */
export interface PodVolumeStates {
  readonly pod: Pod;
  readonly isWanted: boolean;
  /** Its containers end: they keep the files that they have. */
  readonly isEnding: boolean;
  /** By the name in the pod. */
  readonly volumes: OrderedMap<string, VolumeState>;
  /** The names of the volumes that are not set up. */
  readonly missing: ImmutableSet<string>;
}

/** The state of one volume of one pod. */
export interface VolumeState {
  readonly volume: Volume;
  /** The volume is set up, and nothing takes it down now. */
  readonly isMounted: boolean;
  /** Failed attempts in a row to bring it to its desired state. */
  readonly failures: number;
  /** The error of the last attempt; undefined after a success. */
  readonly error?: string | undefined;
}

/** A volume, by its name in the pod. */
export interface VolumeName {
  readonly uid: string;
  readonly volume: string;
}

/** Sets what is desired of these volumes, beside those that are known: that they are there, or that they are not. */
export const withDesired = (
  states: VolumeStates,
  { pod, volumes }: { readonly pod: Pod; readonly volumes: readonly Volume[] },
  isWanted: boolean,
): VolumeStates => {
  const { uid } = pod.metadata;
  const before = states.get(uid);
  // The waits of what was tried before do not count for the opposite.
  const isSame = before?.isWanted === isWanted;
  const next = (before?.volumes ?? NONE).withMutations((known) => {
    for (const volume of volumes) {
      const one = known.get(volume.name) ?? { volume, isMounted: false, failures: 0, error: undefined };
      known.set(volume.name, updated(one, { volume, failures: isSame ? one.failures : 0 }));
    }
  });
  if (next.isEmpty()) return states.delete(uid);
  const isKnown = (name: string): boolean => before?.volumes.has(name) ?? false;
  const added = volumes.map(({ name }) => name).filter((name) => !isKnown(name));
  const missing = (before?.missing ?? NOTHING).union(added);
  return states.set(uid, { pod, isWanted, isEnding: false, volumes: next, missing });
};

export const withEnding = (states: VolumeStates, uid: string): VolumeStates => {
  const pod = states.get(uid);
  return pod ? states.set(uid, updated(pod, { isEnding: true })) : states;
};

export const withMounted = (states: VolumeStates, name: VolumeName): VolumeStates =>
  withState(states, name, { isMounted: true, failures: 0, error: undefined });

/** From here on containers cannot rely on the volume. */
export const withUnmounting = (states: VolumeStates, name: VolumeName): VolumeStates =>
  withState(states, name, { isMounted: false });

/** Forgets the volume, unless the pod wants it again by now. */
export const withUnmounted = (states: VolumeStates, name: VolumeName): VolumeStates => {
  const pod = states.get(name.uid);
  if (!pod) return states;
  if (pod.isWanted) return withState(states, name, { isMounted: false, failures: 0, error: undefined });
  const volumes = pod.volumes.delete(name.volume);
  if (volumes.isEmpty()) return states.delete(name.uid);
  return states.set(name.uid, { ...pod, volumes, missing: pod.missing.delete(name.volume) });
};

export const withFailed = (states: VolumeStates, name: VolumeName, error: string): VolumeStates => {
  const failures = (states.get(name.uid)?.volumes.get(name.volume)?.failures ?? 0) + 1;
  return withState(states, name, { failures, error });
};

const withState = (states: VolumeStates, { uid, volume }: VolumeName, values: Partial<VolumeState>): VolumeStates => {
  const pod = states.get(uid);
  const before = pod?.volumes.get(volume);
  if (!pod || !before) return states;
  const after = updated(before, values);
  const missing = after.isMounted ? pod.missing.delete(volume) : pod.missing.add(volume);
  return states.set(uid, updated(pod, { volumes: pod.volumes.set(volume, after), missing }));
};

const NONE = OrderedMap<string, VolumeState>();
const NOTHING = ImmutableSet<string>();

/** What can be asked about the volumes. */
export interface VolumeStatesView {
  /** The pod whose volumes were desired last, or not desired any more; undefined once nothing is known of its volumes. */
  readonly pod: (uid: string) => Pod | undefined;
  readonly isWanted: (uid: string) => boolean;
  readonly isEnding: (uid: string) => boolean;
  readonly volume: (uid: string, name: string) => Volume | undefined;
  readonly isMounted: (uid: string, name: string) => boolean;
  readonly failures: (uid: string, name: string) => number;
  readonly areAllMounted: (uid: string) => boolean;
  /** Whether a volume of the pod exists or may exist. */
  readonly hasAny: (uid: string) => boolean;
  /** Volumes that are not set up, by name, with the error of the last attempt. */
  readonly notMounted: (uid: string) => readonly UnfinishedVolume[];
  /** All volumes that exist or may exist, by name, with the error of the last attempt. */
  readonly known: (uid: string) => readonly UnfinishedVolume[];
  /** The pods that want volumes. */
  readonly wantedPods: () => readonly Pod[];
  /** The volumes of all pods, for metrics: each with whether it is wanted and whether it is set up. */
  readonly all: () => readonly { readonly volume: Volume; readonly isWanted: boolean; readonly isMounted: boolean }[];
}

/** A volume by its name, with the error of the last attempt. */
export interface UnfinishedVolume {
  readonly name: string;
  readonly error?: string | undefined;
}

/** Returns a view that shows the volumes as they are whenever it is asked. */
export const volumeStatesView = (now: () => VolumeStates): VolumeStatesView => {
  const one = (uid: string, name: string): VolumeState | undefined => now().get(uid)?.volumes.get(name);
  const sorted = (uid: string): readonly (readonly [string, VolumeState])[] =>
    [...(now().get(uid)?.volumes ?? [])].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return {
    pod: (uid) => now().get(uid)?.pod,
    isWanted: (uid) => now().get(uid)?.isWanted ?? false,
    isEnding: (uid) => now().get(uid)?.isEnding ?? false,
    volume: (uid, name) => one(uid, name)?.volume,
    isMounted: (uid, name) => one(uid, name)?.isMounted ?? false,
    failures: (uid, name) => one(uid, name)?.failures ?? 0,
    areAllMounted: (uid) => now().get(uid)?.missing.isEmpty() ?? true,
    hasAny: (uid) => now().has(uid),
    notMounted: (uid) =>
      sorted(uid)
        .filter(([, { isMounted }]) => !isMounted)
        .map(([name, { error }]) => ({ name, error })),
    known: (uid) => sorted(uid).map(([name, { error }]) => ({ name, error })),
    wantedPods: () => [...now().values()].filter(({ isWanted }) => isWanted).map(({ pod }) => pod),
    all: () =>
      [...now().values()].flatMap(({ isWanted, volumes }) =>
        [...volumes.values()].map(({ volume, isMounted }) => ({ volume, isWanted, isMounted })),
      ),
  };
};

/** The volumes of one plugin on the node. */
export interface VolumeCount {
  readonly plugin: string;
  readonly desired: number;
  readonly actual: number;
}

/** Counts the volumes of all pods by plugin, in the order in which the plugins occur; the name of an unknown plugin is empty. */
export const countByPlugin = (volumes: ReturnType<VolumeStatesView['all']>): readonly VolumeCount[] => {
  const counts = new Map<string, VolumeCount>();
  for (const { volume, isWanted, isMounted } of volumes) {
    const plugin = volumePluginOf(volume)?.name ?? '';
    const { desired, actual } = counts.get(plugin) ?? { desired: 0, actual: 0 };
    counts.set(plugin, { plugin, desired: desired + Number(isWanted), actual: actual + Number(isMounted) });
  }
  return [...counts.values()];
};
