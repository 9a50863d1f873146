import { normalize } from 'node:path';
import type { ContainerConfig, Mount } from '../../../generated/runtime/v1/api.js';
import { absolutePath } from '../../../model/cri/absolute-path.js';
import { ContainerTree, entryOfMachine, isBelow } from './container-tree.js';
import type { NamespaceKind } from '../confinement/isolation.js';
import {
  errnoOf,
  isShortage,
  isThere,
  makeDirectories,
  readFileSync,
  readdirSync,
  realpathSync,
  statSync,
} from '../machine/machine.js';
import type { BindMount, MountPlan, MountPoint } from './mount-script.js';
import { invalidArgument } from '../runtime-error.js';

/** The number of entries of a directory that a container may get a copy of; each is a mount of 0.5 to 2 ms. */
const ENTRIES_MAX = 5_000;
/** File systems of the kernel, in which no mount point can be made. */
const KERNEL_OWN = ['/proc', '/sys'];

/** A mount or device of the config, with the name of its field. */
interface Wanted {
  readonly field: string;
  readonly containerPath: string;
  readonly hostPath: string;
  readonly readonly: boolean;
  readonly recursiveReadOnly: boolean;
  readonly propagation: Mount['propagation'];
  readonly image: Mount['image'];
  readonly isDevice: boolean;
}

/** Whether the container gets the machine's files read-only, which needs its own mount namespace. */
export const hasReadonlyRoot = ({ linux }: ContainerConfig, kinds: ReadonlySet<NamespaceKind>): boolean =>
  linux?.securityContext?.readonlyRootfs === true && kinds.has('mount');

/** Parents come before what is below them. Source: containerd, internal/cri/server/helpers.go orderedMounts */
const wantedOf = (config: ContainerConfig): readonly Wanted[] => {
  const depth = ({ containerPath }: Wanted): number => normalize(containerPath).split('/').length;
  return [
    // A relative path could begin with a dash, and mount(8) would read it as an option.
    ...config.mounts.map((mount, index) => ({
      ...mount,
      containerPath: absolutePath(mount.containerPath),
      field: `mounts[${index}]`,
      isDevice: false,
    })),
    ...config.devices.map(({ containerPath, hostPath }, index) => ({
      ...{ hostPath, readonly: false, recursiveReadOnly: false, image: undefined, isDevice: true },
      containerPath: absolutePath(containerPath),
      field: `devices[${index}]`,
      propagation: 'PROPAGATION_PRIVATE' as const,
    })),
  ].toSorted((one, other) => depth(one) - depth(other));
};

/** Why no runtime would make the mount, or why this one does not. */
const refusalOf = (mount: Wanted, kinds: ReadonlySet<NamespaceKind>): string | undefined => {
  const { hostPath, readonly, recursiveReadOnly, propagation, image } = mount;
  if (image)
    return `image volumes are not supported by the embedded runtime, which has no images ("${image.image}" cannot be mounted)`;
  if (!hostPath.startsWith('/')) return 'the path on the machine must be absolute';
  if (recursiveReadOnly && !readonly) return 'recursive read-only needs a read-only mount';
  if (recursiveReadOnly && propagation !== 'PROPAGATION_PRIVATE')
    return 'recursive read-only needs private propagation';
  if (!kinds.has('mount'))
    return 'the embedded runtime cannot mount on this machine, since it has no mount namespaces; run as root, it would mount this for the container alone';
  if (propagation === 'PROPAGATION_BIDIRECTIONAL')
    return 'bidirectional propagation is not supported by the embedded runtime: mounts of a container never reach the machine';
  return undefined;
};

/** A mount with equal paths is no mount where the whole tree is the machine's, unless another mount hides it or is below it. */
const isThereAlready = ({ containerPath, hostPath, readonly, image }: Wanted, all: readonly Wanted[]): boolean =>
  containerPath === hostPath &&
  !readonly &&
  !image &&
  all.every(
    (other) =>
      other.containerPath === containerPath ||
      (!isBelow(other.containerPath, containerPath) && !isBelow(containerPath, other.containerPath)),
  );

/**
 * Whether mounts of the machine below the path reach a container later. Source: containerd,
 * internal/cri/opts/spec_linux_opts.go ensureSharedOrSlave
 */
