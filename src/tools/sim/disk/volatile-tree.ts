import { FileTree } from './file-tree.js';
import type { SeededRandom } from '../world/seeded-random.js';

/** A file system writes its journal within this time: ext4 commits every 5 s. Milliseconds. */
export const COMMIT_MS = 5_000;

/** A change that is not on the disk yet. */
interface Unsynced {
  readonly atMs: number;
  readonly path: string;
  readonly redo: (tree: FileTree) => void;
  /** The file is there, but none of its content is. */
  readonly redoEmpty?: (tree: FileTree) => void;
}

/** Files of which the changes of the last seconds are only in memory, so that a loss of power may undo them. */
export class VolatileTree extends FileTree {
  readonly #durable: FileTree;
  #unsynced: Unsynced[] = [];
  #depth = 0;

  constructor(private readonly clockMs: () => number) {
    super(clockMs);
    this.#durable = new FileTree(clockMs);
  }

  override makeDirectory(path: string): void {
    this.#change(() => super.makeDirectory(path), { path, redo: (tree) => tree.makeDirectory(path) });
  }

  override remove(path: string): void {
    this.#change(() => super.remove(path), { path, redo: (tree) => tree.remove(path) });
  }

  override removeFile(path: string): void {
    this.#change(() => super.removeFile(path), { path, redo: (tree) => tree.removeFile(path) });
  }

  override write(path: string, text: string): void {
    const redo = (tree: FileTree): void => tree.write(path, text);
    this.#change(() => super.write(path, text), { path, redo, redoEmpty: (tree) => tree.write(path, '') });
  }

  override link(target: string, path: string): void {
    this.#change(() => super.link(target, path), { path, redo: (tree) => tree.link(target, path) });
  }

  override rename(from: string, to: string): void {
    this.#change(() => super.rename(from, to), { path: to, redo: (tree) => tree.rename(from, to) });
  }

  override compress(path: string): void {
    this.#change(() => super.compress(path), { path, redo: (tree) => tree.compress(path) });
  }

  override openLog(path: string, bytesPerSecond: number): void {
    this.#change(() => super.openLog(path, bytesPerSecond), {
      path,
      redo: (tree) => tree.openLog(path, bytesPerSecond),
    });
  }

  override closeLog(path: string): void {
    this.#change(() => super.closeLog(path), { path, redo: (tree) => tree.closeLog(path) });
  }

  /** Puts the entry of that path and those above it on the disk, with all that has changed about them. */
  sync(path: string): void {
    const isAbove = (change: Unsynced): boolean => `${path}/`.startsWith(`${change.path}/`);
    for (const { redo } of this.#unsynced.filter(isAbove)) redone(redo, this.#durable);
    this.#unsynced = this.#unsynced.filter((change) => !isAbove(change));
  }

  /** Puts everything on the disk. */
  syncAll(): void {
    for (const { redo } of this.#unsynced.splice(0)) redone(redo, this.#durable);
  }

  /**
   * Keeps what is on the disk, and of the changes of the last `COMMIT_MS` either those before some moment, or any of them: a journal keeps
   * their order, and a file system without one does not. The content of a file may be lost without the file.
   */
  losePower(draw: SeededRandom): void {
    this.#commit();
    const isInOrder = draw.chance(0.5);
    const left = isInOrder ? draw.integer(0, this.#unsynced.length) : this.#unsynced.length;
    for (const { redo, redoEmpty } of this.#unsynced.slice(0, left)) {
      if (!isInOrder && draw.chance(0.5)) continue;
      redone(redoEmpty && draw.chance(0.2) ? redoEmpty : redo, this.#durable);
    }
    this.#unsynced = [];
    this.become(this.#durable.copy());
  }

  #change(act: () => void, change: Omit<Unsynced, 'atMs'>): void {
    this.#depth += 1;
    try {
      act();
    } finally {
      this.#depth -= 1;
    }
    // A change that is a part of another one is lost or kept with it.
    if (this.#depth > 0) return;
    this.#commit();
    this.#unsynced.push({ atMs: this.clockMs(), ...change });
  }

  #commit(): void {
    const committed = this.#unsynced.findIndex(({ atMs }) => atMs > this.clockMs() - COMMIT_MS);
    const count = committed === -1 ? this.#unsynced.length : committed;
    for (const { redo } of this.#unsynced.splice(0, count)) redone(redo, this.#durable);
  }
}

/** A change whose directory or file was lost has no effect. */
const redone = (redo: (tree: FileTree) => void, tree: FileTree): void => {
  try {
    redo(tree);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
  }
};
