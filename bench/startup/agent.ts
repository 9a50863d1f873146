import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The agent as a process, on folders of its own. */
export interface Agent {
  readonly pid: number;
  /** Writes manifests in one go, each appearing in one piece; when the first was there, Unix milliseconds. */
  readonly place: (names: readonly string[]) => number;
  readonly withdraw: (name: string) => void;
  /** Kills it; its pods stay. */
  readonly kill: () => Promise<void>;
}

export const IMAGE = 'stage.test/busybox:1';
/** Is part of the name of every pod of its static manifests. */
export const NODE_NAME = 'bench';

/** The one that warms up must not take the place of another. */
const configuration = (cgroupRoot: string, settings: object): string =>
  JSON.stringify({
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    maxPods: 1_000,
    cgroupRoot,
    ...settings,
  });

const manifest = (name: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      containers: [{ name: 'main', image: IMAGE, imagePullPolicy: 'IfNotPresent', command: ['sleep', '1000000'] }],
      terminationGracePeriodSeconds: 1,
    },
  });

export const startAgent = (
  program: string,
  folder: string,
  { endpoint, cgroupRoot }: { readonly endpoint: string; readonly cgroupRoot: string },
  /** More fields of its configuration. */
  settings: object = {},
): Agent => {
  const [manifests, drafts, root] = ['manifests', 'drafts', 'root'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const path of [manifests, drafts, root]) mkdirSync(path, { recursive: true });
  const flags = ['--pod-manifest-path', manifests, '--root-dir', root, '--pod-logs-dir', join(folder, 'logs')];
  const runtime = [
    '--config',
    join(folder, 'config.yaml'),
    '--container-runtime-endpoint',
    endpoint,
    '--hostname-override',
    NODE_NAME,
    '--healthz-port',
    '0',
  ];
  writeFileSync(join(folder, 'config.yaml'), configuration(cgroupRoot, settings));
  const log = openSync(join(folder, 'agent.log'), 'a');
  const child: ChildProcess = spawn(program, ['run', ...flags, ...runtime], {
    stdio: ['ignore', 'ignore', log],
  });
  const end = () => void child.kill('SIGKILL');
  process.on('exit', end);
  return {
    pid: child.pid!,
    place: (names) => {
      for (const name of names) writeFileSync(join(drafts, name), manifest(name));
      const at = performance.timeOrigin + performance.now();
      for (const name of names) renameSync(join(drafts, name), join(manifests, `${name}.json`));
      return at;
    },
    withdraw: (name) => rmSync(join(manifests, `${name}.json`)),
    kill: async () => {
      process.off('exit', end);
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      end();
      await ended;
    },
  };
};
