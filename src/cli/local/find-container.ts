import { chooseContainer, namedContainers } from '../../model/logs/choose-container.js';
import { type Pod, podRef } from '../../model/pod/pod.js';
import { readAgentFile } from '../running-agent/agent-file.js';
import { askAgent } from '../running-agent/ask-agent.js';
import type { AgentPaths } from '../config/settings/agent-paths.js';
import { choosePods } from '../logs/choose-pod.js';

export interface PodTarget {
  /** A name, `name_namespace` or a UID, with or without `pod/` before it. */
  readonly pod: string;
  readonly namespace?: string | undefined;
}

export interface ContainerTarget extends PodTarget {
  readonly container?: string | undefined;
}

/** Parses `POD` or `POD/CONTAINER`, with or without `pod/` before it. Errors: it is neither; the flag names a container, too. */
export const containerTarget = (target: string, flag: string | undefined): ContainerTarget => {
  const [pod = '', container, more] = target.replace(/^(?:pods?|po)\//, '').split('/');
  if (pod === '' || container === '' || more !== undefined) {
    throw new Error(`${JSON.stringify(target)} is no pod: expected POD or POD/CONTAINER`);
  }
  if (container !== undefined && flag !== undefined) throw new Error('only one of -c or POD/CONTAINER is allowed');
  return { pod, container: container ?? flag };
};

/** The pods of the agent that uses these paths. Errors: no agent runs there, or it does not reply. */
export const podsOfAgent = async (paths: AgentPaths): Promise<readonly Pod[]> =>
  (JSON.parse(await askAgent(paths, '/pods')) as { readonly items: readonly Pod[] | null }).items ?? [];

/**
 * The pod of the agent that is meant. Errors: no agent runs; it has no such pod, or pods of the name in several namespaces.
 */
export const findPod = async (paths: AgentPaths, { pod, namespace }: PodTarget): Promise<Pod> => {
  const items = await podsOfAgent(paths);
  const node = readAgentFile(paths.agentFile)?.node;
  const [{ found }] = choosePods(
    items.map((one) => ({ ...podRef(one), found: one })),
    { pod, ...(namespace !== undefined && { namespace }) },
    new Set(node === undefined ? [] : [node]),
  );
  return found;
};

export interface FoundContainer {
  readonly pod: Pod;
  readonly container: string;
  /** The lines for standard error. */
  readonly notes: readonly string[];
}

/** Source: staging/src/k8s.io/kubectl/pkg/cmd/util/podcmd/podcmd.go FindOrDefaultContainerByName */
export const findContainer = async (paths: AgentPaths, target: ContainerTarget): Promise<FoundContainer> => {
  const pod = await findPod(paths, target);
  const choice = chooseContainer(namedContainers(pod), target.container);
  if ('problem' in choice) throw new Error(`container ${target.container} not found in pod ${pod.metadata.name}`);
  return { pod, ...choice };
};

/** The pod, with its container if the target names one. Errors: those of `findContainer`. */
export const findTarget = async (
  paths: AgentPaths,
  target: ContainerTarget,
): Promise<Pick<FoundContainer, 'pod'> & Partial<FoundContainer>> =>
  target.container === undefined ? { pod: await findPod(paths, target) } : findContainer(paths, target);
