import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { isAlive, processId } from '../../src/runtime/embedded/confinement/process-tree.js';
import { eventually } from '../embedded/eventually.js';
import { killProcess } from '../support/kill-process.js';
import { ApiUser, type Credentials, Refusal } from './api-user.js';
import { type AuditEntry, readAudit } from './audit.js';

const run = promisify(execFile);
export const stageScript = (name: string): string => fileURLToPath(new URL(`stage/${name}`, import.meta.url));

/** A real API server with its data, in a folder: `test/cluster/stage`. */
export class Cluster {
  private user: ApiUser | undefined;

  private constructor(
    readonly folder: string,
    readonly address: string,
  ) {}

  /** Starts it in the folder unless it runs. Errors: what the machine lacks. */
  static async up(folder: string): Promise<Cluster> {
    // It says what was wrong itself.
    const { stdout } = await run(stageScript('up.sh'), [folder]);
    return new Cluster(folder, stdout.trim());
  }

  static async down(folder: string): Promise<void> {
    if (existsSync(folder)) await run(stageScript('down.sh'), [folder]);
  }

  /** One without any other user, while `use` runs. */
  static async ofItsOwn<T>(use: (cluster: Cluster) => Promise<T>): Promise<T> {
    const parent = mkdtempSync(join(tmpdir(), 'rxc-'));
    const folder = join(parent, 'cluster');
    try {
      const cluster = await Cluster.up(folder);
      try {
        return await use(cluster);
      } finally {
        cluster.close();
      }
    } finally {
      await Cluster.down(folder);
      rmSync(parent, { recursive: true, force: true });
    }
  }

  /** A user with all rights. */
  get admin(): ApiUser {
    return (this.user ??= new ApiUser(this.address, this.credentials('admin'), true));
  }

  /** The user whose certificate is in the folder. */
  as(name: string): ApiUser {
    return new ApiUser(this.address, this.credentials(name));
  }

  credentials(name: string): Required<Omit<Credentials, 'token'>> {
    const pem = (file: string): string => readFileSync(join(this.folder, 'pki', file), 'utf8');
    return { ca: pem('ca.crt'), cert: pem(`${name}.crt`), key: pem(`${name}.key`) };
  }

  /** Where the kubeconfig of a node is; `server` is a proxy that it asks instead. */
  async kubeconfig(node: string, server?: string): Promise<string> {
    const { stdout } = await run(stageScript('node.sh'), [
      this.folder,
      node,
      ...(server === undefined ? [] : [server]),
    ]);
    return stdout.trim();
  }

  /** A namespace in which there may be pods. */
  async namespace(name: string): Promise<string> {
    await createUnlessThere(this.admin, '/api/v1/namespaces', { metadata: { name } });
    // A controller would make it. No token is mounted: this server would look for a Secret that a controller makes.
    await createUnlessThere(this.admin, `/api/v1/namespaces/${name}/serviceaccounts`, {
      metadata: { name: 'default' },
      automountServiceAccountToken: false,
    });
    return name;
  }

  /** What nodes have asked for so far. */
  audit(): readonly AuditEntry[] {
    return readAudit(join(this.folder, 'audit.log'));
  }

  /** Kills the API server at once; its data stay. */
  async kill(): Promise<void> {
    const server = processId(Number(readFileSync(join(this.folder, 'kube-apiserver.pid'), 'utf8')));
    killProcess(server?.pid);
    await eventually('the API server has ended', () => server && !isAlive(server));
    // Its connections are dead.
    this.close();
  }

  /** Brings a killed one back, where it was. */
  async restart(): Promise<void> {
    await run(stageScript('up.sh'), [this.folder]);
  }

  /** Kills the API server, and brings it back when `act` has come to its end, also to a bad one. */
  async outage(act: () => Promise<void> = async () => undefined): Promise<void> {
    try {
      await this.kill();
      await act();
    } finally {
      await this.restart();
    }
  }

  close(): void {
    this.user?.close();
    this.user = undefined;
  }
}

const createUnlessThere = async (user: ApiUser, path: string, object: object): Promise<void> => {
  try {
    await user.create(path, object);
  } catch (error) {
    if (!(error instanceof Refusal) || error.reason !== 'AlreadyExists') throw error;
  }
};
