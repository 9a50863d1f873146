import { join } from 'node:path';
import {
  defer,
  distinctUntilChanged,
  finalize,
  map,
  type Observable,
  share,
  Subject,
  takeUntil,
  tap,
  timer,
} from 'rxjs';
import { type Kubelet, kubelet, type KubeletOptions, type KubeletPorts } from '../kubelet.js';
import type { ImageGcPolicy } from '../model/images/image-gc.js';
import type { LogRotationPolicy } from '../model/log-rotation.js';
import { formatPod } from '../model/pod.js';
import { quantity, unitValue } from '../model/quantity.js';
import type { NodeSettings } from '../host/read-node-facts.js';
import { recordKubelet } from '../recording/record-kubelet.js';
import { fileSource } from '../sources/file-source.js';
import { httpSource } from '../sources/http-source.js';
import type { PodSources } from '../streams/pod-config.js';
import type { Logger } from '../streams/ports.js';
import type { RunOnceResult } from '../streams/run-once.js';
import { type NodePortsOptions, withNodePorts } from '../with-node-ports.js';
import { joinCluster, type JoinedCluster } from './cluster/join-cluster.js';
import { cgroupOptions } from './config/cgroup-options.js';
import { isGateOn } from './config/feature-gates.js';
import { imageVerificationOf } from './config/image-verification.js';
import { eventRecorder } from './event-recorder.js';
import type { CreateKubelet, KubeletEnvironment } from './kubelet-handle.js';
import { runPodsOnce } from './run-pods-once.js';
import { packageVersion } from './version.js';

/** How often the table asks what the pods are; the loop has no stream of them. */
const LOOK_EVERY_MS = 500;

/** A kubelet over the sources that the configuration names, the runtime behind the socket and this machine. */
export const composeKubelet: CreateKubelet = (environment) => {
  const { config, log, record, metrics, runtimeSocket, imageSocket, recording } = environment;
  const stop$ = new Subject<{ readonly reason: string }>();
  const stopped$ = new Subject<never>();
  let current: Kubelet | undefined;

  /** The agent over this machine and, with a connection, as a node of its cluster. */
  const agent = (cluster?: JoinedCluster): Observable<unknown> => {
    const node: NodePortsOptions = {
      endpoint: `unix://${runtimeSocket}`,
      imageEndpoint: `unix://${imageSocket}`,
      requestTimeoutMs: config.runtimeRequestTimeoutMs,
      node: nodeSettings(environment),
      cgroups: cgroupOptions(config),
      record,
      recordEvent: eventRecorder(record, log),
      metrics,
      log,
    };
    return withNodePorts<unknown>(node, (own) => {
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
        stop$,
        ...(cluster && { cluster: cluster.options }),
      };
      if (config.runOnce) return runPodsOnce(ports, options).pipe(tap((result) => tellResult(result, log)));
      current = recording
        ? recordKubelet(kubelet, ports, options, {
            write: (entry) => recording.append(JSON.stringify(entry)),
            isOpen: recording.isOpen,
            by: `rx-kubelet ${packageVersion()}`,
            // Sources keep them to themselves, but what goes wrong may quote them.
            secrets: Object.values(config.staticPodURLHeader).flat(),
          })
        : kubelet(ports, options);
      return current.outcome$;
    });
  };
  const run$ = defer(() => (environment.cluster ? joinCluster(environment, environment.cluster, agent) : agent())).pipe(
    finalize(() => stopped$.complete()),
  );

  const pods = () => current?.pods() ?? [];
  return {
    run$,
    stopPods$: defer(() => {
      // Without a loop there is nothing that could stop a pod, and nothing that it started.
      if (!current) stopped$.complete();
      stop$.next({ reason: 'the agent was told to stop its pods' });
      return stopped$;
    }),
    pods,
    pod$: timer(0, LOOK_EVERY_MS).pipe(
      map(pods),
      distinctUntilChanged((before, after) => JSON.stringify(before) === JSON.stringify(after)),
      takeUntil(stopped$),
      share(),
    ),
    healthChecks: {
      syncloop: () => {
        const problem = current?.health();
        return problem === undefined ? undefined : new Error(problem);
      },
    },
  };
};

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

const podSources = ({ config, nodeName }: KubeletEnvironment): PodSources => {
  const { staticPodPath: path, staticPodURL: url, staticPodURLHeader: headers } = config;
  const { fileCheckFrequencyMs, httpCheckFrequencyMs } = config;
  return {
    ...(path !== '' && { file: fileSource({ path, nodeName, fileCheckFrequencyMs }) }),
    ...(url !== '' && { http: httpSource({ url, nodeName, headers, httpCheckFrequencyMs }) }),
  };
};

const nodeSettings = ({ config, nodeName, paths }: KubeletEnvironment): NodeSettings => ({
  rootDirectory: paths.rootDir,
  podLogsDirectory: paths.podLogsDir,
  containerLogsDirectory: paths.containerLogsDir,
  seccompDirectory: join(paths.rootDir, 'seccomp'),
  resolvConf: config.resolvConf,
  clusterDns: config.clusterDNS,
  clusterDomain: config.clusterDomain,
  maxPods: config.maxPods,
  nodeName,
  allowedUnsafeSysctls: config.allowedUnsafeSysctls,
  containerStopSignals: isGateOn(config.featureGates, 'ContainerStopSignals'),
  cpuCfsQuota: config.cpuCFSQuota,
  cpuCfsQuotaPeriodMicros: config.cpuCFSQuotaPeriodMs * 1000,
  seccompDefault: config.seccompDefault,
  singleProcessOomKill: config.singleProcessOOMKill === true,
});

const tellResult = ({ pod, rejected, error }: RunOnceResult, log: Logger): void => {
  const fields = { pod: formatPod(pod) };
  if (rejected !== undefined) log.warn({ ...fields, reason: rejected }, 'the pod was rejected');
  else if (error) log.error({ ...fields, error }, 'the pod could not be brought up');
  else log.info(fields, 'the pod is up');
};
