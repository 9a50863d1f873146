import { dirname, join } from 'node:path';
import { errnoOf, isGone, lstatSync, readlinkSync } from '../machine/machine.js';

/** The file at a path, without following a link at its end. */
export type Entry = 'directory' | 'file' | 'missing' | { readonly link: string };

/** Where a path of a container leads to, with all links followed. */
export type Place =
  | { readonly is: 'directory' | 'file'; readonly path: string }
  | {
      readonly is: 'missing';
      readonly path: string;
      /** The nearest directory above it that exists. */
      readonly below: string;
      /** The missing names below that directory. */
      readonly names: readonly string[];
    }
  | { readonly is: 'impossible'; readonly why: string };

/** A mount in the tree; both paths are absolute, without links. */
export interface TreeMount {
  readonly source: string;
  readonly target: string;
  readonly readonly: boolean;
  readonly isDirectory: boolean;
}

/** The kernel's own limit. */
const LINKS_MAX = 40;

export const isBelow = (path: string, directory: string): boolean =>
  path === directory || path.startsWith(directory.endsWith('/') ? directory : `${directory}/`);

/** Errors: the machine cannot report it. */
export const entryOfMachine = (path: string): Entry => {
  try {
    const found = lstatSync(path);
    if (found.isSymbolicLink()) return { link: readlinkSync(path) };
    return found.isDirectory() ? 'directory' : 'file';
  } catch (error) {
    if (isGone(error) || errnoOf(error) === 'ENOTDIR') return 'missing';
    throw error;
  }
};

/** The file tree of a container while its mounts are planned: the machine's tree with the mounts planned before. */
export class ContainerTree {
  private readonly mounts: TreeMount[] = [];
  private readonly made = new Map<string, 'directory' | 'file'>();

  constructor(private readonly entryOf: (path: string) => Entry) {}

  /** Later mounts see this one. */
  mount(mount: TreeMount): void {
    for (const path of this.made.keys()) if (isBelow(path, mount.target)) this.made.delete(path);
    this.mounts.push(mount);
  }

  /** Later mounts see these new directories; the last one is a file if `isDirectory` is false. */
  make(below: string, names: readonly string[], isDirectory: boolean): void {
    for (const index of names.keys())
      this.made.set(
        join(below, ...names.slice(0, index + 1)),
        isDirectory || index < names.length - 1 ? 'directory' : 'file',
      );
  }

  isMade(path: string): boolean {
    return this.made.has(path);
  }

  /** The mount that holds the path. */
  mountOf(path: string): TreeMount | undefined {
    return this.mounts.findLast(({ target }) => isBelow(path, target));
  }

  private entry(path: string): Entry {
    const made = this.made.get(path);
    if (made) return made;
    const mount = this.mountOf(path);
    if (!mount) return this.entryOf(path);
    if (path === mount.target) return mount.isDirectory ? 'directory' : 'file';
    return this.entryOf(join(mount.source, path.slice(mount.target.length)));
  }

  /** Follows links as the kernel does for a process of the container, and a link to a missing path as runc does. */
  place(path: string): Place {
    const namesOf = (text: string): string[] => text.split('/').filter((name) => name !== '' && name !== '.');
    let at = '/';
    let names = namesOf(path);
    let links = 0;
    for (let name = names.shift(); name !== undefined; name = names.shift()) {
      if (name === '..') {
        at = dirname(at);
        continue;
      }
      const next = join(at, name);
      const entry = this.entry(next);
      if (entry === 'missing') {
        if (!names.includes('..'))
          return { is: 'missing', path: join(next, ...names), below: at, names: [name, ...names] };
        names = namesOf(join(next, ...names));
        at = '/';
      } else if (entry === 'file') {
        if (names.length > 0) return { is: 'impossible', why: `${next} is not a directory` };
        return { is: 'file', path: next };
      } else if (entry === 'directory') at = next;
      else {
        links += 1;
        if (links > LINKS_MAX) return { is: 'impossible', why: `${next} has too many levels of symbolic links` };
        if (entry.link.startsWith('/')) at = '/';
        names = [...namesOf(entry.link), ...names];
      }
    }
    return { is: 'directory', path: at };
  }
}
