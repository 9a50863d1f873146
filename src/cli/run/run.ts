import { hostname } from 'node:os';
import {
  catchError,
  concat,
  connect,
  defer,
  EMPTY,
  filter,
  fromEvent,
  ignoreElements,
  lastValueFrom,
  merge,
  NEVER,
  type Observable,
  of,
  Subject,
  switchMap,
  take,
  takeUntil,
  tap,
} from 'rxjs';
import { cgroupVersion } from '../../host/cgroups/host-cgroups.js';
import { monotonicScheduler } from '../../host/monotonic-scheduler.js';
import { readIfThere } from '../../host/files/read-if-there.js';
import { createJournal } from '../../journal/journal-writer.js';
import { errorText } from '../../model/cri/cri-error.js';
import { lowDescriptorLimit } from '../../model/node/low-descriptor-limit.js';
import { agentServer } from '../../server/agent-server.js';
import { Remark } from '../../server/routes/health.js';
import { healthServer } from '../../server/health-server.js';
import type { ServerEvent } from '../../server/listening/listen-while.js';
import { createMetrics } from '../../server/metrics/metrics.js';
import { registerPullRecords } from '../../server/metrics/pull-record-metrics.js';
import { countPullRecords } from '../../images/pull-record-files.js';
import { registerFeatureGates } from '../../server/metrics/feature-gate-metric.js';
import { registerLogSizes } from '../../server/metrics/log-metrics.js';
import { registerRefusedManifests } from '../../server/metrics/refused-manifests-metric.js';
import { registerSettings } from '../../server/metrics/setting-metrics.js';
import { alongside } from '../../streams/operators/alongside.js';
import type { RecordingFile } from '../../tools/recording/file/recording-file.js';
import type { Logger } from '../../streams/ports/logger.js';
import { type AgentInfo, announceAgent, removeAgentFile } from '../running-agent/agent-file.js';
import { lockRootDir } from '../running-agent/agent-lock.js';
import { embeddedRuntime, type RuntimeReady } from '../runtime/embedded-process.js';
import type { RunFailed } from '../runtime/restart-with-backoff.js';
import { closeDescriptors, inheritedDescriptors } from '../runtime/inherited-descriptors.js';
import { featureGates, isGateOn } from '../config/fields/feature-gates.js';
import type { CreateKubelet, KubeletHandle, Note } from '../kubelet/kubelet-handle.js';
import { farewell } from './farewell.js';
import { frames, liveTable } from '../screen/live-table.js';
import { createLogger, logForm } from '../process/logger.js';
import { type PreparedRun, prepareRun } from '../arguments/prepare-run.js';
import type { RunFlags } from '../arguments/run-flags.js';
import { refusedManifests } from '../running-agent/refused-manifests.js';
import { serveKubeletApi } from '../kubelet-api/serve-kubelet-api.js';
import { startRecording } from './start-recording.js';
import { stopSignal } from '../process/stop-signal.js';
import { buildOf } from '../process/build-of.js';
import { packageVersion } from '../process/version.js';
import { markFormat, requireFormat } from '../../processes/state-format.js';

/**
 * Runs the agent until a stop signal, or until the end with `--runonce`. Resolves when all its resources are released.
 *
 * Errors: flags or configuration are wrong, another agent uses the root directory, or the loop failed.
 */
