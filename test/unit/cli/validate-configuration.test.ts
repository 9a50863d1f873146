import { describe, expect, it } from 'vitest';
import { cgroupOptions } from '../../../src/cli/config/settings/cgroup-options.js';
import { load, useConfigFolder } from './config-folder.js';

useConfigFolder();

describe('values', () => {
  it.each([
    ['maxPods: -1', 'maxPods (--max-pods) -1 must not be a negative number'],
    ['healthzPort: 70000', 'healthzPort (--healthz-port) 70000 must be between 1 and 65535, inclusive'],
    ['podLogsDir: /a/../b', 'pod logs path "/a/../b" must be normalized'],
    ['podLogsDir: /a/', 'pod logs path "/a/" must be normalized'],
    ['logging: {flushFrequency: -1s}', 'logging.flushFrequency: -1s must be greater than 0'],
    [
      'logging: {options: {json: {splitStream: true}}}',
      'logging.options.json.splitStream requires feature gate LoggingAlphaOptions',
    ],
    [
      'logging: {options: {text: {infoBufferSize: 1Ki}}}',
      'logging.options.text.infoBufferSize requires feature gate LoggingAlphaOptions',
    ],
    [
      'logging: {vmodule: [{filePattern: a, verbosity: 2147483648}]}',
      'logging.vmodule[0].verbosity: must be at most 2147483647',
    ],
    ['tracing: {endpoint: "%"}', 'tracing.endpoint: "%" is not a URL'],
    [
      'featureGates: {ContainerRestartRules: false}',
      'feature gate RestartAllContainersOnContainerExits is on, but what it needs is off: ContainerRestartRules',
    ],
    ['podLogsDir: /lögs', 'pod logs path "/lögs" mut contains ASCII characters only'],
    [
      'crashLoopBackOff: {maxContainerRestartPeriod: 500ms}',
      'CrashLoopBackOff.MaxContainerRestartPeriod (got: 0.5 seconds) must be set between 1s and 300s',
    ],
    ['containerLogMaxFiles: 1', 'containerLogMaxFiles must be greater than 1'],
    ['containerLogMaxWorkers: 0', 'containerLogMaxWorkers must be greater than or equal to 1'],
    [
      'containerLogMonitorInterval: 2999ms',
      'containerLogMonitorInterval must be a positive time duration greater than or equal to 3s',
    ],
    [
      'containerLogMaxSize: 10MB',
      'containerLogMaxSize: failed to parse container log max size "10MB": expected a quantity such as 10Mi',
    ],
    [
      'containerLogMaxSize: "0.5"',
      'containerLogMaxSize: failed to parse container log max size "0.5": invalid max log size, expected whole bytes',
    ],
    ['imageMaximumGCAge: 2m', 'imageMaximumGCAge 2m0s must be greater than imageMinimumGCAge 2m0s'],
    [
      'imageGCHighThresholdPercent: 101',
      'imageGCHighThresholdPercent (--image-gc-high-threshold) 101 must be between 0 and 100, inclusive',
    ],
    [
      'imageGCLowThresholdPercent: 85',
      'imageGCLowThresholdPercent (--image-gc-low-threshold) 85 must be less than imageGCHighThresholdPercent (--image-gc-high-threshold) 85',
    ],
    ['shutdownGracePeriod: 500ms', 'shutdownGracePeriod 500ms must be either zero or otherwise >= 1 sec'],
    ['shutdownGracePeriodCriticalPods: 1m', 'shutdownGracePeriodCriticalPods 1m0s must be <= shutdownGracePeriod 0s'],
    [
      'maxParallelImagePulls: 2\nserializeImagePulls: true',
      'maxParallelImagePulls cannot be larger than 1 unless SerializeImagePulls (--serialize-image-pulls) is set to false',
    ],
    [
      'shutdownGracePeriod: 30s\nshutdownGracePeriodByPodPriority: [{priority: 1, shutdownGracePeriodSeconds: 1}]',
      'Cannot specify both shutdownGracePeriodByPodPriority and shutdownGracePeriod at the same time',
    ],
    [
      'enableSystemLogQuery: true\nenableSystemLogHandler: false',
      'enableSystemLogHandler is required for enableSystemLogQuery',
    ],
    [
      'configMapAndSecretChangeDetectionStrategy: Poll',
      'configMapAndSecretChangeDetectionStrategy "Poll" must be one of Watch, Cache or Get',
    ],
    ['nodeLeaseDurationSeconds: -1', 'nodeLeaseDurationSeconds must be greater than 0'],
    ['nodeStatusMaxImages: -2', 'nodeStatusMaxImages (--node-status-max-images) -2 must be -1 or greater'],
    ['allowedUnsafeSysctls: [net.*, vm.*]', 'the sysctls "vm.*" are not known to be namespaced'],
    [
      'hairpinMode: veth',
      'option "veth" specified for hairpinMode (--hairpin-mode). Valid options are "none", "hairpin-veth" or "promiscuous-bridge"',
    ],
    [
      'systemCgroups: /system',
      'systemCgroups (--system-cgroups) was specified and cgroupRoot (--cgroup-root) was not specified',
    ],
    [
      'memorySwap: {swapBehavior: UnlimitedSwap}',
      'memorySwap.swapBehavior "UnlimitedSwap" must be one of: "", "LimitedSwap" or "NoSwap"',
    ],
    [
      'enforceNodeAllocatable: [pod]',
      'option "pod" specified for enforceNodeAllocatable (--enforce-node-allocatable). Valid options are ',
    ],
    ['userNamespaces: {idsPerPod: 65537}', 'userNamespaces.idsPerPod must be a multiple of 65536'],
    [
      'serverTLSBootstrap: true\nfeatureGates: {RotateKubeletServerCertificate: false}',
      'serverTLSBootstrap true requires feature gate RotateKubeletServerCertificate',
    ],
    ['staticPodURL: nowhere', 'staticPodURL (--manifest-url) "nowhere" must be an http or https URL'],
    ['maxParallelImagePulls: 0', 'maxParallelImagePulls 0 must be a positive number'],
    ['enforceNodeAllocatable: [pods, pods]', 'duplicated enforcements "pods" in enforceNodeAllocatable'],
    [
      'enforceNodeAllocatable: [none, pods]',
      'enforceNodeAllocatable (--enforce-node-allocatable) may not contain additional enforcements when "none" is specified',
    ],
    [
      'enforceNodeAllocatable: [system-reserved]',
      'systemReservedCgroup (--system-reserved-cgroup) must be specified when "system-reserved" or "system-reserved-compressible" included in enforceNodeAllocatable (--enforce-node-allocatable)',
    ],
    [
      'enforceNodeAllocatable: [kube-reserved-compressible]',
      'kubeReservedCgroup (--kube-reserved-cgroup) must be specified when "kube-reserved" or "kube-reserved-compressible" included in enforceNodeAllocatable (--enforce-node-allocatable)',
    ],
    [
      'kubeReservedCgroup: /k\nenforceNodeAllocatable: [kube-reserved, kube-reserved-compressible]',
      'both "kube-reserved" and "kube-reserved-compressible" cannot be specified together in enforceNodeAllocatable (--enforce-node-allocatable)',
    ],
    [
      'cgroupsPerQOS: false',
      'cgroupsPerQOS (--cgroups-per-qos) must be set to true when "pods" contained in enforceNodeAllocatable (--enforce-node-allocatable)',
    ],
    ['cgroupDriver: docker', 'cgroupDriver (--cgroup-driver) "docker" must be "cgroupfs" or "systemd"'],
    ['cgroupRoot: /a/../b', 'cgroupRoot (--cgroup-root) "/a/../b" must be a path without "." and ".."'],
    [
      'reservedSystemCPUs: "0"\nsystemReservedCgroup: /system',
      "can't use reservedSystemCPUs (--reserved-cpus) with systemReservedCgroup (--system-reserved-cgroup) or kubeReservedCgroup (--kube-reserved-cgroup)",
    ],
    ['evictionHard: {memory: 1Gi}', 'evictionHard: unsupported eviction signal memory'],
    ['evictionHard: {memory.available: much}', 'evictionHard: memory.available: "much" is not a quantity'],
    ['evictionHard: {memory.available: "0"}', 'evictionHard: eviction threshold memory.available must be positive: 0'],
    [
      'evictionHard: {nodefs.available: "101%"}',
      'evictionHard: eviction percentage threshold nodefs.available must be >= 0% and <= 100%: 101%',
    ],
    [
      'registerWithTaints: [{key: "a b", effect: NoSchedule}]',
      'invalid taint: a b:NoSchedule: its key must be a name of at most',
    ],
    [
      'registerWithTaints: [{key: a, value: "b c", effect: NoSchedule}]',
      'invalid taint: a=b c:NoSchedule: its value must be at most',
    ],
    ['registerWithTaints: [{key: a, effect: Never}]', 'invalid taint: a:Never: its effect must be NoSchedule'],
    [
      'registerWithTaints: [{key: a, effect: NoExecute, timeAdded: "2026-01-01T00:00:00Z"}]',
      'taint.TimeAdded is not nil: a:NoExecute',
    ],
    [
      'evictionHard: {nodefs.available: "%"}',
      'evictionHard: eviction percentage threshold nodefs.available must be >= 0% and <= 100%: %',
    ],
    ['nodeStatusUpdateFrequency: -1s', 'nodeStatusUpdateFrequency -1s must be greater than 0'],
    ['systemReserved: {gpu: "1"}', 'systemReserved: cannot reserve "gpu" resource'],
    ['kubeReserved: {cpu: much}', 'kubeReserved: cpu: "much" is not a quantity, expected one such as 500m or 1Gi'],
    ['kubeReserved: {memory: -1Gi}', 'kubeReserved: resource quantity for "memory" cannot be negative: -1Gi'],
    [
      'evictionSoft: {memory.available: 1Gi}',
      'grace period must be specified for the soft eviction threshold memory.available',
    ],
    ['evictionSoft: {memory.free: 1Gi}', 'evictionSoft: unsupported eviction signal memory.free'],
    [
      'evictionSoft: {memory.available: much}\nevictionSoftGracePeriod: {memory.available: 1m}',
      'evictionSoft: memory.available: "much" is not a quantity',
    ],
    [
      'evictionSoft: {memory.available: 1Gi}\nevictionSoftGracePeriod: {memory.available: -1m}',
      'evictionSoftGracePeriod: memory.available: -1m0s must not be negative',
    ],
    ['evictionSoftGracePeriod: {memory: 1m}', 'evictionSoftGracePeriod: unsupported eviction signal memory'],
    ['evictionMinimumReclaim: {disk: 1Gi}', 'evictionMinimumReclaim: unsupported eviction signal disk'],
    [
      'evictionMinimumReclaim: {nodefs.available: 0%}',
      'evictionMinimumReclaim: nodefs.available: 0% must be more than 0%',
    ],
    [
      'evictionMinimumReclaim: {nodefs.available: -1Gi}',
      'evictionMinimumReclaim: nodefs.available: -1Gi must not be negative',
    ],
    [
      'evictionMinimumReclaim: {nodefs.available: all}',
      'evictionMinimumReclaim: nodefs.available: "all" is not a quantity',
    ],
    [
      'reservedMemory: [{numaNode: 0, limits: {cpu: 1}}]',
      'reservedMemory[0].limits.cpu: only memory and hugepages-<size> can be reserved for NUMA node 0',
    ],
    [
      'reservedMemory: [{numaNode: 1, limits: {memory: "0"}}]',
      'reservedMemory[0].limits.memory: must not be zero for NUMA node 1',
    ],
    [
      'reservedMemory: [{limits: {memory: 1Gi}}, {numaNode: 1, limits: {memory: 1Gi}}, {numaNode: 0, limits: {memory: 2Gi}}]',
      'reservedMemory[2].limits.memory: is given twice for NUMA node 0',
    ],
    ['reservedMemory: [{limits: {hugepages-2Mi: two}}]', 'reservedMemory[0].limits.hugepages-2Mi: "two" is not a'],
    ['userNamespaces: {idsPerPod: 4295032832}', 'userNamespaces.idsPerPod must not be more than 4294967295'],
    ['showHiddenMetricsForVersion: "1.35"', 'showHiddenMetricsForVersion "1.35" must be empty or "1.36"'],
    [
      'featureGates: {GracefulNodeShutdown: false}',
      'feature gate GracefulNodeShutdownBasedOnPodPriority is on, but what it needs is off: GracefulNodeShutdown',
    ],
    [
      'featureGates: {PodLevelResourceManagers: true, AllBeta: false}',
      'feature gate PodLevelResourceManagers is on, but what it needs is off: PodLevelResources',
    ],
    ['featureGates: {NodeSwap: false}', 'cannot set feature gate NodeSwap to false, feature is locked to true'],
    [
      'cpuCFSQuotaPeriod: 50ms',
      'cpuCFSQuotaPeriod (--cpu-cfs-quota-period) 50ms requires feature gate CustomCPUCFSQuotaPeriod',
    ],
    ['syncFrequency: -1ms', 'syncFrequency -1ms must be greater than 0'],
    ['logging: {format: xml}', 'logging.format: Invalid value: "xml": Unsupported log format'],
    ['logging: {verbosity: 2147483648}', 'logging.verbosity: Invalid value: 2147483648: Must be <= 2147483647'],
    [
      'logging: {format: json, vmodule: [{filePattern: a, verbosity: 1}]}',
      'logging.vmodule: Forbidden: Only supported for text log format',
    ],
    [
      'logging: {vmodule: [{filePattern: "", verbosity: 1}]}',
      'logging.vmodule[0]: Required value: File pattern must not be empty',
    ],
    [
      'logging: {vmodule: [{filePattern: b, verbosity: 1}, {filePattern: a=b, verbosity: 1}]}',
      'logging.vmodule[1]: Invalid value: "a=b": File pattern must not contain equal sign or comma',
    ],
    [
      'topologyManagerPolicy: best',
      'topologyManagerPolicy (--topology-manager-policy) "best" must be one of: ["none" "best-effort" "restricted" "single-numa-node"]',
    ],
    [
      'topologyManagerScope: node',
      'topologyManagerScope (--topology-manager-scope) "node" must be one of: "container", or "pod"',
    ],
    [
      'tracing: {samplingRatePerMillion: -1}',
      'tracing.samplingRatePerMillion: Invalid value: -1: sampling rate must be positive',
    ],
    [
      'tracing: {samplingRatePerMillion: 1000001}',
      'tracing.samplingRatePerMillion: Invalid value: 1000001: sampling rate per million must be less than or equal to one million',
    ],
    [
      'tracing: {endpoint: "http://localhost:4317"}',
      'tracing.endpoint: Invalid value: "http://localhost:4317": unsupported scheme: http.  Options are none, dns, unix, or unix-abstract',
    ],
    ['imageMinimumGCAge: -1s', 'imageMinimumGCAge -1s must not be negative'],
    ['imageMaximumGCAge: -1s', 'imageMaximumGCAge -1s must not be negative'],
    [
      'shutdownGracePeriod: 2s\nshutdownGracePeriodCriticalPods: 500ms',
      'shutdownGracePeriodCriticalPods 500ms must be either zero or otherwise >= 1 sec',
    ],
    [
      'shutdownGracePeriodByPodPriority: [{priority: 1, shutdownGracePeriodSeconds: 1}, {priority: 2, shutdownGracePeriodSeconds: -1}]',
      'shutdownGracePeriodByPodPriority[1].shutdownGracePeriodSeconds -1 must not be negative',
    ],
    [
      'shutdownGracePeriod: 30s\nfeatureGates: {GracefulNodeShutdown: false, GracefulNodeShutdownBasedOnPodPriority: false}',
      'specifying shutdownGracePeriod or shutdownGracePeriodCriticalPods requires feature gate GracefulNodeShutdown',
    ],
    [
      'shutdownGracePeriodByPodPriority: [{priority: 1, shutdownGracePeriodSeconds: 1}]\nfeatureGates: {GracefulNodeShutdownBasedOnPodPriority: false}',
      'Specifying shutdownGracePeriodByPodPriority requires feature gate GracefulNodeShutdownBasedOnPodPriority',
    ],
    [
      'imagePullCredentialsVerificationPolicy: NeverVerify\nfeatureGates: {KubeletEnsureSecretPulledImages: false}',
      '`imagePullCredentialsVerificationPolicy` must not be set if KubeletEnsureSecretPulledImages feature gate is not enabled',
    ],
    [
      'preloadedImagesVerificationAllowlist: [a]\nfeatureGates: {KubeletEnsureSecretPulledImages: false}',
      '`preloadedImagesVerificationAllowlist` must not be set if KubeletEnsureSecretPulledImages feature gate is not enabled',
    ],
    [
      'crashLoopBackOff: {maxContainerRestartPeriod: 10s}\nfeatureGates: {KubeletCrashLoopBackOffMax: false}',
      'FeatureGate KubeletCrashLoopBackOffMax not enabled, CrashLoopBackOff.MaxContainerRestartPeriod must not be set',
    ],
    [
      'memoryReservationPolicy: Hard',
      'option "Hard" specified for memoryReservationPolicy. Valid options are "None" or "TieredReservation"',
    ],
    [
      'memoryReservationPolicy: TieredReservation\nfeatureGates: {MemoryQoS: false}',
      'memoryReservationPolicy "TieredReservation" requires MemoryQoS feature gate to be enabled',
    ],
    [
      'memoryThrottlingFactor: 0.8\nfeatureGates: {MemoryQoS: false}',
      'memoryThrottlingFactor 0.8 requires MemoryQoS feature gate to be enabled',
    ],
    ['memoryThrottlingFactor: 0', 'memoryThrottlingFactor 0 must be greater than 0 and less than or equal to 1.0'],
    [
      'defaultPodSysctls: {kernel.pid_max: "1"}\nfeatureGates: {DefaultPodSysctls: true}',
      'defaultPodSysctls["kernel.pid_max"] has no namespace',
    ],
    [
      'defaultPodSysctls: {net.core.somaxconn: "1", net/core/somaxconn: "2"}\nfeatureGates: {DefaultPodSysctls: true}',
      'defaultPodSysctls["net/core/somaxconn"] is the same parameter as "net.core.somaxconn"',
    ],
    [
      'cpuCFSQuotaPeriod: 2s\nfeatureGates: {CustomCPUCFSQuotaPeriod: true}',
      'cpuCFSQuotaPeriod (--cpu-cfs-quota-period) 2s must be between 1ms and 1sec, inclusive',
    ],
    ['reservedSystemCPUs: 3-1', 'unable to parse reservedSystemCPUs (--reserved-cpus) 3-1, error:'],
    ['staticPodURL: ftp://x', 'staticPodURL (--manifest-url) "ftp://x" must be an http or https URL'],
    ['containerRuntimeEndpoint: tcp://x', 'containerRuntimeEndpoint "tcp://x" must be a unix socket'],
  ])('%s is refused in the words of the kubelet', (text, message) => {
    expect(() => load(text)).toThrow(
      `failed to validate kubelet configuration, error: invalid configuration: ${message}`,
    );
  });

  it.each([
    'maxPods: 2147483648',
    'maxParallelImagePulls: 2147483648',
    'logging: {verbosity: -1}',
    'logging: {vmodule: [{filePattern: a, verbosity: -1}]}',
    'logging: {vmodule: [{filePattern: a, verbosity: 4294967296}]}',
    'tracing: {samplingRatePerMillion: -2147483649}',
  ])('of %s do not fit their type', (text) => {
    expect(() => load(text)).toThrow(/failed to load kubelet config file.*config\.yaml:3:/);
  });

  it('that are wrong are reported together', () => {
    expect(() => load('maxPods: -1\nport: -2')).toThrow(
      'error: [invalid configuration: maxPods (--max-pods) -1 must not be a negative number, invalid configuration: port (--port) -2 must be between 1 and 65535, inclusive], path: ',
    );
  });

  it.each([
    'logging: {format: json}',
    'logging: {format: text, vmodule: [{filePattern: "pod*", verbosity: 3}]}',
    'topologyManagerPolicy: single-numa-node\ntopologyManagerScope: pod',
    'tracing: {samplingRatePerMillion: 1000000, endpoint: "localhost:4317"}',
    'tracing: {endpoint: "unix:///run/otel.sock"}',
    'shutdownGracePeriod: 30s\nshutdownGracePeriodCriticalPods: 10s',
    'featureGates: {KubeletEnsureSecretPulledImages: false, KubeletCrashLoopBackOffMax: false}',
    'memoryReservationPolicy: TieredReservation',
    'memoryThrottlingFactor: 0.9\nfeatureGates: {MemoryQoS: false}',
    'memoryThrottlingFactor: null\nfeatureGates: {MemoryQoS: false}',
    'memoryThrottlingFactor: 0.8',
    'memoryThrottlingFactor: null',
    'cpuCFSQuotaPeriod: 50ms\nfeatureGates: {AllAlpha: true}',
    'featureGates: {AllBeta: false}',
    'reservedMemory: [{numaNode: 0, limits: {memory: 1Gi, hugepages-2Mi: 4Mi}}, {numaNode: 1, limits: {memory: 1}}, {}]',
    'evictionSoft: {memory.available: 10%}\nevictionSoftGracePeriod: {memory.available: 0s}\nevictionMinimumReclaim: {memory.available: 5%, nodefs.available: "0"}',
    'showHiddenMetricsForVersion: "1.36"',
    'podPidsLimit: 4294967296\nmaxOpenFiles: 4294967296',
    'logging: {format: json, options: {json: {splitStream: true, infoBufferSize: 1Ki}}}\nfeatureGates: {LoggingAlphaOptions: true}',
    'logging: {options: {json: {splitStream: false, infoBufferSize: "0"}}}',
    'logging: {flushFrequency: 0s}',
    'userNamespaces: {idsPerPod: 131072}',
    'tlsCurvePreferences: [23, 29]',
    'reservedSystemCPUs: 0-1,4',
  ])('of %j are fine', (text) => {
    const { warnings } = load(text);
    expect(warnings.filter((warning) => warning.includes('unknown field'))).toEqual([]);
  });

  it('allow no cgroups for pods, and nothing that is enforced, together', () => {
    for (const enforced of ['[]', '[none]']) {
      const { config } = load(`cgroupsPerQOS: false\nenforceNodeAllocatable: ${enforced}`);
      expect(cgroupOptions(config)).toBeUndefined();
    }
  });

  it('have default sysctls only with their gate', () => {
    const text = 'defaultPodSysctls: {net.core.somaxconn: "1024"}';
    expect(load(text).warnings).toEqual(['configuration fields without effect in this version: defaultPodSysctls']);
    expect(load(`${text}\nfeatureGates: {DefaultPodSysctls: true}`).warnings).toEqual([]);
  });

  it('allow a health port that is off and an unknown feature gate', () => {
    expect(load('healthzPort: 0').config.healthzPort).toBe(0);
    expect(load('featureGates: {Foo: true}').warnings).toEqual(['unrecognized feature gate: Foo']);
  });
});

describe('settings of the kubelet API', () => {
  it.each([
    ['address: node', 'address (--address) "node" must be an IP address'],
    ['authorization: {mode: RBAC}', 'unknown authorization mode RBAC, expected Webhook or AlwaysAllow'],
    ['tlsMinVersion: TLS1.2', 'unknown tls version "TLS1.2", expected one of VersionTLS10, VersionTLS11'],
    ['tlsCipherSuites: [TLS_NONE]', "Cipher suite TLS_NONE not supported or doesn't exist"],
    ['tlsCertFile: a', 'tlsCertFile (--tls-cert-file) and tlsPrivateKeyFile (--tls-private-key-file) must be'],
    ['readOnlyPort: 65536', 'readOnlyPort (--read-only-port) 65536 must be between 0 and 65535, inclusive'],
  ])('%s is refused', (text, problem) => {
    expect(() => load(text)).toThrow(`invalid configuration: ${problem}`);
  });

  it('may be the port 0 of a flag, which turns it off', () => {
    expect(load('', { port: 0 }).config.port).toBe(0);
  });
});
