import { join } from 'node:path';
import {
  auditTime,
  BehaviorSubject,
  concat,
  defer,
  finalize,
  firstValueFrom,
  map,
  merge,
  NEVER,
  type Observable,
  of,
  ReplaySubject,
  share,
  startWith,
  Subject,
  switchMap,
  takeUntil,
  tap,
  throwError,
} from 'rxjs';
import type { Kubelet, KubeletOptions, KubeletPorts } from '../../kubelet-options.js';
import { kubelet } from '../../kubelet.js';
import type { ImageGcPolicy } from '../../model/images/image-gc.js';
import type { LogRotationPolicy } from '../../model/upkeep/log-rotation.js';
import { shutdownGroups } from '../../model/shutdown/shutdown-groups.js';
import { startedBy } from '../../model/pod-status/started-by.js';
import { formatPod } from '../../model/pod/pod.js';
import { quantity, unitValue } from '../../model/resources/quantity.js';
import { memorySettings } from '../config/settings/memory-settings.js';
import type { NodeSettings } from '../../host/facts/read-node-facts.js';
import { recordKubelet } from '../../tools/recording/record-kubelet.js';
import { monotonicScheduler } from '../../host/monotonic-scheduler.js';
import { ApiError } from '../../model/kube-api/api-error.js';
import { fileSource } from '../../sources/file-source.js';
import { httpSource } from '../../sources/http-source.js';
import { apiClient } from '../../streams/cluster/api-client.js';
import type { PodSources } from '../../streams/config/pod-config.js';
import type { Logger } from '../../streams/ports/logger.js';
import type { RunOnceResult } from '../../streams/run-once/run-once.js';
import { type NodePortsOptions, withNodePorts } from '../../with-node-ports.js';
import { joinCluster, type JoinedCluster } from '../cluster/join-cluster.js';
import { keepServingCertificate } from '../cluster/keep-serving-certificate.js';
import { cgroupOptions } from '../config/settings/cgroup-options.js';
import { alphaGatesOn, isGateOn } from '../config/fields/feature-gates.js';
import { evictionPolicy } from '../config/settings/eviction-policy.js';
import { imageVerificationOf } from '../config/settings/image-verification.js';
import { eventRecorder } from './event-recorder.js';
import type { CreateKubelet, KubeletEnvironment, KubeletHandle } from './kubelet-handle.js';
import { knownSoon } from './known-soon.js';
import { lateCalls, type RuntimeConnection } from './late-calls.js';
import { runPodsOnce } from './run-pods-once.js';
import { statsOfNode } from './stats-of-node.js';
import { packageVersion } from '../process/version.js';

/** The time within which changes of pods become one list, in milliseconds: a start of many pods changes each of them several times. */
const LIST_MS = 100;

