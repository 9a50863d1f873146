import type {
  DeepPartial,
  LinuxContainerResources,
  PodSandboxConfig,
  PortMapping,
  Protocol,
} from '../../generated/runtime/v1/api.js';
import { isIpv4 } from '../values/ip-address.js';
import type { NodeFacts } from '../node/node-facts.js';
import type { Container, ContainerPort, Pod } from '../pod/pod.js';
import { podAmounts } from '../resources/pod-resources.js';
import { quantity } from '../resources/quantity.js';
import { normalizedSysctl } from '../manifest/sysctl-name.js';
import { defaultSysctls } from './default-sysctls.js';
import { podDns } from './dns-config.js';
import { kernelHostname } from './hostname.js';
import { sandboxLabels } from './labels.js';
import { toLinuxResources } from './linux-resources.js';
import { podLogDirectory } from './log-paths.js';
import { sandboxSecurityContext, type UserNamespaceMapping } from './security-context.js';

export interface SandboxConfigInput {
  readonly pod: Pod;
  readonly attempt: number;
  readonly node: NodeFacts;
  /** The pod's cgroup as a path of the file system, also for systemd; absent if the runtime chooses it. */
  readonly cgroupParent?: string;
  readonly userNamespace?: UserNamespaceMapping;
}

/**
 * Returns the configuration of a pod's sandbox for the runtime. Events about its DNS come from `podDns`
 * (dns-config.ts).
 *
 * Errors: throws on a host name that the kernel does not accept and on an unsupported security context.
 * Source: pkg/kubelet/kuberuntime/kuberuntime_sandbox.go generatePodSandboxConfig.
 */
export const sandboxConfig = ({
  pod,
  attempt,
  node,
  cgroupParent = '',
  userNamespace,
}: SandboxConfigInput): DeepPartial<PodSandboxConfig> => {
  const { name, namespace, uid, annotations } = pod.metadata;
  const mappings = pod.spec.containers.flatMap(portMappings);
  const overhead = pod.spec.overhead;
  const sysctls = pod.spec.securityContext?.sysctls ?? [];
  return {
    metadata: { name, namespace, uid, attempt },
    labels: sandboxLabels(pod),
    annotations: { ...annotations },
    ...(!pod.spec.hostNetwork && { hostname: kernelHostname(pod, node.clusterDomain) }),
    logDirectory: podLogDirectory(node.podLogsDirectory, pod),
    dnsConfig: podDns(pod, node).config,
    ...(mappings.length > 0 && { portMappings: mappings }),
    linux: {
      cgroupParent,
      securityContext: sandboxSecurityContext(pod, userNamespace),
      sysctls: {
        ...defaultSysctls(node.defaultSysctls ?? {}, pod.spec),
        ...Object.fromEntries(sysctls.map((sysctl) => [normalizedSysctl(sysctl.name), sysctl.value])),
      },
      overhead: overhead ? overheadResources(overhead, node) : {},
      resources: toLinuxResources({ requests: podAmounts(pod, 'requests'), limits: podAmounts(pod, 'limits') }, node),
    },
  };
};

/** Source: pkg/kubelet/container/helpers.go MakePortMappings. */
const portMappings = ({ ports = [] }: Container): DeepPartial<PortMapping>[] => {
  const byKey = new Map<string, ContainerPort>();
  for (const port of ports) {
    const key = portKey(port);
    // The first of a key counts.
    if (!byKey.has(key)) byKey.set(key, port);
  }
  return [...byKey.values()].map((port) => ({
    protocol: protocolOf(port),
    containerPort: port.containerPort,
    hostPort: port.hostPort ?? 0,
    hostIp: port.hostIP ?? '',
  }));
};

const portKey = (port: ContainerPort): string => {
  const { name, hostIP = '', containerPort, hostPort = 0 } = port;
  const family = hostIP === '' ? 'any' : isIpv4(hostIP) ? 'v4' : 'v6';
  return name || `${family}-${protocolOf(port)}-${hostIP}:${containerPort}:${hostPort}`;
};

const protocolOf = ({ protocol }: ContainerPort): Protocol =>
  protocol === 'UDP' || protocol === 'SCTP' ? protocol : 'TCP';

/** The overhead of a sandbox as settings of cgroups. */
export const overheadResources = (
  overhead: Readonly<Record<string, string>>,
  node: NodeFacts,
): DeepPartial<LinuxContainerResources> => {
  const amounts = new Map(Object.entries(overhead).map(([name, text]) => [name, quantity(text)] as const));
  return toLinuxResources({ requests: amounts, limits: amounts }, node);
};
