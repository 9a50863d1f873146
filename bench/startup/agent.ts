import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The agent as a process, with its own folders. */
export interface Agent {
  readonly pid: number;
  /** Writes manifests, each atomically; returns the time of the first one, in Unix milliseconds. */
  readonly place: (names: readonly string[], volumes?: 'with volumes') => number;
  readonly withdraw: (name: string) => void;
  /** Kills it; its pods stay. */
  readonly kill: () => Promise<void>;
}

export const IMAGE = 'stage.test/busybox:1';
/** A part of the name of every static pod. */
export const NODE_NAME = 'bench';

/** The configuration; `maxPods` leaves room for the pod that warms up. */
const configuration = (cgroupRoot: string, settings: object): string =>
  JSON.stringify({
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    maxPods: 1_000,
    cgroupRoot,
    ...settings,
  });

interface PodVolumes {
  readonly mounts: readonly object[];
  readonly volumes: readonly object[];
}

/** A ConfigMap as files, a projected volume with a Secret and facts of the pod, and an empty directory. */
const volumesOf = (name: string): PodVolumes => ({
  mounts: ['config', 'access', 'scratch'].map((volume) => ({ name: volume, mountPath: `/volumes/${volume}` })),
  volumes: [
    { name: 'config', configMap: { name } },
    {
      name: 'access',
      projected: {
        sources: [
          { secret: { name } },
          { downwardAPI: { items: [{ path: 'namespace', fieldRef: { fieldPath: 'metadata.namespace' } }] } },
        ],
      },
    },
    { name: 'scratch', emptyDir: {} },
  ],
});

const objectsOf = (name: string): readonly object[] => [
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { 'a.conf': 'a', 'b.conf': 'b' } },
  { apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData: { token: 'a-token-of-no-use' } },
];

const podOf = (name: string, { mounts, volumes }: PodVolumes): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: {
    containers: [
      {
        ...{ name: 'main', image: IMAGE, imagePullPolicy: 'IfNotPresent', command: ['sleep', '1000000'] },
        volumeMounts: mounts,
      },
    ],
    volumes,
    terminationGracePeriodSeconds: 1,
  },
});

const manifest = (name: string, hasVolumes: boolean): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'List',
    items: hasVolumes ? [...objectsOf(name), podOf(name, volumesOf(name))] : [podOf(name, { mounts: [], volumes: [] })],
  });

export const startAgent = (
  program: string,
  folder: string,
  { endpoint, cgroupRoot }: { readonly endpoint: string; readonly cgroupRoot: string },
  /** Further fields of the configuration. */
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
    place: (names, volumes) => {
      for (const name of names) writeFileSync(join(drafts, name), manifest(name, volumes !== undefined));
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
