/** Gates that cannot be switched off. Source: pkg/features/kube_features.go. */
const LOCKED_ON = [
  'SidecarContainers',
  'InPlacePodVerticalScaling',
  'KubeletFineGrainedAuthz',
  'NodeLogQuery',
  'NodeSwap',
  'KubeletPSI',
  'ImageVolume',
  'PodObservedGenerationTracking',
  'RecursiveReadOnlyMounts',
  'DynamicResourceAllocation',
];

/** On by default in 1.37; here there is no way to switch them off. */
const ALWAYS_ON = ['ClusterTrustBundle', 'ClusterTrustBundleProjection', 'PodCertificateRequest'];

const BETA_ON = [
  'ContainerRestartRules',
  'RestartAllContainersOnContainerExits',
  'PLEGOnDemandRelist',
  'ExtendWebSocketsToKubelet',
  'ReloadKubeletClientCAFile',
  'ReloadKubeletServerCertificateFile',
  'KubeletCrashLoopBackOffMax',
  'KubeletEnsureSecretPulledImages',
  'GracefulNodeShutdown',
  'GracefulNodeShutdownBasedOnPodPriority',
  'PodReadyToStartContainersCondition',
  'RotateKubeletServerCertificate',
  'ContainerCheckpoint',
  'NodeDeclaredFeatures',
  'EnvFiles',
  'ResourceHealthStatus',
  'PodLevelResources',
  'ComponentFlagz',
  'ComponentStatusz',
  'InPlacePodLevelResourcesVerticalScaling',
  'InPlacePodVerticalScalingInitContainers',
  'LoggingBetaOptions',
  'ResourceHealthStatusMessage',
  'MemoryQoS',
  'PodsAPI',
];

const ALPHA = [
  'EventedPLEG',
  'PodAndContainerStatsFromCRI',
  'PodLogsQuerySplitStreams',
  'ContainerStopSignals',
  'CustomCPUCFSQuotaPeriod',
  'ReduceDefaultCrashLoopBackOffDecay',
  'PodLevelResourceManagers',
  'UserNamespacesHostNetworkSupport',
  'LoggingAlphaOptions',
  'GRPCContainerProbeTLS',
  'H2CContainerProbe',
  'DefaultPodSysctls',
];

/** Off by default, and not affected by a switch for a whole stage. */
const DEPRECATED = ['ChangeContainerStatusOnKubeletRestart'];

/** Gates that depend on others. Source: defaultKubernetesFeatureGateDependencies in pkg/features/kube_features.go. */
const NEEDS: Readonly<Record<string, readonly string[]>> = {
  ExtendWebSocketsToKubelet: ['NodeDeclaredFeatures'],
  GracefulNodeShutdownBasedOnPodPriority: ['GracefulNodeShutdown'],
  InPlacePodLevelResourcesVerticalScaling: ['PodLevelResources', 'NodeDeclaredFeatures'],
  InPlacePodVerticalScalingInitContainers: ['NodeDeclaredFeatures'],
  PodLevelResourceManagers: ['PodLevelResources'],
  ResourceHealthStatusMessage: ['ResourceHealthStatus'],
  RestartAllContainersOnContainerExits: ['ContainerRestartRules', 'NodeDeclaredFeatures'],
  UserNamespacesHostNetworkSupport: ['NodeDeclaredFeatures'],
};

const SWITCHES = ['AllAlpha', 'AllBeta'];

/** On by default and generally available in 1.37, and not locked. */
const STABLE = [...ALWAYS_ON, 'NodeDeclaredFeatures', 'PodReadyToStartContainersCondition'];
/** Off by default and beta in 1.37. */
const BETA_OFF = ['PodAndContainerStatsFromCRI', 'PodLevelResourceManagers'];
const KNOWN = new Set([...LOCKED_ON, ...ALWAYS_ON, ...BETA_ON, ...ALPHA, ...DEPRECATED, ...SWITCHES]);

