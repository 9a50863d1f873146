import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BindMount, MountPoint } from './payload.js';
import type { ProcessId } from './process-tree.js';
import type { UserPlan } from './users.js';

/** What is kept of a sandbox. Times are Unix nanoseconds as decimal strings; configs are protobuf in base64. */
export interface SandboxRecord {
  readonly id: string;
  readonly createdAt: string;
  readonly config: string;
  readonly runtimeHandler: string;
  readonly bootId: string;
  /** `creating` until the caller could have been told of it. */
  readonly state: 'creating' | 'ready' | 'not-ready';
  /** Pid 1 of the pod's namespaces, where there are any. */
  readonly holder?: ProcessId;
}

/** What is kept of a container; see `SandboxRecord` for times and configs. */
export interface ContainerRecord {
  readonly id: string;
  readonly sandboxId: string;
  readonly createdAt: string;
  readonly config: string;
  readonly bootId: string;
  readonly state: 'created' | 'starting' | 'running' | 'exited';
  /** The value by which its processes are found without a cgroup. */
  readonly mark: string;
  /** How often a start was tried; names the directory of the latest attempt. */
  readonly attempts: number;
  /** Empty mount points that had to be made on this machine. */
  readonly placeholders: readonly string[];
  readonly mounts: readonly BindMount[];
  /** Absent in a record of an earlier version. */
  readonly devPoints?: readonly MountPoint[];
  readonly user: UserPlan;
  readonly supervisor?: ProcessId;
  readonly main?: ProcessId;
  readonly startedAt?: string;
  readonly finishedAt?: string;
  readonly exitCode?: number;
  readonly reason?: string;
  readonly message?: string;
}

/** One directory per thing with one JSON file in it, replaced as a whole. */
export class StateStore<Entry extends { readonly id: string }> {
  constructor(
    private readonly root: string,
    private readonly fileName: string,
  ) {
    mkdirSync(root, { recursive: true, mode: 0o700 });
  }

  directory(id: string): string {
    return join(this.root, id);
  }

  save(entry: Entry): void {
    const path = join(this.directory(entry.id), this.fileName);
    mkdirSync(this.directory(entry.id), { recursive: true, mode: 0o711 });
    writeFileSync(`${path}.new`, JSON.stringify(entry), { mode: 0o600 });
    renameSync(`${path}.new`, path);
  }

  remove(id: string): void {
    rmSync(this.directory(id), { recursive: true, force: true });
  }

  /** Everything that was saved. A directory without a readable record was being made or removed, and is removed now. */
  load(): Entry[] {
    return readdirSync(this.root).flatMap((id) => {
      try {
        return [JSON.parse(readFileSync(join(this.directory(id), this.fileName), 'utf8')) as Entry];
      } catch {
        this.remove(id);
        return [];
      }
    });
  }
}
