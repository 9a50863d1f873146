import { statSync } from 'node:fs';
import { homedir, hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { readKubeconfig } from '../../kube-api/kubeconfig.js';
import { isCgroupV1 } from '../../host/cgroups/host-cgroups.js';
import { machineSwaps } from '../../host/facts/swap.js';
import type { ClusterFlags } from '../cluster/cluster-flags.js';
import { agentPaths, type AgentPaths } from '../config/settings/agent-paths.js';
import type { AgentConfig } from '../config/fields/kubelet-configuration.js';
import { loadConfiguration } from '../config/load-configuration.js';
import { nodeName } from '../config/settings/node-name.js';
import { checkMemory, type MachineMemory } from './check-memory.js';
import type { RunFlags } from './run-flags.js';

export interface PreparedRun {
  readonly config: AgentConfig;
  readonly warnings: readonly string[];
  readonly nodeName: string;
  readonly paths: AgentPaths;
  /** Without a configured runtime the embedded one is used. */
  readonly isEmbedded: boolean;
  readonly runtimeSocket: string;
  readonly imageSocket: string;
  /** The directory of certificates. */
  readonly certDir: string;
  /** With every path; undefined for a standalone node. */
  readonly cluster?: ClusterFlags;
}

/** The longest path of a socket, without the final zero. */
const LONGEST_SOCKET_PATH = 107;

/** Paths for commands that only connect to a running agent. */
export const pathsFor = (rootDir: string, podLogsDir = '', runtimeEndpoint = ''): AgentPaths =>
  agentPaths({
    rootDir,
    podLogsDir,
    runtimeEndpoint,
    isRoot: process.getuid?.() === 0,
    home: homedir(),
    xdgStateHome: process.env.XDG_STATE_HOME ?? '',
    workingDirectory: process.cwd(),
  });

/** Checks flags and files. Errors: one error that names the problem and its place. */
export const prepareRun = (flags: RunFlags): PreparedRun => {
  const { config: loaded, warnings } = loadConfiguration({
    file: flags.config,
    directory: flags.configDir,
    flags: flags.fields,
  });
  const isInCluster = flags.cluster !== undefined && flags.cluster.kubeconfig !== '';
  // A kubelet does not run on a machine that swaps; laptops and small boards do swap.
  const config = { ...loaded, failSwapOn: loaded.failSwapOn ?? isInCluster };
  // In the words of the kubelet, pkg/kubelet/apis/config/validation/validation_linux.go.
  if (config.failCgroupV1 && isCgroupV1()) {
    throw new Error(
      'kubelet is configured to not run on a host using cgroup v1. Support for it ends in a future release: move to cgroup v2, or set failCgroupV1: false',
    );
  }
  const machine: MachineMemory = { swaps: machineSwaps(), cgroupVersion: isCgroupV1() ? 1 : 2 };
  const ofMemory = checkMemory(config, machine);
  if (flags.record !== '' && config.runOnce) {
    throw new Error('--record records a loop, and there is none with --runonce');
  }
  const paths = pathsFor(flags.rootDir, config.podLogsDir, config.containerRuntimeEndpoint);
  const isEmbedded = config.containerRuntimeEndpoint === '';
  const runtimeSocket = isEmbedded ? paths.embedded.socketPath : socketPath(config.containerRuntimeEndpoint);
  const tooLong = [runtimeSocket, paths.agentSocket].find((path) => Buffer.byteLength(path) > LONGEST_SOCKET_PATH);
  if (tooLong !== undefined) {
    throw new Error(
      `the socket ${tooLong} has a path of more than ${LONGEST_SOCKET_PATH} bytes; choose a shorter --root-dir`,
    );
  }
  const certDir = resolve(flags.cluster?.certDir || join(paths.rootDir, 'pki'));
  const cluster = clusterOf(flags, config.runOnce, certDir);
  const invalidIps = cluster?.invalidNodeIps ?? [];
  return {
    config,
    warnings: [
      ...warnings,
      ...ofMemory,
      ...(config.staticPodPath === '' && config.staticPodURL === '' && !cluster
        ? ['there is no source of pods: expected --pod-manifest-path, --manifest-url or --kubeconfig']
        : []),
      ...invalidIps.map((ip) => `--node-ip: ${JSON.stringify(ip)} is no address and is left out`),
    ],
    ...(cluster && { cluster }),
    nodeName: nodeName(flags.hostnameOverride, hostname()),
    paths,
    certDir,
    isEmbedded,
    runtimeSocket,
    imageSocket: config.imageServiceEndpoint === '' ? runtimeSocket : socketPath(config.imageServiceEndpoint),
  };
};

const socketPath = (endpoint: string): string => endpoint.replace(/^unix:\/\//, '');

/** Source: cmd/kubelet/app/server.go, which also needs `--kubeconfig` to know where to write the one it gets by bootstrapping. */
const clusterOf = ({ cluster }: RunFlags, runsOnce: boolean, certDir: string): ClusterFlags | undefined => {
  if (!cluster || (cluster.kubeconfig === '' && cluster.bootstrapKubeconfig === '')) return undefined;
  if (cluster.kubeconfig === '') throw new Error('--bootstrap-kubeconfig needs --kubeconfig, the file to write');
  if (runsOnce) throw new Error('--runonce starts the pods of manifests, and cannot be used with --kubeconfig');
  // Before anything is started, so that its problems are reported at once.
  if (cluster.bootstrapKubeconfig === '') readKubeconfig(cluster.kubeconfig);
  else if (!statSync(cluster.kubeconfig, { throwIfNoEntry: false })) readKubeconfig(cluster.bootstrapKubeconfig);
  return { ...cluster, certDir };
};
