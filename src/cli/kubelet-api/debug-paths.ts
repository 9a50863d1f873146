import { join } from 'node:path';
import { defer } from 'rxjs';
import { journalctl } from '../../host/logs/journalctl.js';
import { logReading } from '../../host/logs/log-reading.js';
import { monotonicScheduler } from '../../host/monotonic-scheduler.js';
import { makeDirectories } from '../../processes/make-directories.js';
import { checkpointRoute, commandRoutes } from '../../server/routes/container-commands.js';
import { containerLogs } from '../../server/logs/container-logs.js';
import { nodeLogs } from '../../server/logs/node-logs.js';
import type { ParameterRoute } from '../../server/routes/parameter-routes.js';
import { readBelow } from '../../server/logs/read-below.js';
import { checkpointContainer } from '../../streams/server/checkpoint-container.js';
import { nodeServiceLogs } from '../../streams/server/node-service-logs.js';
import { podLogs } from '../../streams/server/pod-logs.js';
import { runCommand } from '../../streams/server/run-command.js';
import { isGateOn } from '../config/fields/feature-gates.js';
import type { KubeletHandle } from '../kubelet/kubelet-handle.js';
import type { PreparedRun } from '../arguments/prepare-run.js';

export interface DebugPathsInputs {
  readonly prepared: Pick<PreparedRun, 'config' | 'paths'>;
  readonly kubelet: Pick<KubeletHandle, 'pods' | 'findRunning' | 'runtime'>;
}

/** Source: pkg/kubelet/kubelet_server_journal.go nodeLogDir */
const NODE_LOGS = '/var/log';

/** The paths of the kubelet API with names of pods in them, over the files and the runtime of this machine. */
export const debugPaths = ({
  prepared: { config, paths },
  kubelet: { pods, findRunning, runtime },
}: DebugPathsInputs): readonly ParameterRoute[] => {
  const now = () => Date.now();
  const directory = join(paths.rootDir, 'checkpoints');
  const checkpoint = checkpointContainer({
    ...{ pods, findRunning, runtime, directory, now },
    makeDirectory: () => defer(() => makeDirectories(directory, 0o700)),
    requestTimeoutSeconds: Math.floor(config.runtimeRequestTimeoutMs / 1_000),
  });
  const readLogs = config.enableSystemLogQuery
    ? nodeServiceLogs({
        journal: journalctl({ path: process.env.PATH ?? '' }),
        files: readBelow(NODE_LOGS),
        scheduler: monotonicScheduler,
      })
    : undefined;
  return [
    containerLogs(
      podLogs({
        ...{ pods, runtime, files: logReading, now, scheduler: monotonicScheduler },
        splitStreams: isGateOn(config.featureGates, 'PodLogsQuerySplitStreams'),
      }),
    ),
    ...(config.enableSystemLogHandler ? nodeLogs(NODE_LOGS, readLogs) : []),
    ...commandRoutes(runCommand({ pods, findRunning, runtime })),
    ...(isGateOn(config.featureGates, 'ContainerCheckpoint') ? [checkpointRoute(checkpoint)] : []),
  ];
};
