/** One side of a copy: a path of a pod, or of this machine. */
export interface CopySide {
  readonly pod?: string;
  readonly namespace?: string;
  readonly path: string;
}

/** A copy in one direction; paths are those of the command line. */
export type CopyRequest =
  | { readonly kind: 'from-pod'; readonly pod: CopySide & { readonly pod: string }; readonly local: string }
  | { readonly kind: 'to-pod'; readonly pod: CopySide & { readonly pod: string }; readonly local: string };

/**
 * Parses `[[namespace/]pod:]path`. A path that begins with a slash or a dot is one of this machine, also with a colon.
 *
 * Source: staging/src/k8s.io/kubectl/pkg/cmd/cp/cp.go extractFileSpec
 */
const copySide = (text: string): CopySide => {
  const colon = text.indexOf(':');
  if (colon < 0 || /^[./]/.test(text)) return { path: text };
  const [first = '', second, more] = text.slice(0, colon).split('/');
  if (first === '' || second === '' || more !== undefined) {
    throw new Error('filespec must match the canonical format: [[namespace/]pod:]file/path');
  }
  const path = text.slice(colon + 1);
  return second === undefined ? { pod: first, path } : { namespace: first, pod: second, path };
};

/** Node decodes the bytes of an argument that are not UTF-8 to this character. */
const REPLACED = '\uFFFD';

/**
 * Parses the operands of a copy. Errors: not one of the two is a path of a pod, in the texts of kubectl; one is not UTF-8.
 *
 * Source: staging/src/k8s.io/kubectl/pkg/cmd/cp/cp.go Run
 */
export const copyRequest = (source: string, target: string): CopyRequest => {
  for (const operand of [source, target]) {
    if (!operand.includes(REPLACED)) continue;
    throw new Error(
      `the path ${JSON.stringify(operand)} is not UTF-8 (expected one that is; copy the folder around it)`,
    );
  }
  const [from, to] = [copySide(source), copySide(target)];
  if (from.pod !== undefined && to.pod !== undefined) {
    throw new Error('one of src or dest must be a local file specification');
  }
  if (from.path === '' || to.path === '') throw new Error('filepath can not be empty');
  if (from.pod !== undefined) return { kind: 'from-pod', pod: { ...from, pod: from.pod }, local: to.path };
  if (to.pod !== undefined) return { kind: 'to-pod', pod: { ...to, pod: to.pod }, local: from.path };
  throw new Error('one of src or dest must be a remote file specification');
};

/** Without `.`, `..` where possible, and double slashes; `.` for nothing. */
const clean = (path: string): string => {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part === '..' && parts.length > 0 && parts.at(-1) !== '..') parts.pop();
    else if (part !== '..' || !path.startsWith('/')) parts.push(part);
  }
  return `${path.startsWith('/') ? '/' : ''}${parts.join('/')}` || '.';
};

/** The last part of a path. */
export const baseName = (path: string): string => clean(path).split('/').at(-1) || '/';

/** The place of a copied file in the pod: the folder for `tar -C`, and the name in it. */
export interface UploadPlace {
  readonly folder: string;
  readonly name: string;
  /** Whether the source has no name of its own: its content goes into the folder that was given, which exists. */
  readonly isThere: boolean;
}

export const uploadPlace = (path: string, source: string, isFolder: boolean): UploadPlace => {
  const own = baseName(source);
  const whole = clean(isFolder ? `${path}/${own === '/' ? '' : own}` : path);
  const isThere = isFolder && ['/', '.', '..'].includes(own);
  const slash = whole.lastIndexOf('/');
  if (slash < 0) return { folder: '.', name: whole, isThere };
  return { folder: whole.slice(0, slash) || '/', name: whole.slice(slash + 1) || '.', isThere };
};

/** Returns the path as an operand of `tar`, which reads a dash at the beginning as that of an option. kubectl passes the path itself. */
export const tarOperand = (path: string): string => (path.startsWith('-') ? `./${path}` : path);

/**
 * Returns the path of an entry of an archive below the copied path, beginning with a slash, or empty for that path itself; undefined
 * if it leads out of there. The archive is made by a program of the container, and may contain any name.
 *
 * Errors: the entry is not below the path that was copied.
 * Source: staging/src/k8s.io/kubectl/pkg/cmd/cp/cp.go untarAll, stripPathShortcuts
 */
export const entryPath = (entry: string, copied: string): string | undefined => {
  if (entry.split('/').includes('..')) return undefined;
  // `tar` leaves the shortcuts at the beginning out of the names.
  const prefix = clean(copied.replace(/^\/+/, '')).replace(/^(?:\.\.(?:\/|$))+/, '') || '.';
  const name = clean(entry.replace(/^\/+/, ''));
  if (prefix === '.') return name === '.' ? '' : `/${name}`;
  if (name !== prefix && !name.startsWith(`${prefix}/`)) throw new Error('tar contents corrupted');
  return name.slice(prefix.length);
};
