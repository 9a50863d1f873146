import type { DeepPartial, ImageSpec, Mount } from '../../generated/runtime/v1/api.js';
import { absolutePath } from '../cri/absolute-path.js';
import { CreateContainerConfigError } from '../cri/create-container-config-error.js';
import { expand } from '../cri/expansion.js';
import type { Volume } from '../manifest/volume-defaults.js';
import type { Container, EphemeralContainer, Pod } from '../pod/pod.js';
import { resolveRecursiveReadOnly } from './recursive-read-only.js';
import { subPathTarget, volumeDirectory } from './volume-paths.js';
import { volumePluginOf } from './volume-plugin.js';
import type { SubPathSetup } from './volume-setup.js';
import { firstNamed } from '../values/indexed-lists.js';

type VolumeMountSpec = NonNullable<Container['volumeMounts']>[number];

export interface ContainerMountsInput {
  readonly rootDirectory: string;
  /** Whether the volume is set up. */
  readonly isMounted: (volume: string) => boolean;
  /** Returns the value of a variable of the container's environment, for `subPathExpr`. */
  readonly variable: (name: string) => string | undefined;
  /** The references of image volumes on this node, by volume. */
  readonly images: ReadonlyMap<string, string>;
  /** The runtime can make the mounts below a read-only mount read-only too. */
  readonly canMountRecursivelyReadOnly: boolean;
  readonly hasSelinux: boolean;
}

/** One entry of `volumeMounts`. */
export interface ContainerMount {
  readonly volume: string;
  /** The mount for the runtime. With a sub-path, `hostPath` is its target. */
  readonly mount: DeepPartial<Mount>;
  /** The sub-path that has to be bound before the container is created. */
  readonly subPath?: SubPathSetup;
  /** The path of the machine whose type has to be checked before the container is created; absent without a type. */
  readonly hostPath?: { readonly path: string; readonly type: string };
}

/**
 * Returns the mounts of one container in the order of its `volumeMounts`.
 *
 * Errors: `CreateContainerConfigError` for a volume that is not set up, a path that leads out of the volume, a missing
 * variable, or a mode that is not supported; for a block device.
 * Source: pkg/kubelet/kubelet_pods.go makeMounts, makeBlockVolumes
 */
export const containerMounts = (
  pod: Pod,
  container: Container | EphemeralContainer,
  input: ContainerMountsInput,
): readonly ContainerMount[] => {
  const mounts = (container.volumeMounts ?? []).map((mount, index) =>
    containerMount(pod, container, mount, index, input),
  );
  refuseDevices(container);
  return mounts;
};

/** A path of the machine whose type has to be checked. */
export interface HostPathCheck {
  readonly volume: string;
  readonly path: string;
  readonly type: string;
}

/** Returns the paths to check before the container is created: one for each volume, however often the container mounts it. */
export const hostPathChecks = (mounts: readonly ContainerMount[]): readonly HostPathCheck[] => {
  const checks = mounts.flatMap(({ volume, hostPath }) =>
    hostPath ? [[volume, { volume, ...hostPath }] as const] : [],
  );
  return [...new Map(checks).values()];
};

/** Returns the error of a sub-path that cannot be bound. It shows no paths of the machine to users of the API. */
export const subPathRefusal = (volume: string, container: string): CreateContainerConfigError =>
  new CreateContainerConfigError(
    `failed to prepare subPath for volumeMount ${JSON.stringify(volume)} of container ${JSON.stringify(container)}`,
  );

/** Returns the error of a mount point that cannot be made. It shows no paths of the machine either. */
export const mountPointRefusal = (path: string, container: string): CreateContainerConfigError =>
  new CreateContainerConfigError(
    `failed to make the mount point ${JSON.stringify(path)} inside of a read-only volume of container ${JSON.stringify(container)}`,
  );

/** Returns the error of a path of the machine that is not of its type any more. The path is that of the spec. */
export const hostPathRefusal = (volume: string, container: string, problem: string): CreateContainerConfigError =>
  new CreateContainerConfigError(`cannot mount volume "${volume}" into container "${container}": ${problem}`);

