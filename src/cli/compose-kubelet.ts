import {
  asyncScheduler,
  defer,
  distinctUntilChanged,
  finalize,
  map,
  share,
  Subject,
  switchMap,
  takeUntil,
  tap,
  timer,
} from 'rxjs';
import { type Kubelet, kubelet, type KubeletOptions, type KubeletPorts } from '../kubelet.js';
import { errorText } from '../model/cri-error.js';
import { formatPod } from '../model/pod.js';
import { criClient } from '../runtime/cri-client.js';
import { nodeFiles } from '../runtime/node-files.js';
import { fileSource } from '../sources/file-source.js';
import { httpSource } from '../sources/http-source.js';
import { retryWithBackoff } from '../streams/operators/retry-with-backoff.js';
import type { PodSources } from '../streams/pod-config.js';
import type { Logger, PodEvent } from '../streams/ports.js';
import type { RunOnceResult } from '../streams/run-once.js';
import type { CreateKubelet, KubeletEnvironment, Note } from './kubelet-handle.js';
import { readNodeFacts } from './read-node-facts.js';
import { runPodsOnce } from './run-pods-once.js';

/** How often the table asks what the pods are; the loop has no stream of them. */
const LOOK_EVERY_MS = 500;

/** A kubelet over the sources that the configuration names, the runtime behind the socket and this machine. */
export const composeKubelet: CreateKubelet = (environment) => {
  const { config, paths, log, record, metrics, runtimeSocket, imageSocket } = environment;
  const note$ = new Subject<Note>();
  const stop$ = new Subject<{ readonly reason: string }>();
  const stopped$ = new Subject<never>();
  let current: Kubelet | undefined;

  const run$ = defer(() => {
    const client = criClient({
      endpoint: `unix://${runtimeSocket}`,
      imageEndpoint: `unix://${imageSocket}`,
      requestTimeoutMs: config.runtimeRequestTimeoutMs,
      observe: (operation, durationMs, error) =>
        metrics.runtimeOperation(operation, durationMs / 1000, error !== undefined),
    });
    const ports: Omit<KubeletPorts, 'runtimeName'> = {
      runtime: client.runtime,
      images: client.images,
      files: nodeFiles,
      record,
      recordEvent: (event) => note$.next(toNote(event)),
      metrics,
      scheduler: asyncScheduler,
      wallClock: () => Date.now(),
      node: readNodeFacts(config, paths, log),
      log,
      random: Math.random,
    };
    return client.runtime.version({}).pipe(
      tap({ error: (error: unknown) => log.warn({ error: errorText(error) }, 'waiting for the runtime') }),
      retryWithBackoff({ initialMs: 100, maxMs: 5000 }),
      switchMap(({ runtimeName }) => {
        const node: KubeletPorts = { ...ports, runtimeName };
        const options: KubeletOptions = {
          sources: podSources(environment),
          syncFrequencyMs: config.syncFrequencyMs,
          maxRestartBackOffMs: config.crashLoopBackOff.maxContainerRestartPeriodMs,
          stop$,
        };
        if (config.runOnce) return runPodsOnce(node, options).pipe(tap((result) => tellResult(result, log)));
        current = kubelet(node, options);
        return current.outcome$;
      }),
      finalize(() => client.close()),
    );
  }).pipe(finalize(() => stopped$.complete()));

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
    note$,
    healthChecks: {
      syncloop: () => {
        const problem = current?.health();
        return problem === undefined ? undefined : new Error(problem);
      },
    },
  };
};

const podSources = ({ config, nodeName }: KubeletEnvironment): PodSources => {
  const { staticPodPath: path, staticPodURL: url, staticPodURLHeader: headers } = config;
  const { fileCheckFrequencyMs, httpCheckFrequencyMs } = config;
  return {
    ...(path !== '' && { file: fileSource({ path, nodeName, fileCheckFrequencyMs }) }),
    ...(url !== '' && { http: httpSource({ url, nodeName, headers, httpCheckFrequencyMs }) }),
  };
};

const toNote = ({ pod, type, reason, message }: PodEvent): Note => ({
  level: type === 'Warning' ? 'warn' : 'info',
  text: `${formatPod(pod)} ${reason}: ${message}`,
});

const tellResult = ({ pod, rejected, error }: RunOnceResult, log: Logger): void => {
  const fields = { pod: formatPod(pod) };
  if (rejected !== undefined) log.warn({ ...fields, reason: rejected }, 'the pod was rejected');
  else if (error) log.error({ ...fields, error }, 'the pod could not be brought up');
  else log.info(fields, 'the pod is up');
};
