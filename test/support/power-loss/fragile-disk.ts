import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { FileOperation } from './file-operation.js';

interface FileNode {
  readonly kind: 'file';
  mode: number;
  data: Buffer;
  /** Undefined until the first sync. */
  synced: Buffer | undefined;
  /** The position of the next write; undefined for the end. */
  position: number | undefined;
}
interface DirectoryNode {
  readonly kind: 'directory';
  mode: number;
  readonly entries: Map<string, Node>;
  /** The entries at the last sync, and all changes since then. */
  synced: ReadonlyMap<string, Node>;
  changes: Change[];
}
interface LinkNode {
  readonly kind: 'link';
  readonly target: string;
}
type Node = FileNode | DirectoryNode | LinkNode;

/** One call changes one or two names of a directory at once; undefined removes the name. */
type Change = readonly (readonly [name: string, node: Node | undefined])[];

/** What becomes of a change that is not synced. */
export interface Losses {
  /** The number of changes of a directory that survive, of `count` since its last sync: the oldest ones. */
  readonly kept: (count: number) => number;
  /** The content of a file that was written since its last sync. */
  readonly content: (written: Buffer, synced: Buffer | undefined) => Buffer;
}

/** Everything that has not been synced is lost; a file whose name survives is empty if it was never synced. */
export const ALL_LOST: Losses = { kept: () => 0, content: (_, synced) => synced ?? Buffer.alloc(0) };
/** Every name survives, and no content that was not synced: the order in which many file systems write. */
export const CONTENT_LOST: Losses = { ...ALL_LOST, kept: (count) => count };
/** Nothing is lost, as if only the processes had ended. */
export const NOTHING_LOST: Losses = { kept: (count) => count, content: (written) => written };

/** What is drawn: how many names of each directory survive, and the old, the new, an empty or a cut off content of each file. */
export const drawnLosses = (between: (low: number, high: number) => number): Losses => ({
  kept: (count) => between(0, count),
  content: (written, synced) => {
    const choices = [written, synced ?? Buffer.alloc(0), written.subarray(0, between(0, written.length))];
    return choices[between(0, choices.length - 1)]!;
  },
});

const newDirectory = (mode: number): DirectoryNode => ({
  kind: 'directory',
  mode,
  entries: new Map(),
  synced: new Map(),
  changes: [],
});

/**
 * The files below a directory, with the difference between what programs see and what a loss of power leaves. What a program syncs is kept: the
 * content of a file, and the names in a directory, each by a sync of its own. Of the other changes of a directory the later ones are lost before the
 * earlier ones; one directory or file says nothing about another.
 */
export class FragileDisk {
  private readonly top = newDirectory(0o755);

  constructor(private readonly root: string) {}

  /** Errors: a path that does not exist. */
  apply(operation: FileOperation): void {
    switch (operation.kind) {
      case 'open':
        return this.open(operation);
      case 'write':
        return this.write(operation);
      case 'truncate': {
        const file = this.find(operation.path);
        if (file?.kind === 'file') file.data = resized(file.data, operation.length);
        return;
      }
      case 'chmod': {
        const node = this.find(operation.path);
        if (node && node.kind !== 'link') node.mode = operation.mode & 0o7777;
        return;
      }
      case 'mkdir':
        return this.change(operation.path, newDirectory(operation.mode & ~0o022));
      case 'symlink':
        return this.change(operation.path, { kind: 'link', target: operation.target });
      case 'remove':
        return this.change(operation.path, undefined);
      case 'rename':
        return this.rename(operation.from, operation.to);
      case 'sync':
        return this.sync(operation.path);
    }
  }

  /** The text of a file as programs see it; undefined without one. */
  text(path: string): string | undefined {
    const node = this.find(path);
    return node?.kind === 'file' ? node.data.toString() : undefined;
  }