const containerMount = (
  pod: Pod,
  container: Container | EphemeralContainer,
  mount: VolumeMountSpec,
  index: number,
  input: ContainerMountsInput,
): ContainerMount => {
  const volume = firstNamed(pod.spec.volumes ?? [], mount.name);
  const plugin = volume && volumePluginOf(volume);
  const refuse = (text: string): CreateContainerConfigError => new CreateContainerConfigError(text);
  if (!volume || !plugin || !input.isMounted(mount.name))
    throw refuse(`cannot find volume "${mount.name}" to mount into container "${container.name}"`);
  const subPath = subPathOf(mount, input.variable);
  const image = volume.image && imageOf(pod, volume, input.images);
  if (volume.image && !image)
    throw refuse(
      `cannot find volume "${mount.name}" to mount into container "${container.name}": its image is not on the node`,
    );
  const whole = volume.hostPath?.path ?? directoryOf(pod, volume, plugin.name, input);
  const target = subPathTarget(input.rootDirectory, pod.metadata.uid, mount.name, container.name, index);
  const isBound = subPath !== '' && !image;
  const givesBack = mount.mountPropagation === 'Bidirectional';
  return {
    volume: mount.name,
    mount: {
      containerPath: absolutePath(mount.mountPath),
      hostPath: image ? '' : isBound ? target : whole,
      readonly: mount.readOnly === true || plugin.isReadOnly,
      recursiveReadOnly: resolveRecursiveReadOnly(mount, input.canMountRecursivelyReadOnly),
      propagation: propagationOf(mount),
      selinuxRelabel: input.hasSelinux && plugin.takesSelinuxLabel,
      ...(image && { image, imageSubPath: subPath }),
    },
    ...(isBound && { subPath: { volumeDirectory: whole, subPath, target, ...(givesBack && { givesBack }) } }),
    ...(volume.hostPath?.type && { hostPath: { path: volume.hostPath.path, type: volume.hostPath.type } }),
  };
};

const directoryOf = (pod: Pod, { name }: Volume, plugin: string, { rootDirectory }: ContainerMountsInput): string =>
  volumeDirectory(rootDirectory, pod.metadata.uid, plugin, name);

/** Source: pkg/kubelet/kubelet_pods.go makeMounts, pkg/volume/validation ValidatePathNoBacksteps */
const subPathOf = (
  { subPath = '', subPathExpr }: VolumeMountSpec,
  variable: ContainerMountsInput['variable'],
): string => {
  const path = subPathExpr ? expandedSubPath(subPathExpr, variable) : subPath;
  if (path.startsWith('/'))
    throw new CreateContainerConfigError(`error SubPath \`${path}\` must not be an absolute path`);
  if (path.split('/').includes('..'))
    throw new CreateContainerConfigError(`unable to provision SubPath \`${path}\`: must not contain '..'`);
  if (path.includes('\0'))
    throw new CreateContainerConfigError(`unable to provision SubPath: must not contain a NUL character`);
  return path;
};

/** An empty variable is missing too. Source: pkg/kubelet/container/helpers.go ExpandContainerVolumeMounts */
const expandedSubPath = (expression: string, variable: ContainerMountsInput['variable']): string => {
  const missing = new Set<string>();
  const expanded = expand(expression, (name) => {
    const value = variable(name) ?? '';
    if (value === '') missing.add(name);
    return value;
  });
  if (missing.size === 0) return expanded;
  throw new CreateContainerConfigError(`missing value for ${[...missing].sort().join(', ')}`);
};

const PROPAGATIONS = {
  None: 'PROPAGATION_PRIVATE',
  HostToContainer: 'PROPAGATION_HOST_TO_CONTAINER',
  Bidirectional: 'PROPAGATION_BIDIRECTIONAL',
} as const;

/** Source: pkg/kubelet/kubelet_pods.go translateMountPropagation */
const propagationOf = ({ mountPropagation = 'None' }: VolumeMountSpec): Mount['propagation'] => {
  const found = Object.hasOwn(PROPAGATIONS, mountPropagation);
  if (found) return PROPAGATIONS[mountPropagation as keyof typeof PROPAGATIONS];
  throw new CreateContainerConfigError(`invalid MountPropagation mode: ${JSON.stringify(mountPropagation)}`);
};

const imageOf = (
  pod: Pod,
  { name, image }: Volume,
  images: ReadonlyMap<string, string>,
): DeepPartial<ImageSpec> | undefined => {
  const reference = images.get(name);
  if (reference === undefined) return undefined;
  return {
    image: reference,
    userSpecifiedImage: image?.reference ?? '',
    annotations: { ...pod.metadata.annotations },
  };
};

/** Only persistent volumes can be block devices, and they are not supported. */
const refuseDevices = ({ name, volumeDevices = [] }: Container | EphemeralContainer): void => {
  for (const device of volumeDevices) {
    const problem = device.devicePath.startsWith('/')
      ? `cannot find volume "${device.name}" to pass into container "${name}"`
      : `error DevicePath \`${device.devicePath}\` must be an absolute path`;
    throw new CreateContainerConfigError(problem);
  }
};