/** A kubelet with the sources of the configuration, the runtime of the socket and this machine. */
export const composeKubelet: CreateKubelet = (environment) => {
  const { config, log, record, metrics, runtimeSocket, imageSocket, recording } = environment;
  const stop$ = new Subject<{ readonly reason: string }>();
  const stopped$ = new Subject<never>();
  const agent$ = new BehaviorSubject<Kubelet | undefined>(undefined);
  const joined$ = new ReplaySubject<JoinedCluster>(1);
  const eviction = evictionPolicy(config);
  let reviewApi: KubeletHandle['reviewApi'] = NO_API;
  let connection: RuntimeConnection | undefined;

  /** The agent with the ports of this machine and, with a connection, as a node of its cluster. */
  const agent = (cluster?: JoinedCluster): Observable<unknown> => {
    if (cluster) {
      reviewApi = reviewClient(cluster, environment);
      joined$.next(cluster);
    }
    const node: NodePortsOptions = {
      endpoint: `unix://${runtimeSocket}`,
      imageEndpoint: `unix://${imageSocket}`,
      requestTimeoutMs: config.runtimeRequestTimeoutMs,
      node: nodeSettings(environment),
      cgroups: cgroupOptions(config),
      probes: {
        grpcTls: isGateOn(config.featureGates, 'GRPCContainerProbeTLS'),
        http2: isGateOn(config.featureGates, 'H2CContainerProbe'),
      },
      record,
      recordEvent: eventRecorder(record, log),
      metrics,
      log,
    };
    return withNodePorts<unknown>(node, (own, calls) => {
      connection = { ...own, ...calls };
      const ports: KubeletPorts = { ...own, ...(cluster && { cluster: cluster.ports }) };
      const options: KubeletOptions = {
        sources: podSources(environment),
        syncFrequencyMs: config.syncFrequencyMs,
        imagePulls: {
          serialized: config.serializeImagePulls,
          maxParallel: config.maxParallelImagePulls,
          perSecond: config.registryPullQPS,
          burst: config.registryBurst,
        },
        imageVerification: imageVerificationOf(config),
        maxRestartBackOffMs: config.crashLoopBackOff.maxContainerRestartPeriodMs,
        logRotation: logRotationPolicy(config),
        imageGc: imageGcPolicy(config),
        eventedPleg: isGateOn(config.featureGates, 'EventedPLEG'),
        shutdownGroups: shutdownGroups(config),
        ...(eviction && { eviction }),
        stop$,
        ...(cluster && { cluster: cluster.options }),
      };
      if (config.runOnce) return runPodsOnce(ports, options).pipe(tap((result) => tellResult(result, log)));
      const made = recording
        ? recordKubelet(kubelet, ports, options, {
            write: (entry) => recording.append(JSON.stringify(entry)),
            isOpen: recording.isOpen,
            by: `rx-kubelet ${packageVersion()}`,
            // Sources do not log these values, but an error text may contain them.
            secrets: Object.values(config.staticPodURLHeader).flat(),
          })
        : kubelet(ports, options);
      agent$.next(made);
      return made.outcome$;
    });
  };
  const run$ = defer(() => (environment.cluster ? joinCluster(environment, environment.cluster, agent) : agent())).pipe(
    finalize(() => stopped$.complete()),
  );

  const known$ = knownSoon(
    merge(agent$.pipe(switchMap((made) => made?.ready$ ?? NEVER)), concat(stopped$, of(undefined))),
    monotonicScheduler,
  );
  const addresses$ = agent$.pipe(
    switchMap((agent) => agent?.node$ ?? of(undefined)),
    map((node) => node?.status?.addresses ?? []),
  );
  const pods = () => {
    const agentNow = agent$.value;
    return agentNow?.pods().map((pod) => startedBy(pod, agentNow.existsSince(pod.metadata.uid))) ?? [];
  };
  return {
    run$,
    stopPods$: defer(() => {
      // Without a running loop no pod can be stopped, and the loop has started none.
      if (!agent$.value) stopped$.complete();
      stop$.next({ reason: 'the agent was asked to stop its pods' });
      return stopped$;
    }),
    pods,
    known: () => firstValueFrom(known$),
    pod$: agent$.pipe(
      switchMap((made) => made?.pods$ ?? NEVER),
      auditTime(LIST_MS),
      startWith(undefined),
      map(pods),
      takeUntil(stopped$),
      share(),
    ),
    podChange$: agent$.pipe(switchMap((made) => (made ? merge(made.pods$, made.runtimePod$) : NEVER))),
    runningPods: () => agent$.value?.runningPods() ?? [],
    servingCertificate$: joined$.pipe(switchMap((cluster) => keepServingCertificate(environment, cluster, addresses$))),
    stats: statsOfNode(environment, pods, () => connection),
    findRunning: (pod) => agent$.value?.findRunning(pod),
    reviewApi: { request: (asked) => defer(() => reviewApi.request(asked)) },
    ...lateCalls(() => connection),
    healthChecks: {
      syncloop: () => {
        const problem = agent$.value?.health();
        return problem === undefined ? undefined : new Error(problem);
      },
    },
  };
};

