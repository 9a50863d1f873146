/** How a gate is set, unless the configuration sets it. `locked on` and `stays on` cannot be switched off. */
interface GateRow {
  /** Empty for generally available. */
  readonly stage: 'ALPHA' | 'BETA' | 'DEPRECATED' | '';
  readonly standard: 'on' | 'off' | 'locked on' | 'stays on';
}

const ALPHA: GateRow = { stage: 'ALPHA', standard: 'off' };
const BETA: GateRow = { stage: 'BETA', standard: 'on' };
/** Off although it is beta; the switch itself is such a gate. */
const BETA_OFF: GateRow = { stage: 'BETA', standard: 'off' };
/** Off, and not affected by a switch for a whole stage. */
const DEPRECATED: GateRow = { stage: 'DEPRECATED', standard: 'off' };
/** False stops the start. */
const LOCKED: GateRow = { stage: '', standard: 'locked on' };
/**
 * Not locked in 1.37, so the kubelet may still switch it off. A switch is a warning and does not stop the start; the gate stays on,
 * since the agent has no other way.
 */
const UNLOCKED: GateRow = { stage: '', standard: 'stays on' };

/**
 * Every gate that the agent knows, as in the Kubernetes that it says it is (`KUBERNETES_VERSION`), and the two switches for whole
 * stages. A row decides all of it: the default, whether `AllAlpha` or `AllBeta` sets the gate, whether it can be switched off, and
 * the label of `kubernetes_feature_enabled`. SidecarContainers has no gate any more; its name stays for old configurations.
 *
 * Source: pkg/features/kube_features.go, pkg/scheduler/features/scheduler_features.go, staging/src/k8s.io/component-base/logs
 */
const GATES: ReadonlyMap<string, GateRow> = new Map([
  ['SidecarContainers', LOCKED],
  ['InPlacePodVerticalScaling', LOCKED],
  ['KubeletFineGrainedAuthz', LOCKED],
  ['NodeLogQuery', LOCKED],
  ['NodeSwap', LOCKED],
  ['KubeletPSI', LOCKED],
  ['ImageVolume', LOCKED],
  ['PodObservedGenerationTracking', LOCKED],
  ['RecursiveReadOnlyMounts', LOCKED],
  ['DynamicResourceAllocation', LOCKED],
  ['NodeDeclaredFeatures', LOCKED],
  ['PLEGOnDemandRelist', LOCKED],
  ['PodReadyToStartContainersCondition', LOCKED],
  ['InPlacePodVerticalScalingInitContainers', LOCKED],
  ['HostnameOverride', LOCKED],
  ['UserNamespacesSupport', LOCKED],
  ['ProcMountType', LOCKED],
  ['ClusterTrustBundle', UNLOCKED],
  ['ClusterTrustBundleProjection', UNLOCKED],
  ['PodCertificateRequest', UNLOCKED],
  ['ResourceHealthStatus', UNLOCKED],
  ['ContainerRestartRules', BETA],
  ['RestartAllContainersOnContainerExits', BETA],
  ['ExtendWebSocketsToKubelet', BETA],
  ['ReloadKubeletClientCAFile', BETA],
  ['ReloadKubeletServerCertificateFile', BETA],
  ['KubeletCrashLoopBackOffMax', BETA],
  ['KubeletEnsureSecretPulledImages', BETA],
  ['GracefulNodeShutdown', BETA],
  ['GracefulNodeShutdownBasedOnPodPriority', BETA],
  ['RotateKubeletServerCertificate', BETA],
  ['ContainerCheckpoint', BETA],
  ['EnvFiles', BETA],
  ['PodLevelResources', BETA],
  ['ComponentFlagz', BETA],
  ['ComponentStatusz', BETA],
  ['InPlacePodLevelResourcesVerticalScaling', BETA],
  ['LoggingBetaOptions', BETA],
  ['ResourceHealthStatusMessage', BETA],
  ['MemoryQoS', BETA],
  ['PodsAPI', BETA],
  ['PodAndContainerStatsFromCRI', BETA_OFF],
  ['PodLevelResourceManagers', BETA_OFF],
  ['AllBeta', BETA_OFF],
  ['EventedPLEG', ALPHA],
  ['PodLogsQuerySplitStreams', ALPHA],
  ['ContainerStopSignals', ALPHA],
  ['CustomCPUCFSQuotaPeriod', ALPHA],
  ['ReduceDefaultCrashLoopBackOffDecay', ALPHA],
  ['UserNamespacesHostNetworkSupport', ALPHA],
  ['LoggingAlphaOptions', ALPHA],
  ['GRPCContainerProbeTLS', ALPHA],
  ['H2CContainerProbe', ALPHA],
  ['DefaultPodSysctls', ALPHA],
  ['AllAlpha', ALPHA],
  ['ChangeContainerStatusOnKubeletRestart', DEPRECATED],
]);

