import { existsSync, mkdirSync, rmSync, rmdirSync, statSync, statfsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ContainerConfig, Mount } from '../../generated/runtime/v1/api.js';
import { absolutePath } from '../../model/cri/absolute-path.js';
import { HOSTS_PATH } from '../../model/cri/hosts-file.js';
import { parseContainerAnnotations } from '../../model/cri/labels.js';
import type { Isolation, NamespaceKind } from './isolation.js';
import type { BindMount, MountPoint } from './payload.js';
import { invalidArgument } from './runtime-error.js';

export interface MountPlan {
  readonly mounts: readonly BindMount[];
  /** Mount points that only the container's own /dev will have. */
  readonly devPoints: readonly MountPoint[];
  /** Mount points that do not exist yet and that may be made, since their file system does not survive a boot anyway. */
  readonly placeholders: readonly MountPoint[];
  /** Those of the config that are not made, since they have no mount point and the container can do without. */
  readonly leftOut: readonly Mount[];
}

const isBelow = (path: string, directory: string): boolean =>
  path === directory || path.startsWith(directory.endsWith('/') ? directory : `${directory}/`);

const TMPFS_MAGIC = 0x01021994;
const RAMFS_MAGIC = 0x858458f6;

const nearestExisting = (path: string): string => (existsSync(path) ? path : nearestExisting(dirname(path)));

const isVolatile = (path: string): boolean =>
  [TMPFS_MAGIC, RAMFS_MAGIC].includes(statfsSync(nearestExisting(path)).type);

/** What an agent puts into every container, wanted or not: the machine's own hosts file does as well, and last words may be lost. */
const isDispensable = (path: string, { annotations }: ContainerConfig): boolean => {
  const { terminationMessagePath } = parseContainerAnnotations(annotations);
  return path === HOSTS_PATH || (terminationMessagePath !== '' && path === absolutePath(terminationMessagePath));
};

/**
 * The bind mounts that the config asks for. A mount or device that is already what it should be needs none. Errors: INVALID_ARGUMENT
 * naming the mount that cannot be made.
 */
export const planMounts = (
  config: ContainerConfig,
  kinds: ReadonlySet<NamespaceKind>,
  { canCoverDev }: Pick<Isolation, 'canCoverDev'>,
): MountPlan => {
  const mounts: BindMount[] = [];
  const placeholders: MountPoint[] = [];
  const devPoints: MountPoint[] = [];
  const leftOut: Mount[] = [];
  const wanted = [
    ...config.mounts.map((mount, index) => ({ ...mount, field: `mounts[${index}]` })),
    ...config.devices.map(({ containerPath, hostPath }, index) => ({
      ...{ containerPath, hostPath, readonly: false, image: undefined, field: `devices[${index}]` },
      propagation: 'PROPAGATION_PRIVATE' as const,
    })),
  ];
  for (const { field, containerPath, hostPath, readonly, propagation, image } of wanted) {
    const refuse = (why: string) => invalidArgument(`${field} (${hostPath} at ${containerPath}): ${why}`);
    if (image) throw refuse('image volumes are not supported by the embedded runtime');
    if (containerPath === hostPath && !readonly) continue;
    if (!kinds.has('mount'))
      throw refuse('the embedded runtime cannot mount here, since it has no mount namespaces (not root?)');
    if (propagation === 'PROPAGATION_BIDIRECTIONAL') throw refuse('bidirectional propagation is not supported');
    if (!existsSync(hostPath)) throw refuse(`${hostPath} does not exist`);
    // The mount point may lie in what an earlier mount puts there.
    const above = mounts.findLast(({ target }) => isBelow(containerPath, target));
    const mountPoint = above ? join(above.source, containerPath.slice(above.target.length)) : containerPath;
    const isDirectory = statSync(hostPath).isDirectory();
    if (!existsSync(mountPoint)) {
      const isInDev = !above && canCoverDev && nearestExisting(mountPoint) === '/dev';
      if (!isInDev && (above || !isVolatile(mountPoint))) {
        const unmade = config.mounts.find((mount) => mount.containerPath === containerPath);
        if (unmade && isDispensable(containerPath, config)) {
          leftOut.push(unmade);
          continue;
        }
        throw refuse(
          `the mount point ${mountPoint} does not exist on this machine, whose file system is the container's`,
        );
      }
      (isInDev ? devPoints : placeholders).push({ path: mountPoint, isDirectory });
    } else if (statSync(mountPoint).isDirectory() !== isDirectory)
      throw refuse('one is a directory and the other is not');
    mounts.push({ source: hostPath, target: containerPath, readonly, recursive: !readonly && isDirectory });
  }
  return { mounts, devPoints, placeholders, leftOut };
};

/** The empty mount points and the directories above them that have to be made, outermost first. */
export const placeholderPaths = ({ placeholders }: MountPlan): string[] =>
  placeholders.flatMap(({ path }) => {
    const missing: string[] = [];
    for (let next = path; !existsSync(next); next = dirname(next)) missing.unshift(next);
    return missing;
  });

export const makePlaceholders = ({ placeholders }: MountPlan): void => {
  for (const { path, isDirectory } of placeholders) {
    mkdirSync(isDirectory ? path : dirname(path), { recursive: true });
    if (!isDirectory) writeFileSync(path, '', { flag: 'a' });
  }
};

/** Removes mount points that nobody needs any more; one that has got content stays. */
export const removePlaceholders = (paths: readonly string[]): void => {
  for (const path of paths.toReversed())
    try {
      if (statSync(path).isDirectory()) rmdirSync(path);
      else if (statSync(path).size === 0) rmSync(path);
    } catch {
      // Somebody else removed it or uses it.
    }
};
