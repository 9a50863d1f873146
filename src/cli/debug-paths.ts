import { logReading } from '../host/log-reading.js';
import { monotonicScheduler } from '../host/monotonic-scheduler.js';
import { containerLogs } from '../server/container-logs.js';
import type { ParameterRoute } from '../server/parameter-routes.js';
import { podLogs } from '../streams/server/pod-logs.js';
import { isGateOn } from './config/feature-gates.js';
import type { KubeletHandle } from './kubelet-handle.js';
import type { PreparedRun } from './prepare-run.js';

export interface DebugPathsInputs {
  readonly prepared: Pick<PreparedRun, 'config'>;
  readonly kubelet: Pick<KubeletHandle, 'pods' | 'runtime'>;
}

/** The paths of the kubelet API with names of pods in them, over the files and the runtime of this machine. */
export const debugPaths = ({ prepared, kubelet }: DebugPathsInputs): readonly ParameterRoute[] => [
  containerLogs(
    podLogs({
      pods: kubelet.pods,
      runtime: kubelet.runtime,
      files: logReading,
      splitStreams: isGateOn(prepared.config.featureGates, 'PodLogsQuerySplitStreams'),
      now: () => Date.now(),
      scheduler: monotonicScheduler,
    }),
  ),
];
