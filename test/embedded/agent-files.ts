import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ContainerStatus } from '../../src/generated/runtime/v1/api.js';
import { manifest, type PodOf } from './manifests.js';

export const NODE_NAME = 'node1';

export interface LogLine {
  readonly stream: string;
  readonly tag: string;
  readonly content: string;
}

/** What an agent of a test reads and writes: a folder with manifests, its root directory, and the logs of its pods. */
export class AgentFiles {
  readonly directory = mkdtempSync(join(tmpdir(), 'rxd-'));
  readonly manifests = join(this.directory, 'manifests');
  readonly rootDir = join(this.directory, 'root');

  constructor() {
    // Containers of other users have to get through.
    chmodSync(this.directory, 0o755);
    mkdirSync(this.manifests);
    mkdirSync(this.rootDir);
  }

  /** Writes a `KubeletConfiguration` with these fields; where it is, for `--config`. */
  configuration(fields: Readonly<Record<string, unknown>>): string {
    const path = join(this.directory, 'config.json');
    // The disk of the machine may be nearly full, and no pod of a test is to end for that.
    const evictionHard = { 'memory.available': '0%' };
    const kind = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' };
    writeFileSync(path, JSON.stringify({ ...kind, evictionHard, ...fields }));
    return path;
  }

  /** Puts a file in place as a whole. */
  write(file: string, content: string): void {
    const draft = join(this.directory, `draft-${file}`);
    writeFileSync(draft, content);
    renameSync(draft, join(this.manifests, file));
  }

  /** Puts the manifest of a pod into the file of its name. */
  apply(pod: PodOf): void {
    this.write(`${pod.name}.yaml`, manifest(this.directory, pod));
  }

  /** Takes the pod of that name away at once: a file that is deleted may just be on its way back, and counts only after 2 s. */
  withdraw(pod: string): void {
    this.write(`${pod}.yaml`, '# no pods\n');
  }

  delete(file: string): void {
    rmSync(join(this.manifests, file), { force: true });
  }

  /** Names of the files in a container's log directory. */
  logFiles(pod: string, name = 'main'): string[] {
    const root = join(this.rootDir, 'pod-logs');
    return readdirSync(root)
      .filter((folder) => folder.startsWith(`default_${pod}-${NODE_NAME}_`))
      .flatMap((folder) => (existsSync(join(root, folder, name)) ? readdirSync(join(root, folder, name)) : []));
  }

  /** The lines of a log on disk. Errors: a line that is not in the format of CRI logs. */
  logLines({ logPath }: Pick<ContainerStatus, 'logPath'>): LogLine[] {
    return readFileSync(logPath, 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => {
        const match = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z (stdout|stderr) ([FP]) (.*)$/s.exec(line);
        if (!match) throw new Error(`not a line of a CRI log: ${JSON.stringify(line)}`);
        return { stream: match[1] ?? '', tag: match[2] ?? '', content: match[3] ?? '' };
      });
  }

  /** What it wrote, line by line, without what the log adds. */
  output(status: Pick<ContainerStatus, 'logPath'>): string[] {
    return this.logLines(status).map(({ content }) => content);
  }

  /** A file that a container of the test has written, line by line. */
  lines(file: string): string[] {
    const path = join(this.directory, file);
    return existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : [];
  }
}
