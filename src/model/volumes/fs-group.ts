import type { Pod } from '../pod/pod.js';

const SETGID = 0o2000;
const READ_WRITE = 0o660;
const READ_ONLY = 0o440;
const ENTER = 0o110;

/**
 * Returns the mode of a file or directory of a volume after it was given to the group. The mode of a symbolic link
 * does not matter.
 *
 * Source: pkg/volume/volume_linux.go changeFilePermission
 */
export const fsGroupMode = (mode: number, isDirectory: boolean, isReadOnly: boolean): number =>
  (mode & 0o7777) | (isReadOnly ? READ_ONLY : READ_WRITE) | (isDirectory ? SETGID | ENTER : 0);

/**
 * Returns the only user of the containers of a pod, which owns the tokens of the pod; undefined if a container has
 * another user or none in the spec. Ephemeral containers do not count, since they have no security context of their own.
 *
 * Source: pkg/volume/util/util.go FsUserFrom
 */
export const fsUser = ({ spec }: Pod): number | undefined => {
  const users = new Set(
    [...(spec.initContainers ?? []), ...spec.containers].map(
      ({ securityContext }) => securityContext?.runAsUser ?? spec.securityContext?.runAsUser,
    ),
  );
  const [only] = users;
  return users.size === 1 ? only : undefined;
};
