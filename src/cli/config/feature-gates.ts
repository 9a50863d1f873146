/** Gates that are on for good. Source: pkg/features/kube_features.go. */
const LOCKED_ON = [
  'SidecarContainers',
  'InPlacePodVerticalScaling',
  'KubeletFineGrainedAuthz',
  'NodeSwap',
  'KubeletPSI',
  'ImageVolume',
  'PodObservedGenerationTracking',
  'RecursiveReadOnlyMounts',
  'DynamicResourceAllocation',
];

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
];

const OFF = [
  'EventedPLEG',
  'PodAndContainerStatsFromCRI',
  'MemoryQoS',
  'PodLogsQuerySplitStreams',
  'PodsAPI',
  'ContainerStopSignals',
  'CustomCPUCFSQuotaPeriod',
  'ReduceDefaultCrashLoopBackOffDecay',
  'ChangeContainerStatusOnKubeletRestart',
];

const SWITCHES = ['AllAlpha', 'AllBeta'];
const KNOWN = new Set([...LOCKED_ON, ...BETA_ON, ...OFF, ...SWITCHES]);

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

/** What is wrong with a choice of gates: `errors` stop the start, `warnings` are said. */
export const checkFeatureGates = (
  gates: Readonly<Record<string, boolean>>,
): { readonly errors: readonly string[]; readonly warnings: readonly string[] } => ({
  errors: Object.entries(gates)
    .filter(([name, value]) => LOCKED_ON.includes(name) && !value)
    .map(([name]) => `cannot set feature gate ${name} to false, feature is locked to true`),
  warnings: Object.keys(gates)
    .filter((name) => !KNOWN.has(name))
    .map((name) => `unrecognized feature gate: ${name}`),
});

/** Whether a gate is on, by name, by a switch over its stage, else by its default. */
export const isGateOn = (gates: Readonly<Record<string, boolean>>, name: string): boolean => {
  if (LOCKED_ON.includes(name)) return true;
  if (BETA_ON.includes(name)) return gates[name] ?? gates.AllBeta ?? true;
  return gates[name] ?? false;
};
