/** The file types that a hostPath may ask for, with upstream's words. `…OrCreate` makes a missing path. */
const EXPECTED = {
  DirectoryOrCreate: 'a directory',
  Directory: 'a directory',
  FileOrCreate: 'a file',
  File: 'a file',
  Socket: 'a socket file',
  CharDevice: 'a character device',
  BlockDevice: 'a block device',
} as const;

export type HostPathType = keyof typeof EXPECTED;

/** Returns the type of a hostPath; undefined for an unset one. Errors: an unknown type. */
export const hostPathType = (type: string): HostPathType | undefined => {
  if (type === '') return undefined;
  if (Object.hasOwn(EXPECTED, type)) return type as HostPathType;
  throw new Error(`${type} is an invalid volume type`);
};

/** Returns the error of a path of another type. Source: pkg/volume/hostpath/host_path.go checkTypeInternal */
export const hostPathTypeError = (path: string, type: HostPathType): Error =>
  new Error(`hostPath type check failed: ${path} is not ${EXPECTED[type]}`);

/** Errors: a path with `..`. Source: pkg/volume/hostpath/host_path.go NewMounter */
export const requireHostPath = (path: string): void => {
  if (path.split('/').includes('..')) throw new Error(`invalid HostPath \`${path}\`: must not contain '..'`);
};