const NO_API: KubeletHandle['reviewApi'] = {
  request: () => throwError(() => new ApiError({ message: 'there is no connection to an API server' })),
};

/** The limits are those of the agent, but counted apart: clients with wrong tokens must not hold up its own requests. */
const reviewClient = (
  { ports, options }: JoinedCluster,
  { config, metrics, log }: KubeletEnvironment,
): KubeletHandle['reviewApi'] =>
  apiClient(ports.api, {
    qps: config.kubeAPIQPS,
    burst: config.kubeAPIBurst,
    scheduler: monotonicScheduler,
    ...(options.host !== undefined && { host: options.host }),
    metrics,
    log,
  });

const logRotationPolicy = (config: KubeletEnvironment['config']): LogRotationPolicy => ({
  maxBytes: unitValue(quantity(config.containerLogMaxSize)),
  maxFiles: config.containerLogMaxFiles,
  workers: config.containerLogMaxWorkers,
  periodMs: config.containerLogMonitorIntervalMs,
});

const imageGcPolicy = (config: KubeletEnvironment['config']): ImageGcPolicy => ({
  highThresholdPercent: config.imageGCHighThresholdPercent,
  lowThresholdPercent: config.imageGCLowThresholdPercent,
  minAgeMs: config.imageMinimumGCAgeMs,
  maxAgeMs: config.imageMaximumGCAgeMs,
});

const podSources = ({ config, nodeName, cluster }: KubeletEnvironment): PodSources => {
  const { staticPodPath: path, staticPodURL: url, staticPodURLHeader: headers } = config;
  const { fileCheckFrequencyMs, httpCheckFrequencyMs } = config;
  const gates = alphaGatesOn(config.featureGates);
  const common = { nodeName, hasApiServer: cluster !== undefined, gates, scheduler: monotonicScheduler };
  return {
    ...(path !== '' && { file: fileSource({ ...common, path, fileCheckFrequencyMs }) }),
    ...(url !== '' && { http: httpSource({ ...common, url, headers, httpCheckFrequencyMs }) }),
  };
};

const nodeSettings = ({ config, nodeName, paths, cluster }: KubeletEnvironment): NodeSettings => ({
  rootDirectory: paths.rootDir,
  podLogsDirectory: paths.podLogsDir,
  containerLogsDirectory: paths.containerLogsDir,
  seccompDirectory: join(paths.rootDir, 'seccomp'),
  resolvConf: config.resolvConf,
  clusterDns: config.clusterDNS,
  hasCluster: cluster !== undefined,
  clusterDomain: config.clusterDomain,
  maxPods: config.maxPods,
  nodeName,
  allowedUnsafeSysctls: config.allowedUnsafeSysctls,
  containerStopSignals: isGateOn(config.featureGates, 'ContainerStopSignals'),
  resizesPods: isGateOn(config.featureGates, 'InPlacePodLevelResourcesVerticalScaling'),
  readsEnvFiles: isGateOn(config.featureGates, 'EnvFiles'),
  ...(isGateOn(config.featureGates, 'DefaultPodSysctls') && { defaultSysctls: config.defaultPodSysctls }),
  cpuCfsQuota: config.cpuCFSQuota,
  cpuCfsQuotaPeriodMicros: config.cpuCFSQuotaPeriodMs * 1000,
  seccompDefault: config.seccompDefault,
  ...memorySettings(config),
});

const tellResult = ({ pod, rejected, error }: RunOnceResult, log: Logger): void => {
  const fields = { pod: formatPod(pod) };
  if (rejected !== undefined) log.warn({ ...fields, reason: rejected }, 'the pod was rejected');
  else if (error) log.error({ ...fields, error }, 'the pod did not start');
  else log.info(fields, 'the pod runs');
};