export const runAgent = async (flags: RunFlags, createKubelet: CreateKubelet): Promise<void> => {
  const inherited = inheritedDescriptors();
  const prepared = prepareRun(flags);
  const { config, nodeName, paths } = prepared;
  // Before anything is touched: an earlier version than that of the files may not read them.
  for (const directory of [paths.rootDir, ...(prepared.isEmbedded ? [paths.embedded.stateDirectory] : [])])
    requireFormat(directory);
  const stop = stopSignal();
  const lock = lockRootDir(paths.rootDir);
  const logged$ = new Subject<Note>();
  const { format, verbosity } = config.logging;
  const isLive = process.stdout.isTTY && format !== 'json' && verbosity === 0;
  const log = createLogger({
    verbosity,
    form: isLive ? 'json' : logForm(format, process.stderr.isTTY),
    write: isLive ? (line) => logged$.next(toNote(line)) : (line) => void process.stderr.write(line),
  });
  const version = packageVersion();
  const build = buildOf(version);
  const startedAt = new Date();
  const journal = createJournal({
    directory: paths.journalDir,
    runId: `${startedAt.getTime().toString(36)}${process.pid.toString(36)}`,
    now: () => Date.now(),
    log,
  });
  let recording: RecordingFile | undefined;
  const meters = createMetrics({ nodeName, version });
  const { registry, probeRegistry, metrics } = meters;
  const refused = refusedManifests();
  registerRefusedManifests(registry, refused.count);
  registerFeatureGates(registry, featureGates(config.featureGates));
  registerSettings(registry, {
    cgroupVersion: cgroupVersion(),
    metricsProvider: isGateOn(config.featureGates, 'PodAndContainerStatsFromCRI') ? 'cri' : 'cadvisor',
  });
  if (isGateOn(config.featureGates, 'KubeletEnsureSecretPulledImages')) {
    registerPullRecords(registry, () => countPullRecords(paths.rootDir));
  }
  const agent = {
    pid: process.pid,
    startedAt: startedAt.toISOString(),
    node: nodeName,
    podLogsDir: paths.podLogsDir,
    runtimeSocket: prepared.runtimeSocket,
  };

  const announce = (info: AgentInfo): void => announceAgent(paths.agentFile, info, log);

  let reason = 'it has run once';
  try {
    announce(agent);
    markFormat(paths.rootDir, version, log);
    const started = journal.record({ kind: 'agent-started', version, node: nodeName, causes: [] });
    log.info({ version, node: nodeName, runtime: prepared.runtimeSocket, rootDir: paths.rootDir }, 'rx-kubelet starts');
    for (const warning of prepared.warnings) log.warn({}, warning);
    // A runtime that this agent starts has the same limit, needs more than the agent, and logs to a file of its own.
    const neediest = prepared.isEmbedded ? 'embedded runtime' : 'agent';
    const lowLimit = lowDescriptorLimit(readIfThere('/proc/self/limits') ?? '', neediest);
    if (lowLimit !== undefined) log.warn({}, lowLimit);

    recording = startRecording(flags, log);
    // Processes that outlive the agent must not inherit them. Not earlier: a flag may name one, as in --config
    // <(command).
    closeDescriptors(inherited);
    const { runtimeSocket, imageSocket, cluster } = prepared;
    const kubelet = createKubelet({
      config,
      nodeName,
      paths,
      runtimeSocket,
      imageSocket,
      log,
      metrics,
      recording,
      cluster,
      record: (event) => {
        refused.observe(event);
        return journal.record(event);
      },
    });
    registerLogSizes(registry, kubelet.stats.logs$);
    let runtimePid: number | undefined;
    const names = [nodeName, hostname(), ...(cluster?.nodeIps ?? [])];
    const healthChecks = { ...kubelet.healthChecks, manifests: () => remarkOn(refused.count()) };
    const health$ =
      config.healthzPort === 0
        ? NEVER
        : healthServer({
            address: config.healthzBindAddress,
            port: config.healthzPort,
            healthChecks,
            names,
          }).pipe(
            tap((event) => {
              if (event.kind === 'listening') announce({ ...agent, url: event.at });
              tellServer('health', event, log);
            }),
          );
    const ownUser$ = agentServer({
      socketPath: paths.agentSocket,
      pods: kubelet.pods,
      known: kubelet.known,
      metrics: registry,
      probeMetrics: probeRegistry,
      stats: kubelet.stats,
      streams: {
        ...{ findRunning: kubelet.findRunning, podChange$: kubelet.podChange$ },
        ...{ streaming: kubelet.streaming, scheduler: monotonicScheduler },
      },
    }).pipe(tap((event) => tellServer('pods and metrics', event, log)));
    const api$ = serveKubeletApi({
      ...{ prepared, kubelet, healthChecks, meters, names, log },
      process: { flags, startedAt, version, setVerbosity: log.setVerbosity },
    });
    const table$ = isLive
      ? liveTable(frames(kubelet.pod$, logged$, undefined, refused.lines), process.stdout, () => Date.now())
      : NEVER;
    const stop$ = fromEvent(stop, 'abort').pipe(
      take(1),
      switchMap(() => stopping(kubelet, flags.stopPodsOnExit, log)),
    );
    // The loop tolerates a runtime that is down. It starts with the first event of the runtime, to log no failures before that.
    const loop$ = runtimeEvents(prepared, build, log).pipe(
      tap((event) => (runtimePid = event.kind === 'ready' ? event.pid : undefined)),
      connect((runtime$) =>
        runtime$.pipe(
          take(1),
          switchMap(() => kubelet.run$),
          alongside(runtime$),
        ),
      ),
    );
    const agent$ = loop$.pipe(alongside(merge(lock.lost$, health$, ownUser$, api$, table$)), takeUntil(stop$));
    await lastValueFrom(agent$, { defaultValue: undefined });
    if (stop.aborted) reason = String(stop.reason);
    journal.record({ kind: 'agent-stopping', reason, causes: [started] });
    log.info({ reason }, 'rx-kubelet stops');
    const goodbye = farewell({ pods: kubelet.pods(), stopsPods: flags.stopPodsOnExit, runtimePid });
    if (goodbye !== undefined && isLive) process.stderr.write(`${goodbye}\n`);
    else if (goodbye !== undefined) log.info({}, goodbye);
  } catch (error) {
    // The directory at its path may belong to another agent now.
    if (!lock.isLost()) journal.record({ kind: 'agent-stopping', reason: errorText(error), causes: [] });
    throw error;
  } finally {
    journal.close();
    await recording?.close();
    if (!lock.isLost()) removeAgentFile(paths.agentFile);
    lock.release();
  }
};

