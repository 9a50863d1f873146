import { join } from 'node:path';
import { errorText } from '../../../model/cri/cri-error.js';
import type { Logger } from '../../../streams/ports/logger.js';
import { delayMs } from '../machine/clock.js';
import type { Hierarchy } from '../confinement/cgroup.js';
import type { NamespaceKind } from '../confinement/isolation.js';
import {
  errnoOf,
  isGone,
  isThere,
  keepDirectories,
  makeDirectories,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  syncDirectory,
  writeFileSync,
  writeSynced,
} from '../machine/machine.js';
import type { BindMount, MountPoint } from '../mounts/mount-script.js';
import type { ProcessId } from '../confinement/process-tree.js';
import { RETRY_MS } from '../machine/retry.js';
import type { UserPlan } from '../launch/users.js';

/** The number of reads of a record before its file counts as broken. */
const READ_TRIES = 20;
const READ_AGAIN_MS = 500;

/** The record of a sandbox. Times are Unix nanoseconds as decimal strings; configs are protobuf in base64. */
export interface SandboxRecord {
  readonly id: string;
  readonly createdAt: string;
  readonly config: string;
  readonly runtimeHandler: string;
  readonly bootId: string;
  /** `creating` until the reply to the client. */
  readonly state: 'creating' | 'ready' | 'not-ready';
  /** Pid 1 of the pod's namespaces, if it has any. */
  readonly holder?: ProcessId;
  /** The pod's own namespaces; absent in a record of an earlier version. */
  readonly namespaces?: readonly NamespaceKind[];
  /** The runtime's own group, unless the pod was made without cgroups; absent in a record of an earlier version. */
  readonly group?: string;
  /** The hierarchy that tracks which process belongs to the pod; present whenever there is a group. */
  readonly tracking?: Hierarchy;
}

/** The record of a container; see `SandboxRecord` for times and configs. */
export interface ContainerRecord {
  readonly id: string;
  readonly sandboxId: string;
  readonly createdAt: string;
  readonly config: string;
  readonly bootId: string;
  readonly state: 'created' | 'starting' | 'running' | 'exited';
  /** The value by which its processes are found without a cgroup. */
  readonly mark: string;
  /** The number of start attempts; names the directory of the latest one. */
  readonly attempts: number;
  readonly mounts: readonly BindMount[];
  /** Absent in a record of an earlier version, as are the points; see `MountPlan`. */
  readonly covers?: readonly string[];
  readonly points?: readonly MountPoint[];
  readonly user: UserPlan;
  readonly supervisor?: ProcessId;
  readonly main?: ProcessId;
  readonly startedAt?: string;
  readonly finishedAt?: string;
  readonly exitCode?: number;
  readonly reason?: string;
  readonly message?: string;
}

/** A container or a sandbox in memory. */
interface Recorded<Entry> {
  readonly id: string;
  record: Entry;
}

interface Unreadable {
  readonly id: string;
  readonly error: unknown;
}

/**
 * One directory for each entry with one JSON file in it, which is replaced as a whole. From the first save of a durable entry on, the
 * record after a loss of power is that of the last such save or of a later one. Before, it may be broken or missing.
 *
 * The changes of an entry are made one after the other. Entries do not wait for each other, nor does anything else for the disk.
 */
export class StateStore<Entry extends { readonly id: string }> {
  /** The entries that had a durable record. */
  private readonly kept = new Set<string>();
  /** The entries that have a record. */
  private readonly known = new Set<string>();
  private readonly unsaved = new Map<string, Recorded<Entry>>();
  /** The last change of each entry that has not ended; it never rejects. */
  private readonly turns = new Map<string, Promise<void>>();
  private timer: NodeJS.Timeout | undefined;
  private closed = false;

  constructor(
    private readonly root: string,
    private readonly fileName: string,
    private readonly log: Logger,
    /** Whether a decision after a loss of power leans on this entry. Its save takes longer. */
    private readonly isDurable: (entry: Entry) => boolean,
  ) {
    keepDirectories(root, 0o700);
  }

  directory(id: string): string {
    return join(this.root, id);
  }

  /**
   * Saves the first record of an entry that is not durable. At once, since it waits for no disk, and the entry is made in one step.
   * Errors: it could not be saved.
   */
  saveNew(entry: Entry): void {
    this.mustBeOpen();
    makeDirectories(this.directory(entry.id), 0o711);
    this.writeUnsynced(entry);
    this.known.add(entry.id);
  }

  /**
   * Saves a change before it is made in memory, which must not be made otherwise. `change` is called more than once. Errors: it could not be
   * saved; the previous record stays.
   */
  save(owner: Recorded<Entry>, change: (record: Entry) => Entry): Promise<void> {
    return this.inTurn(owner.id, async () => {
      await this.write(change(owner.record));
      owner.record = change(owner.record);
      this.unsaved.delete(owner.id);
    });
  }

  private async write(entry: Entry): Promise<void> {
    this.mustBeOpen();
    if (!this.known.has(entry.id)) throw new Error(`the record of ${entry.id} was removed`);
    const directory = this.directory(entry.id);
    makeDirectories(directory, 0o711);
    const isDurable = this.isDurable(entry);
    if (isDurable || this.kept.has(entry.id)) {
      await writeSynced(this.draft(entry.id), JSON.stringify(entry), 0o600);
      this.mustBeOpen();
      renameSync(this.draft(entry.id), this.path(entry.id));
    } else this.writeUnsynced(entry);
    if (!isDurable) return;
    this.kept.add(entry.id);
    await syncDirectory(directory);
    // The name of a new directory. The disk has nothing to write for an old one.
    await syncDirectory(this.root);
  }

