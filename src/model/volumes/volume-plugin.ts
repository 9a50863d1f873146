import type { Volume } from '../manifest/volume-defaults.js';

/** The properties of a kind of volume. Source: pkg/volume, `GetAttributes` and `RequiresRemount` of each plugin. */
export interface VolumePlugin {
  /** Such as `kubernetes.io/secret`. */
  readonly name: string;
  /** The files are written by the agent into a directory of its own. The agent sets the directory up and removes it. */
  readonly hasDirectory: boolean;
  /** The files follow objects that change, so the volume is set up again with each sync of its pod. */
  readonly isSetUpAgain: boolean;
  /** Every container mounts it read-only. */
  readonly isReadOnly: boolean;
  /** The fsGroup of the pod owns the files. */
  readonly takesFsGroup: boolean;
  /** The runtime may relabel the files for SELinux. */
  readonly takesSelinuxLabel: boolean;
}

const DIRECTORY = { hasDirectory: true, takesFsGroup: true, takesSelinuxLabel: true };
const WRITTEN = { ...DIRECTORY, isSetUpAgain: true, isReadOnly: true };
const FOREIGN = { hasDirectory: false, isSetUpAgain: false, takesFsGroup: false, takesSelinuxLabel: false };

const PLUGINS = {
  emptyDir: { name: 'kubernetes.io/empty-dir', ...DIRECTORY, isSetUpAgain: false, isReadOnly: false },
  hostPath: { name: 'kubernetes.io/host-path', ...FOREIGN, isReadOnly: false },
  configMap: { name: 'kubernetes.io/configmap', ...WRITTEN },
  secret: { name: 'kubernetes.io/secret', ...WRITTEN },
  downwardAPI: { name: 'kubernetes.io/downward-api', ...WRITTEN },
  projected: { name: 'kubernetes.io/projected', ...WRITTEN },
  image: { name: 'kubernetes.io/image', ...FOREIGN, isReadOnly: true },
} as const satisfies Partial<Record<keyof Volume, VolumePlugin>>;

export const EMPTY_DIR_PLUGIN = PLUGINS.emptyDir.name;

type SupportedKind = keyof typeof PLUGINS;

/** Returns the plugin of a volume; undefined for a kind that this agent does not support. */
export const volumePluginOf = (volume: Volume): VolumePlugin | undefined => {
  const kind = (Object.keys(PLUGINS) as SupportedKind[]).find((each) => volume[each] !== undefined);
  return kind && PLUGINS[kind];
};

/** Returns the reason why the agent does not set up a volume: its kind; undefined for a supported kind. */
export const unsupportedKind = (volume: Volume): string | undefined => {
  if (volumePluginOf(volume) !== undefined) return undefined;
  const kinds = Object.keys(volume).filter((key) => key !== 'name');
  if (kinds.length === 0) return 'a volume without a source is not supported by this agent';
  return `volumes of kind ${kinds.join(' and ')} are not supported by this agent`;
};

/**
 * Returns the same with the name of the volume. The text begins as upstream's for a volume without a plugin.
 *
 * Source: pkg/kubelet/volumemanager/cache/desired_state_of_world.go
 */
export const unsupportedVolume = (volume: Volume): string | undefined => {
  const problem = unsupportedKind(volume);
  return (
    problem &&
    `failed to get Plugin from volumeSpec for volume "${volume.name}" err=no volume plugin matched: ${problem}`
  );
};

/**
 * Returns the volume of a directory that an earlier life of the agent has set up. Only its name and its plugin are
 * known; an unknown plugin has no directory that this agent removes.
 */
export const volumeOfPlugin = (plugin: string | undefined, name: string): Volume => {
  const [kind] = Object.entries(PLUGINS).find(([, known]) => known.name === plugin) ?? [];
  return kind === undefined ? { name } : { name, [kind]: {} };
};