/** Every gate that the agent knows, without the switches for whole stages, and its default. docs/configuration.md has a row for each. */
export const GATE_DEFAULTS: ReadonlyMap<string, 'locked on' | 'on' | 'off'> = new Map([
  ...LOCKED_ON.map((name) => [name, 'locked on'] as const),
  ...[...ALWAYS_ON, ...BETA_ON].map((name) => [name, 'on'] as const),
  ...[...ALPHA, ...DEPRECATED].map((name) => [name, 'off'] as const),
]);

/**
 * Reads `--feature-gates A=true,B=false`.
 *
 * Errors: with the texts of staging/src/k8s.io/component-base/featuregate.
 */
export const parseFeatureGates = (text: string): Readonly<Record<string, boolean>> =>
  Object.fromEntries(
    text
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '')
      .map((part) => {
        const [name = '', value] = part.split('=').map((side) => side.trim());
        if (value === undefined) throw new Error(`missing bool value for ${name}`);
        if (/^(1|t|true)$/i.test(value)) return [name, true];
        if (/^(0|f|false)$/i.test(value)) return [name, false];
        throw new Error(`invalid value of ${name}=${value}, err: expected true or false`);
      }),
  );

/** The problems of a choice of gates: `errors` prevent the start, `warnings` are logged. */
export const checkFeatureGates = (
  gates: Readonly<Record<string, boolean>>,
): { readonly errors: readonly string[]; readonly warnings: readonly string[] } => ({
  errors: [
    ...Object.entries(gates)
      .filter(([name, value]) => LOCKED_ON.includes(name) && !value)
      .map(([name]) => `cannot set feature gate ${name} to false, feature is locked to true`),
    ...Object.entries(NEEDS)
      .filter(([name]) => isGateOn(gates, name))
      .flatMap(([name, needs]) => {
        const off = needs.filter((need) => !isGateOn(gates, need));
        return off.length > 0 ? [`feature gate ${name} is on, but what it needs is off: ${off.join(', ')}`] : [];
      }),
  ],
  warnings: Object.entries(gates).flatMap(([name, value]) => {
    if (!KNOWN.has(name)) return [`unrecognized feature gate: ${name}`];
    return ALWAYS_ON.includes(name) && !value ? [`feature gate ${name} stays on: it cannot be switched off`] : [];
  }),
});

/** The alpha gates that are on. */
export const alphaGatesOn = (gates: Readonly<Record<string, boolean>>): readonly string[] =>
  ALPHA.filter((name) => isGateOn(gates, name));

/** A gate with the stage that Kubernetes 1.37 gives it; '' is generally available. */
export interface FeatureGate {
  readonly name: string;
  readonly stage: 'ALPHA' | 'BETA' | '' | 'DEPRECATED';
  readonly isOn: boolean;
}

/**
 * Every gate that the agent knows, with the switches for whole stages.
 *
 * Source: staging/src/k8s.io/component-base/featuregate/feature_gate.go AddMetrics; the stages are those of pkg/features/kube_features.go
 */
export const featureGates = (gates: Readonly<Record<string, boolean>>): readonly FeatureGate[] =>
  [...KNOWN].map((name) => ({ name, stage: stageOf(name), isOn: isGateOn(gates, name) }));

const stageOf = (name: string): FeatureGate['stage'] => {
  if (LOCKED_ON.includes(name) || STABLE.includes(name)) return '';
  if (DEPRECATED.includes(name)) return 'DEPRECATED';
  return BETA_ON.includes(name) || BETA_OFF.includes(name) || name === 'AllBeta' ? 'BETA' : 'ALPHA';
};

/** Whether a gate is on: by its name, by a switch for its stage, else by its default. */
export const isGateOn = (gates: Readonly<Record<string, boolean>>, name: string): boolean => {
  if (LOCKED_ON.includes(name) || ALWAYS_ON.includes(name)) return true;
  if (BETA_ON.includes(name)) return gates[name] ?? gates.AllBeta ?? true;
  return gates[name] ?? (ALPHA.includes(name) && (gates.AllAlpha ?? false));
};
