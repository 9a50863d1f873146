import type { ContainerConfig, DeepPartial, Mount } from '../../generated/runtime/v1/api.js';
import type { NodeFacts } from '../node-facts.js';
import type { Container, EphemeralContainer, Pod } from '../pod.js';
import { newestStatusOf, type RuntimePodStatus } from '../runtime-pod.js';
import { absolutePath } from './absolute-path.js';
import { toCriSignal } from '../stop-signals.js';
import { CreateContainerConfigError } from './create-container-config-error.js';
import { type EnvObjects, environment } from './env.js';
import { expand } from './expansion.js';
import { containerAnnotations, containerLabels } from './labels.js';
import { containerLinuxResources } from './linux-resources.js';
import { containerLogPath } from './log-paths.js';
import { containerSecurityContext, type ImageUser, type UserNamespaceMapping } from './security-context.js';

export interface ContainerConfigInput {
  readonly pod: Pod;
  readonly container: Container | EphemeralContainer;
  /** How often the container was started before. */
  readonly attempt: number;
  /** The image as it was found: its id for the runtime, and who it runs as. */
  readonly image: { readonly id: string; readonly user: ImageUser };
  readonly podIps: readonly string[];
  readonly node: NodeFacts;
  /** One for each volume mount. */
  readonly mounts?: readonly DeepPartial<Mount>[];
  /** What the agent itself puts into the container. */
  readonly agentMounts?: readonly DeepPartial<Mount>[];
  /** Where an ephemeral container finds the one that it looks at. */
  readonly status: RuntimePodStatus;
  readonly userNamespace?: UserNamespaceMapping;
  readonly objects?: EnvObjects | undefined;
  readonly services?: Readonly<Record<string, string>> | undefined;
}

/**
 * What the runtime is told of one instance of a container.
 *
 * Errors: `CreateContainerConfigError` for whatever of the spec cannot be had.
 * Source: pkg/kubelet/kuberuntime/kuberuntime_container.go generateContainerConfig.
 */
export const containerConfig = (input: ContainerConfigInput): DeepPartial<ContainerConfig> => {
  const { pod, container, attempt, image, node, mounts = [], agentMounts = [], userNamespace } = input;
  requireMounts(container, mounts);
  const env = environment(input);
  const expanded = (words: readonly string[] = []) => words.map((word) => expand(word, (name) => env.get(name)));
  return {
    metadata: { name: container.name, attempt },
    image: { image: image.id, userSpecifiedImage: container.image ?? '' },
    command: expanded(container.command),
    args: expanded(container.args),
    workingDir: container.workingDir ?? '',
    envs: [...env].map(([key, value]) => ({ key, value: Buffer.from(value) })),
    mounts: [...mounts, ...agentMounts].map((mount) => ({ ...mount, ...idMappings(userNamespace) })),
    labels: containerLabels(pod, container),
    annotations: containerAnnotations(pod, container, attempt),
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

/** Files keep their owners where the pod's users are others than the node's. */
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

/** A volume that is not there must not go unnoticed. Source: pkg/kubelet/kubelet_pods.go makeMounts, makeBlockVolumes. */
const requireMounts = (container: Container, mounts: readonly DeepPartial<Mount>[]): void => {
  for (const { name, mountPath } of container.volumeMounts ?? []) {
    if (mounts.some(({ containerPath }) => containerPath === absolutePath(mountPath))) continue;
    throw new CreateContainerConfigError(`cannot find volume "${name}" to mount into container "${container.name}"`);
  }
  const [device] = container.volumeDevices ?? [];
  if (device === undefined) return;
  throw new CreateContainerConfigError(
    `cannot find volume "${device.name}" to pass into container "${container.name}"`,
  );
};
