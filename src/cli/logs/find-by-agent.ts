import { firstValueFrom } from 'rxjs';
import { isCriError } from '../../model/cri/cri-error.js';
import { chooseContainer, namedContainers } from '../../model/logs/choose-container.js';
import { logInstance } from '../../model/logs/log-instance.js';
import { type Pod, podRef } from '../../model/pod/pod.js';
import { isContainerRunning } from '../../streams/logs/is-container-running.js';
import { choosePods } from './choose-pod.js';
import type { FoundLog, LogPlaces, LogRequest } from './found-log.js';
import { logPathByFiles } from './log-directories.js';

/**
 * Finds a log by the pods of the agent, and by the path that the runtime has for the instance. `answer` is the PodList of
 * the agent.
 */
export const findByAgent = async (
  answer: string,
  node: string,
  request: LogRequest,
  { paths, runtime }: LogPlaces,
): Promise<FoundLog> => {
  const items = (JSON.parse(answer) as { readonly items: readonly Pod[] | null }).items ?? [];
  const [{ pod }] = choosePods(
    items.map((pod) => ({ ...podRef(pod), pod })),
    request,
    new Set([node]),
  );
  const choice = chooseContainer(namedContainers(pod), request.container);
  if ('problem' in choice) throw new Error(choice.problem);
  const { container, notes } = choice;
  const instance = logInstance(pod.metadata.name, pod.status, container, request.previous);
  if ('problem' in instance) throw new Error(instance.problem);
  const { containerId } = instance;
  const isRunning = () => isContainerRunning(runtime, containerId);
  try {
    const { status } = await firstValueFrom(runtime.containerStatus({ containerId }));
    if (!status?.logPath) throw new Error(`container ${container} of pod ${pod.metadata.name} has no log`);
    return { path: status.logPath, isRunning, notes };
  } catch (error) {
    // Source: pkg/kubelet/kuberuntime/kuberuntime_container.go GetContainerLogs.
    if (isCriError(error, 'not-found')) {
      throw new Error(`unable to retrieve container logs for ${containerId}: the runtime has removed it`, {
        cause: error,
      });
    }
    if (!isCriError(error, 'unavailable')) throw error;
    const { path } = await logPathByFiles(paths.podLogsDir, pod.metadata, container, request.previous);
    return { path, isRunning, notes };
  }
};