  /** Makes the files of `path` in the real directory `path`, as they are after a loss of power now. */
  leave(path: string, losses: Losses, rewritten: (content: Buffer) => Buffer): void {
    const node = this.find(path);
    if (node?.kind !== 'directory') throw new Error(`${path} is no directory`);
    this.leaveDirectory(path, node, losses, rewritten);
  }

  private leaveDirectory(
    path: string,
    node: DirectoryNode,
    losses: Losses,
    rewritten: (content: Buffer) => Buffer,
  ): void {
    mkdirSync(path, { recursive: true });
    chmodSync(path, node.mode);
    const entries = new Map(node.synced);
    for (const change of node.changes.slice(0, losses.kept(node.changes.length))) put(entries, change);
    for (const [name, child] of entries) {
      const at = join(path, name);
      if (child.kind === 'directory') this.leaveDirectory(at, child, losses, rewritten);
      else if (child.kind === 'link') symlinkSync(child.target, at);
      else {
        const isSynced = child.synced?.equals(child.data) === true;
        writeFileSync(at, rewritten(isSynced ? child.data : losses.content(child.data, child.synced)));
        chmodSync(at, child.mode);
      }
    }
  }

  private open({ path, mode, flags }: Extract<FileOperation, { kind: 'open' }>): void {
    const found = this.find(path);
    if (!found) {
      // Without O_CREAT it is a pipe or device, which strace has not seen made.
      if (!flags.includes('O_CREAT')) return;
      const file: FileNode = {
        kind: 'file',
        mode: mode & ~0o022,
        data: Buffer.alloc(0),
        synced: undefined,
        position: 0,
      };
      return this.change(path, file);
    }
    if (found.kind !== 'file') return;
    if (flags.includes('O_TRUNC')) found.data = Buffer.alloc(0);
    found.position = flags.includes('O_APPEND') ? undefined : 0;
  }

  private write({ path, data, offset }: Extract<FileOperation, { kind: 'write' }>): void {
    const file = this.find(path);
    if (file?.kind !== 'file') return;
    const at = offset ?? file.position ?? file.data.length;
    const next = resized(file.data, Math.max(file.data.length, at + data.length));
    data.copy(next, at);
    file.data = next;
    if (offset === undefined && file.position !== undefined) file.position += data.length;
  }

  private rename(from: string, to: string): void {
    const node = this.find(from);
    // A pipe or socket.
    if (!node) return;
    const [source, target] = [this.directoryOf(from), this.directoryOf(to)];
    const [left, entered] = [[nameOf(from), undefined] as const, [nameOf(to), node] as const];
    if (source === target) return change(source, [left, entered]);
    change(target, [entered]);
    change(source, [left]);
  }

  private sync(path: string): void {
    const node = path === this.root ? this.top : this.find(path);
    if (node?.kind === 'file') node.synced = Buffer.from(node.data);
    if (node?.kind !== 'directory') return;
    node.synced = new Map(node.entries);
    node.changes = [];
  }

  private change(path: string, node: Node | undefined): void {
    change(this.directoryOf(path), [[nameOf(path), node]]);
  }

  private directoryOf(path: string): DirectoryNode {
    const directory = dirname(path) === this.root ? this.top : this.find(dirname(path));
    if (directory?.kind !== 'directory') throw new Error(`there is no directory of ${path}`);
    return directory;
  }

  /** Undefined for files that are no files, directories or links, and for what was removed. */
  private find(path: string): Node | undefined {
    let node: Node | undefined = this.top;
    for (const name of relative(this.root, path).split('/')) {
      if (node?.kind !== 'directory') return undefined;
      node = node.entries.get(name);
    }
    return node;
  }
}

const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

const put = (entries: Map<string, Node>, change: Change): void => {
  for (const [name, node] of change) {
    if (node) entries.set(name, node);
    else entries.delete(name);
  }
};

const change = (directory: DirectoryNode, made: Change): void => {
  put(directory.entries, made);
  directory.changes.push(made);
};

const resized = (data: Buffer, length: number): Buffer => {
  const next = Buffer.alloc(length);
  data.copy(next);
  return next;
};