  private writeUnsynced(entry: Entry): void {
    writeFileSync(this.draft(entry.id), JSON.stringify(entry), { mode: 0o600 });
    renameSync(this.draft(entry.id), this.path(entry.id));
  }

  private path(id: string): string {
    return join(this.directory(id), this.fileName);
  }

  private draft(id: string): string {
    return `${this.path(id)}.new`;
  }

  /** Does it after all earlier changes of the entry. */
  private inTurn(id: string, work: () => void | Promise<void>): Promise<void> {
    const result = (this.turns.get(id) ?? Promise.resolve()).then(work);
    const settled = result
      .catch(() => undefined)
      .then(() => {
        if (this.turns.get(id) === settled) this.turns.delete(id);
      });
    this.turns.set(id, settled);
    return result;
  }

  /** Whether the record certainly does not exist. */
  isGone(id: string): boolean {
    try {
      statSync(this.path(id));
      return false;
    } catch (error) {
      return isGone(error);
    }
  }

  /**
   * Saves a change that was made: now, or as soon as possible. A runtime that ends before finds the same change again. Resolves after the
   * first attempt, when the change is in memory. Errors: none.
   */
  saveEventually(owner: Recorded<Entry>, change: (record: Entry) => Entry): Promise<void> {
    return this.inTurn(owner.id, async () => {
      try {
        await this.write(change(owner.record));
        this.unsaved.delete(owner.id);
      } catch (error) {
        if (!this.closed && this.known.has(owner.id)) {
          this.log.warn({ id: owner.id, error: errorText(error) }, 'a record could not be written, will retry');
          this.unsaved.set(owner.id, owner);
          this.retryLater();
        }
      }
      owner.record = change(owner.record);
    });
  }

  private retryLater(): void {
    this.timer ??= setTimeout(() => void this.saveRest(), RETRY_MS).unref();
  }

  private async saveRest(): Promise<void> {
    const same = (record: Entry): Entry => record;
    // The next attempt reports an error.
    await Promise.allSettled([...this.unsaved.values()].map((owner) => this.save(owner, same)));
    this.stopTimer();
    if (this.unsaved.size > 0 && !this.closed) this.retryLater();
  }

  /**
   * Errors: it is not removed completely; the record is unchanged, or only files are left that the next start removes.
   */
  remove(id: string): Promise<void> {
    return this.inTurn(id, () => this.removeNow(id));
  }

  private removeNow(id: string): void {
    this.mustBeOpen();
    rmSync(this.directory(id), { recursive: true, force: true });
    this.unsaved.delete(id);
    this.known.delete(id);
    this.kept.delete(id);
  }

  /** Stops all writing; resolves when none is under way. */
  async close(): Promise<void> {
    this.closed = true;
    this.stopTimer();
    await Promise.all(this.turns.values());
  }

  /** The next runtime may own the files already. */
  private mustBeOpen(): void {
    if (this.closed) throw new Error('the runtime is ending');
  }

  private stopTimer(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  /**
   * All saved entries, and the IDs of those that cannot be read, which stay unchanged. A directory without a record was
   * being made or removed: no process belongs to it, and it is removed. Errors: the machine is short of descriptors or
   * memory for more than ten seconds, which says nothing about any record.
   */
  async load(): Promise<{ readonly entries: readonly Entry[]; readonly broken: readonly string[] }> {
    const entries: Entry[] = [];
    const broken: string[] = [];
    for (const entry of readdirSync(this.root, { withFileTypes: true })) {
      if (!entry.isDirectory()) continue;
      const found = await this.read(entry.name);
      if (found === undefined) this.removeRest(entry.name);
      else if ('error' in found) {
        if (['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN'].includes(errnoOf(found.error))) throw found.error;
        this.log.error({ id: found.id, error: errorText(found.error) }, 'a record cannot be read');
        broken.push(found.id);
      } else {
        this.known.add(found.id);
        this.kept.add(found.id);
        entries.push(found);
      }
    }
    return { entries, broken };
  }

  private async read(id: string): Promise<Entry | Unreadable | undefined> {
    for (let tries = 1; ; tries += 1) {
      try {
        const entry = JSON.parse(readFileSync(this.path(id), 'utf8')) as Partial<Entry> | null;
        if (entry?.id !== id) throw new SyntaxError('the record has another ID than its directory');
        return entry as Entry;
      } catch (error) {
        if (isGone(error)) return undefined;
        // The content of the file does not change, failures of the machine may pass.
        if (error instanceof SyntaxError || tries === READ_TRIES) return { id, error };
        await delayMs(READ_AGAIN_MS);
      }
    }
  }

  private removeRest(id: string): void {
    try {
      this.removeNow(id);
    } catch (error) {
      this.log.warn({ id, error: errorText(error) }, 'cannot remove the rest of a removed record');
    }
  }

  /** Moves an unreadable record out of the directory of records, for an administrator; returns its new path. */
  setAside(id: string): string {
    const aside = `${this.root}-unreadable`;
    makeDirectories(aside, 0o700);
    let place = join(aside, id);
    for (let copy = 2; isThere(place); copy += 1) place = join(aside, `${id}-${copy}`);
    renameSync(this.directory(id), place);
    return place;
  }
}
