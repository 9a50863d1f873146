import type { ContainerConfig, DeepPartial, Mount } from '../../generated/runtime/v1/api.js';
import type { NodeFacts } from '../node/node-facts.js';
import type { Container, EphemeralContainer, Pod } from '../pod/pod.js';
import { newestStatusOf, type RuntimePodStatus } from '../pleg/runtime-pod.js';
import { toCriSignal } from '../manifest/stop-signals.js';
import { CreateContainerConfigError } from './create-container-config-error.js';
import { type EnvObjects, environment } from './env.js';
import type { EnvFiles } from './env-files.js';
import { criVariable, textValue } from './env-value.js';
import { expandWords } from './expansion.js';
import { containerAnnotations, containerLabels } from './labels.js';
import { containerLinuxResources } from './linux-resources.js';
import { containerLogPath } from './log-paths.js';
import { containerSecurityContext, type ImageUser, type UserNamespaceMapping } from './security-context.js';

export interface ContainerConfigInput {
  readonly pod: Pod;
  readonly container: Container | EphemeralContainer;
  /** The number of earlier starts of the container. */
  readonly attempt: number;
  /** The crashes before; see `CrashLoopEntry`. */
  readonly crashes?: number;
  /** The image on the node: its id for the runtime, and its default user. */
  readonly image: { readonly id: string; readonly user: ImageUser };
  readonly podIps: readonly string[];
  readonly node: NodeFacts;
  /** One for each volume mount. */
  readonly mounts?: readonly DeepPartial<Mount>[];
  /** The mounts of the agent's own files. */
  readonly agentMounts?: readonly DeepPartial<Mount>[];
  /** The container that an ephemeral container targets, in the runtime. */
  readonly status: RuntimePodStatus;
  readonly userNamespace?: UserNamespaceMapping;
  readonly objects?: EnvObjects | undefined;
  readonly envFiles?: EnvFiles | undefined;
  readonly services?: Readonly<Record<string, string>> | undefined;
}

/**
 * Returns the configuration of one instance of a container for the runtime.
 *
 * Errors: `CreateContainerConfigError` for a part of the spec that is not available.
 * Source: pkg/kubelet/kuberuntime/kuberuntime_container.go generateContainerConfig.
 */
export const containerConfig = (input: ContainerConfigInput): DeepPartial<ContainerConfig> => {
  const { pod, container, attempt, crashes, image, node, mounts = [], agentMounts = [], userNamespace } = input;
  const env = environment(input);
  const expanded = (words: readonly string[] = []) => expandWords(words, (name) => textValue(name, env.get(name)));
  return {
    metadata: { name: container.name, attempt },
    image: { image: image.id, userSpecifiedImage: container.image ?? '' },
    command: expanded(container.command),
    args: expanded(container.args),
    workingDir: container.workingDir ?? '',
    envs: [...env].map(criVariable),
    mounts: [...mounts, ...agentMounts].map((mount) => ({ ...mount, ...idMappings(userNamespace) })),
    labels: containerLabels(pod, container),
    annotations: containerAnnotations(pod, container, attempt, crashes),
    logPath: containerLogPath(container.name, attempt),
    stdin: container.stdin ?? false,
    stdinOnce: container.stdinOnce ?? false,
    tty: container.tty ?? false,
    ...(node.containerStopSignals && { stopSignal: toCriSignal(container.lifecycle?.stopSignal) }),
    linux: {
      resources: containerLinuxResources(pod, container, node),
      securityContext: containerSecurityContext({ ...input, imageUser: image.user, targetId: targetId(input) }),
    },
  };
};

/** Maps the owners of files if the pod has a user namespace of its own. */
const idMappings = (mapping: UserNamespaceMapping | undefined): DeepPartial<Mount> =>
  mapping ? { uidMappings: [mapping], gidMappings: [mapping] } : {};

/** Source: pkg/kubelet/kuberuntime/kuberuntime_container.go getTargetID. */
const targetId = ({ container, status }: ContainerConfigInput): string | undefined => {
  const target = 'targetContainerName' in container ? container.targetContainerName : undefined;
  if (!target) return undefined;
  const found = newestStatusOf(status, target);
  if (found) return found.id;
  throw new CreateContainerConfigError(`unable to find target container ${target}`);
};