const isPropagated = (path: string, mountinfo: string): boolean => {
  const mounts = mountinfo
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const [before = ''] = line.split(' - ');
      const [, , , , point = '', , ...optional] = before.split(' ');
      return {
        point: point.replaceAll(/\\(\d{3})/g, (_, code: string) => String.fromCharCode(parseInt(code, 8))),
        optional,
      };
    })
    .filter(({ point }) => isBelow(path, point));
  const nearest = Math.max(...mounts.map(({ point }) => point.length));
  const top = mounts.findLast(({ point }) => point.length === nearest);
  return top?.optional.some((field) => /^(shared|master):/.test(field)) ?? false;
};

/**
 * The bind mounts that the config asks for. A mount or device with the wanted content in place is left out. Errors:
 * INVALID_ARGUMENT with the mount that cannot be made.
 */
export const planMounts = (config: ContainerConfig, kinds: ReadonlySet<NamespaceKind>): MountPlan => {
  const tree = new ContainerTree(entryOfMachine);
  const mounts: BindMount[] = [];
  const covers = new Set<string>();
  const points: MountPoint[] = [];
  const missingSources: string[] = [];
  const all = wantedOf(config);
  for (const mount of all) {
    const { field, containerPath, hostPath, readonly, recursiveReadOnly, propagation } = mount;
    const refuse = (why: string) => invalidArgument(`${field} (${hostPath} at ${containerPath}): ${why}`);
    // Below a read-only root a path needs a mount to stay writable.
    if (!hasReadonlyRoot(config, kinds) && isThereAlready(mount, all)) continue;
    const refusal = refusalOf(mount, kinds);
    if (refusal !== undefined) throw refuse(refusal);
    const isMissing = !isThere(hostPath);
    if (isMissing && mount.isDevice) throw refuse(`${hostPath} does not exist`);
    if (isMissing) missingSources.push(hostPath);
    const source = isMissing ? normalize(hostPath) : realpathSync(hostPath);
    const isDirectory = isMissing || statSync(source).isDirectory();
    const takesMounts = propagation === 'PROPAGATION_HOST_TO_CONTAINER';
    if (takesMounts && !isPropagated(source, readFileSync('/proc/self/mountinfo', 'utf8')))
      throw refuse(
        `${hostPath} is not on a shared or slave mount of this machine, so no later mount could reach the container`,
      );

    const place = tree.place(containerPath);
    if (place.is === 'impossible') throw refuse(`the mount point cannot be made: ${place.why}`);
    if (place.path === '/') throw refuse('the root directory of a container cannot be a mount');
    let point: BindMount['point'];
    if (place.is === 'missing') {
      const { below, names } = place;
      const volume = tree.mountOf(below);
      if (volume?.readonly)
        throw refuse(
          `the mount point ${place.path} does not exist in the mount at ${volume.target}, which is read-only`,
        );
      if (KERNEL_OWN.some((own) => !volume && isBelow(below, own)))
        throw refuse(`the mount point ${place.path} cannot be made in a file system of the kernel`);
      if (volume) point = { below, names, isDirectory };
      else {
        points.push({ path: place.path, isDirectory });
        if (!tree.isMade(below)) covers.add(below);
      }
      tree.make(below, names, isDirectory);
    } else if ((place.is === 'directory') !== isDirectory) throw refuse('one is a directory and the other is not');
    tree.mount({ source, target: place.path, readonly, isDirectory });
    mounts.push({
      ...{ source, target: place.path, readonly, recursiveReadOnly, takesMounts },
      ...(point && { point }),
    });
  }
  for (const path of covers)
    if (path !== '/dev' && readdirSync(path).length > ENTRIES_MAX)
      throw invalidArgument(
        `mounts: no mount point can be made in ${path}, which has more than ${ENTRIES_MAX} entries; make it on the machine`,
      );
  return { mounts, covers: [...covers].toSorted(), points, missingSources };
};

/** Makes the missing directories of the machine that a container mounts, as containerd does. Errors: INVALID_ARGUMENT. */
export const makeMissingSources = ({ missingSources }: MountPlan): void => {
  for (const path of missingSources)
    try {
      makeDirectories(path, 0o755);
    } catch (error) {
      if (isShortage(error)) throw error;
      throw invalidArgument(`mounts: ${path} does not exist and cannot be made: ${errnoOf(error)}`);
    }
};
