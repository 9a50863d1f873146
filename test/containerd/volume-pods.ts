import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { mountPointsIn } from '../../src/host/files/mount-points.js';
import { NODE_NAME } from '../embedded/daemon.js';
import { eventually } from '../embedded/eventually.js';
import { QUICK_RESTARTS } from '../embedded/quick-restarts.js';
import type { ContainerdNode } from './containerd-node.js';
import { running } from './inside.js';

export const quickRestarts = (node: ContainerdNode): readonly string[] => [
  '--config',
  node.configuration(QUICK_RESTARTS),
];

/** The directory that the agent has of a pod. */
export const directoryOf = async (node: ContainerdNode, pod: string, container = 'main'): Promise<string> => {
  const { status } = await running(node, pod, container);
  return join(node.rootDir, 'pods', status.labels['io.kubernetes.pod.uid'] ?? '');
};

/** The mount points at a path of this machine and below, each as often as something is mounted there. */
export const mountsBelow = (path: string): readonly string[] =>
  mountPointsIn(readFileSync('/proc/self/mountinfo', 'utf8')).filter(
    (point) => point === path || point.startsWith(`${path}/`),
  );

/** Resolves when nothing is left of the directory of a pod. */
export const gone = (directory: string): Promise<unknown> =>
  eventually(
    `${directory} and its mounts are gone`,
    () => !existsSync(directory) && mountsBelow(directory).length === 0,
  );

/** The messages of the events `FailedMount` of a pod. */
export const failedMounts = (node: ContainerdNode, pod: string): readonly string[] =>
  node
    .journal()
    .flatMap((entry) =>
      entry.kind === 'event' && entry.reason === 'FailedMount' && entry.pod?.name === `${pod}-${NODE_NAME}`
        ? [entry.message]
        : [],
    );

/** Runs a script in a container; what it prints. */
export const sh = (node: ContainerdNode, containerId: string, script: string): Promise<string> =>
  node.exec(containerId, 'sh', '-c', script);

/** Puts ConfigMaps and Secrets into a file beside the manifests of pods. */
export const putObjects = (node: ContainerdNode, file: string, ...objects: readonly object[]): void =>
  node.write(file, objects.map((object) => JSON.stringify({ apiVersion: 'v1', ...object })).join('\n---\n'));

export const configMap = (name: string, data: Readonly<Record<string, string>>): object => ({
  kind: 'ConfigMap',
  metadata: { name },
  data,
});

export const secret = (name: string, stringData: Readonly<Record<string, string>>): object => ({
  kind: 'Secret',
  metadata: { name },
  stringData,
});

/** A folder of this machine for one test. */
export const folder = (node: ContainerdNode, name: string): string => {
  const path = join(node.directory, `host-${name}`);
  mkdirSync(path);
  return path;
};

/** The mounts of the volume `data` at these paths. */
export const mounts = (...paths: readonly string[]): { readonly name: string; readonly mountPath: string }[] =>
  paths.map((mountPath) => ({ name: 'data', mountPath }));
