import { join } from 'node:path';
import { errorText } from '../../model/cri/cri-error.js';
import type { Logger } from '../../streams/ports/logger.js';
import { delayMs } from './clock.js';
import type { Hierarchy } from './cgroup.js';
import type { NamespaceKind } from './isolation.js';
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
} from './machine.js';
import type { BindMount, MountPoint } from './mount-script.js';
import type { ProcessId } from './process-tree.js';
import { RETRY_MS } from './retry.js';
import type { UserPlan } from './users.js';

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

interface Unreadable {
  readonly id: string;
  readonly error: unknown;
}

/**
 * One directory for each entry with one JSON file in it, which is replaced as a whole. From the first save of a durable entry on, the
 * record after a loss of power is that of the last such save or of a later one. Before, it may be broken or missing.
 */
export class StateStore<Entry extends { readonly id: string }> {
  /** The entries that had a durable record. */
  private readonly kept = new Set<string>();
  private readonly unsaved = new Map<string, Entry>();
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
   * Saves a change before it is made, which must not be made otherwise. Errors: it could not be saved; the previous
   * record stays.
   */
  save(entry: Entry): void {
    this.mustBeOpen();
    const directory = this.directory(entry.id);
    const path = join(directory, this.fileName);
    makeDirectories(directory, 0o711);
    const text = JSON.stringify(entry);
    const isDurable = this.isDurable(entry);
    if (isDurable || this.kept.has(entry.id)) writeSynced(`${path}.new`, text, 0o600);
    else writeFileSync(`${path}.new`, text, { mode: 0o600 });
    renameSync(`${path}.new`, path);
    if (isDurable) {
      this.kept.add(entry.id);
      syncDirectory(directory);
      // The name of a new directory. The disk has nothing to write for an old one.
      syncDirectory(this.root);
    }
    this.unsaved.delete(entry.id);
  }

  /** Whether the record certainly does not exist. */
  isGone(id: string): boolean {
    try {
      statSync(join(this.directory(id), this.fileName));
      return false;
    } catch (error) {
      return isGone(error);
    }
  }

  /**
   * Saves a change after it was made: now, or as soon as possible. A runtime that ends before finds the same change
   * again.
   */
  saveEventually(entry: Entry): void {
    try {
      this.save(entry);
    } catch (error) {
      if (this.closed) return;
      this.log.warn({ id: entry.id, error: errorText(error) }, 'a record could not be written, will retry');
      this.unsaved.set(entry.id, entry);
      this.timer ??= setInterval(() => this.saveRest(), RETRY_MS).unref();
    }
  }

  private saveRest(): void {
    for (const entry of this.unsaved.values())
      try {
        this.save(entry);
      } catch {
        // The next attempt reports it.
      }
    if (this.unsaved.size === 0) this.stopTimer();
  }

  /**
   * Errors: it is not removed completely; the record is unchanged, or only files are left that the next start removes.
   */
  remove(id: string): void {
    this.mustBeOpen();
    rmSync(this.directory(id), { recursive: true, force: true });
    this.unsaved.delete(id);
    this.kept.delete(id);
  }

  /** Stops all writing. */
  close(): void {
    this.closed = true;
    this.stopTimer();
  }

  /** The next runtime may own the files already. */
  private mustBeOpen(): void {
    if (this.closed) throw new Error('the runtime is ending');
  }

  private stopTimer(): void {
    clearInterval(this.timer);
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
        this.kept.add(found.id);
        entries.push(found);
      }
    }
    return { entries, broken };
  }

  private async read(id: string): Promise<Entry | Unreadable | undefined> {
    for (let tries = 1; ; tries += 1) {
      try {
        const entry = JSON.parse(
          readFileSync(join(this.directory(id), this.fileName), 'utf8'),
        ) as Partial<Entry> | null;
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
      this.remove(id);
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