/**
 * Gates that depend on others; what cannot be switched off is left out.
 *
 * Source: defaultKubernetesFeatureGateDependencies in pkg/features/kube_features.go
 */
const NEEDS: Readonly<Record<string, readonly string[]>> = {
  GracefulNodeShutdownBasedOnPodPriority: ['GracefulNodeShutdown'],
  InPlacePodLevelResourcesVerticalScaling: ['PodLevelResources'],
  PodLevelResourceManagers: ['PodLevelResources'],
  RestartAllContainersOnContainerExits: ['ContainerRestartRules'],
};

const SWITCHES: ReadonlySet<string> = new Set(['AllAlpha', 'AllBeta']);

/** Every gate that the agent knows, without the switches for whole stages, and its default. docs/configuration.md has a row for each. */
export const GATE_DEFAULTS: ReadonlyMap<string, GateRow['standard']> = new Map(
  [...GATES].filter(([name]) => !SWITCHES.has(name)).map(([name, { standard }]) => [name, standard]),
);

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
      .filter(([name, value]) => GATES.get(name)?.standard === 'locked on' && !value)
      .map(([name]) => `cannot set feature gate ${name} to false, feature is locked to true`),
    ...Object.entries(NEEDS)
      .filter(([name]) => isGateOn(gates, name))
      .flatMap(([name, needs]) => {
        const off = needs.filter((need) => !isGateOn(gates, need));
        return off.length > 0 ? [`feature gate ${name} is on, but what it needs is off: ${off.join(', ')}`] : [];
      }),
  ],
  warnings: Object.entries(gates).flatMap(([name, value]) => {
    const row = GATES.get(name);
    if (!row) return [`unrecognized feature gate: ${name}`];
    return row.standard === 'stays on' && !value ? [`feature gate ${name} stays on: it cannot be switched off`] : [];
  }),
});

/** The alpha gates that are on. */
export const alphaGatesOn = (gates: Readonly<Record<string, boolean>>): readonly string[] =>
  [...GATE_DEFAULTS.keys()].filter((name) => GATES.get(name)?.stage === 'ALPHA' && isGateOn(gates, name));

/** A gate with its stage, and whether it is on. */
export interface FeatureGate extends Pick<GateRow, 'stage'> {
  readonly name: string;
  readonly isOn: boolean;
}

/**
 * Every gate that the agent knows, with the switches for whole stages.
 *
 * Source: staging/src/k8s.io/component-base/featuregate/feature_gate.go AddMetrics
 */
export const featureGates = (gates: Readonly<Record<string, boolean>>): readonly FeatureGate[] =>
  [...GATES].map(([name, { stage }]) => ({ name, stage, isOn: isGateOn(gates, name) }));

/**
 * Whether a gate is on: by its name, by the switch for its stage, else by its default. An unknown gate is off unless it is set.
 *
 * Source: staging/src/k8s.io/component-base/featuregate/feature_gate.go setUnsetAlphaGates, setUnsetBetaGates
 */
export const isGateOn = (gates: Readonly<Record<string, boolean>>, name: string): boolean => {
  const { stage, standard } = GATES.get(name) ?? DEPRECATED;
  if (stage === '') return true;
  const ofStage = { ALPHA: gates.AllAlpha, BETA: gates.AllBeta, DEPRECATED: undefined }[stage];
  return gates[name] ?? ofStage ?? standard === 'on';
};
