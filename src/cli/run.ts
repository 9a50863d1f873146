import {
  catchError,
  concat,
  defer,
  EMPTY,
  fromEvent,
  ignoreElements,
  lastValueFrom,
  merge,
  NEVER,
  type Observable,
  of,
  share,
  Subject,
  switchMap,
  take,
  takeUntil,
  takeWhile,
  tap,
} from 'rxjs';
import { createJournal } from '../journal/journal-writer.js';
import { errorText } from '../model/cri-error.js';
import { localServer, type ServerEvent } from '../server/local-server.js';
import { createMetrics } from '../server/metrics.js';
import type { RecordingFile } from '../recording/recording-file.js';
import type { Logger } from '../streams/ports.js';
import { removeAgentFile, writeAgentFile } from './agent-file.js';
import { lockRootDir } from './agent-lock.js';
import { embeddedRuntime, type EmbeddedRuntimeEvent } from './embedded-process.js';
import type { CreateKubelet, KubeletHandle, Note } from './kubelet-handle.js';
import { frames, liveTable } from './live-table.js';
import { createLogger } from './logger.js';
import { type PreparedRun, prepareRun } from './prepare-run.js';
import type { RunFlags } from './run-flags.js';
import { startRecording } from './start-recording.js';
import { stopSignal } from './stop-signal.js';
import { packageVersion } from './version.js';

/**
 * Runs the agent until it is told to stop, or until it has run once where that was asked for. Resolves when everything that
 * it holds is let go of.
 *
 * Errors: flags or configuration are wrong, another agent uses the root directory, or the loop broke.
 */
export const runAgent = async (flags: RunFlags, createKubelet: CreateKubelet): Promise<void> => {
  const prepared = prepareRun(flags);
  const { config, nodeName, paths } = prepared;
  const stop = stopSignal();
  const lock = await lockRootDir(paths.rootDir);
  const logged$ = new Subject<Note>();
  const isLive = process.stdout.isTTY && config.logging.format === 'text' && config.logging.verbosity === 0;
  const log = createLogger({
    verbosity: config.logging.verbosity,
    forPeople: !isLive && process.stderr.isTTY && config.logging.format === 'text',
    write: isLive ? (line) => logged$.next(toNote(line)) : (line) => void process.stderr.write(line),
  });
  const version = packageVersion();
  const startedAt = new Date();
  const journal = createJournal({
    directory: paths.journalDir,
    runId: `${startedAt.getTime().toString(36)}${process.pid.toString(36)}`,
    now: () => Date.now(),
    log,
  });
  let recording: RecordingFile | undefined;
  const { registry, probeRegistry, metrics } = createMetrics({ nodeName, version });
  const agent = { pid: process.pid, startedAt: startedAt.toISOString(), node: nodeName };

  let reason = 'it has run once';
  try {
    writeAgentFile(paths.agentFile, agent);
    const started = journal.record({ kind: 'agent-started', version, node: nodeName, causes: [] });
    log.info({ version, node: nodeName, runtime: prepared.runtimeSocket, rootDir: paths.rootDir }, 'rx-kubelet starts');
    for (const warning of prepared.warnings) log.warn({}, warning);

    recording = startRecording(flags, log);
    const { runtimeSocket, imageSocket, cluster } = prepared;
    const kubelet = createKubelet({
      ...{ config, nodeName, paths, runtimeSocket, imageSocket, log, metrics, recording, cluster },
      record: journal.record,
    });
    const runtime$ = runtimeEvents(prepared, log).pipe(share());
    const server$ =
      config.healthzPort === 0
        ? NEVER
        : localServer({
            address: config.healthzBindAddress,
            port: config.healthzPort,
            pods: kubelet.pods,
            healthChecks: kubelet.healthChecks,
            metrics: registry,
            probeMetrics: probeRegistry,
          }).pipe(
            tap((event) => serverChanged(event, log, (url) => writeAgentFile(paths.agentFile, { ...agent, url }))),
          );
    const table$ = isLive ? liveTable(frames(kubelet.pod$, logged$), process.stdout, () => Date.now()) : NEVER;
    const stop$ = fromEvent(stop, 'abort').pipe(
      take(1),
      switchMap(() => stopping(kubelet, flags.stopPodsOnExit, log)),
    );
    const ended = Symbol('the loop ended by itself');
    // The loop copes with a runtime that is away; it is spared the first moments of one that is only just starting.
    const loop$ = runtime$.pipe(
      take(1),
      switchMap(() => kubelet.run$),
      ignoreElements(),
    );
    // Whoever shares the runtime's events must have subscribed before the first of them.
    const agent$ = merge(server$, table$, concat(loop$, of(ended)), runtime$).pipe(
      takeWhile((value) => value !== ended),
      takeUntil(stop$),
    );
    await lastValueFrom(agent$, { defaultValue: undefined });
    if (stop.aborted) reason = String(stop.reason);
    journal.record({ kind: 'agent-stopping', reason, causes: [started] });
    log.info({ reason }, 'rx-kubelet stops');
  } catch (error) {
    journal.record({ kind: 'agent-stopping', reason: errorText(error), causes: [] });
    throw error;
  } finally {
    journal.close();
    await recording?.close();
    removeAgentFile(paths.agentFile);
    lock.release();
  }
};

const toNote = (line: string): Note => {
  const { level, message, error } = JSON.parse(line) as { level: string; message: string; error?: string };
  const text = error === undefined ? message : `${message}: ${error}`;
  return { level: level === 'warn' || level === 'error' ? level : 'info', text };
};

const runtimeEvents = (
  { isEmbedded, paths, runtimeSocket }: PreparedRun,
  log: Logger,
): Observable<EmbeddedRuntimeEvent> => {
  if (!isEmbedded) return concat(of<EmbeddedRuntimeEvent>({ kind: 'ready' }), NEVER);
  const [program, script = ''] = process.argv;
  return embeddedRuntime({
    ...paths.embedded,
    command: [program ?? process.execPath, ...process.execArgv, script, 'runtime'],
  }).pipe(
    tap((event) => {
      if (event.kind === 'ready') log.info({ socket: runtimeSocket, pid: event.pid }, 'the embedded runtime is ready');
      else
        log.error(
          { error: event.problem, retryInMs: event.retryInMs, log: paths.embedded.logFile },
          'no embedded runtime',
        );
    }),
  );
};

const serverChanged = (event: ServerEvent, log: Logger, announce: (url: string) => void): void => {
  if (event.kind === 'listening') {
    announce(event.url);
    log.info({ url: event.url }, 'health, pods and metrics are served');
  } else log.error({ error: event.problem, retryInMs: event.retryInMs }, 'cannot serve health, pods and metrics');
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