const remarkOn = (count: number): Error | undefined =>
  count === 0 ? undefined : new Remark(`${count} ${count === 1 ? 'manifest is' : 'manifests are'} refused`);

const toNote = (line: string): Note => {
  const { level, message, error } = JSON.parse(line) as { level: string; message: string; error?: string };
  const text = error === undefined ? message : `${message}: ${error}`;
  return { level: level === 'warn' || level === 'error' ? level : 'info', text };
};

const runtimeEvents = (
  { isEmbedded, paths, runtimeSocket }: PreparedRun,
  build: string,
  log: Logger,
): Observable<RuntimeReady | RunFailed> => {
  if (!isEmbedded) return concat(of<RuntimeReady>({ kind: 'ready' }), NEVER);
  const [program, script = ''] = process.argv;
  return embeddedRuntime({
    ...paths.embedded,
    command: [program ?? process.execPath, ...process.execArgv, script, 'runtime'],
    build,
  }).pipe(
    tap((event) => {
      if (event.kind === 'replaced')
        log.info(
          { pid: event.pid, version: event.build ?? 'unknown', next: build },
          'the embedded runtime of another version is replaced; its containers run on',
        );
      else if (event.kind === 'ready')
        log.info({ socket: runtimeSocket, pid: event.pid }, 'the embedded runtime is ready');
      else
        log.error(
          { error: event.problem, retryInMs: event.retryInMs, log: paths.embedded.logFile },
          'no embedded runtime',
        );
    }),
    filter((event) => event.kind !== 'replaced'),
  );
};

const elsewhere = (what: 'health' | 'pods and metrics', problem: string): string =>
  what === 'health' && problem.includes('EADDRINUSE') ? '; --healthz-port names another port, 0 for none' : '';

const tellServer = (what: 'health' | 'pods and metrics', event: ServerEvent, log: Logger): void => {
  if (event.kind === 'listening') log.info({ at: event.at }, `${what} ${what === 'health' ? 'is' : 'are'} served`);
  else
    log.error(
      { error: event.problem, retryInMs: event.retryInMs },
      `cannot serve ${what}${elsewhere(what, event.problem)}`,
    );
};

/** Emits once everything that has to end before the loop has ended. */
const stopping = (kubelet: KubeletHandle, withPods: boolean, log: Logger): Observable<true> => {
  if (!withPods) return of(true);
  log.info({}, 'stopping all pods; a second signal leaves them running');
  const stopped$ = defer(() => kubelet.stopPods$).pipe(
    ignoreElements(),
    catchError((error: unknown) => {
      log.error({ error }, 'some pods could not be stopped');
      return EMPTY;
    }),
  );
  return concat(stopped$, of(true as const));
};
