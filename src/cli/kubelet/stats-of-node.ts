import { machineFacts } from '../../host/facts/machine-facts.js';
import { monotonicScheduler } from '../../host/monotonic-scheduler.js';
import { usageReader } from '../../host/stats/usage-reader.js';
import type { KubeletPorts } from '../../kubelet-options.js';
import { kubepodsCgroup, tierCgroup } from '../../model/cgroups/pod-cgroup-name.js';
import type { Pod } from '../../model/pod/pod.js';
import type { SystemCgroups } from '../../model/stats/assemble-sample.js';
import type { NodeStats } from '../../streams/ports/node-stats.js';
import { nodeStats, type StatsRuntime } from '../../streams/stats/node-stats.js';
import { isGateOn } from '../config/fields/feature-gates.js';
import type { KubeletEnvironment } from './kubelet-handle.js';

export interface ConnectedRuntime extends StatsRuntime, Pick<KubeletPorts, 'runtimeName' | 'nodeCgroups'> {}

/** The figures of this node for the kubelet API. `runtime` returns undefined before the connection. */
export const statsOfNode = (
  { config, nodeName, paths, log }: KubeletEnvironment,
  pods: () => readonly Pod[],
  runtime: () => ConnectedRuntime | undefined,
): NodeStats =>
  nodeStats({
    nodeName,
    rootDirectory: paths.rootDir,
    podLogsDirectory: paths.podLogsDir,
    pods,
    runtime,
    readMachine: machineFacts(paths.rootDir),
    reader: usageReader({ now: wallClock, steadyNow: () => monotonicScheduler.now() }),
    systemCgroups: () => ({
      ...groupsOfPods(runtime()),
      kubelet: config.kubeletCgroups || undefined,
      misc: config.systemCgroups || undefined,
    }),
    volumesKeptMs: config.volumeStatsAggPeriodMs,
    asksRuntime: isGateOn(config.featureGates, 'PodAndContainerStatsFromCRI'),
    log,
    scheduler: monotonicScheduler,
    wallClock,
  });

const wallClock = (): number => Date.now();

/** The units of runtimes that systemd starts. */
const UNITS: Readonly<Record<string, string>> = { containerd: 'containerd', 'cri-o': 'crio' };

const groupsOfPods = (runtime: ConnectedRuntime | undefined): SystemCgroups => {
  if (!runtime) return {};
  const { nodeCgroups, runtimeName } = runtime;
  const unit = UNITS[runtimeName];
  const root = nodeCgroups?.settings.root;
  return {
    runtime: unit && `/system.slice/${unit}.service`,
    ...(nodeCgroups &&
      root && {
        pods: nodeCgroups.cgroups.pathOf(kubepodsCgroup(root)),
        burstable: nodeCgroups.cgroups.pathOf(tierCgroup(root, 'burstable')),
        besteffort: nodeCgroups.cgroups.pathOf(tierCgroup(root, 'besteffort')),
      }),
  };
};
