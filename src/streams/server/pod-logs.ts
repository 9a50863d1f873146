import {
  asyncScheduler,
  catchError,
  concat,
  defer,
  map,
  mergeMap,
  type Observable,
  of,
  type SchedulerLike,
  throwError,
  timer,
} from 'rxjs';
import { errorText } from '../../model/cri/cri-error.js';
import { logInstance } from '../../model/logs/log-instance.js';
import type { LogOptions } from '../../model/logs/log-options.js';
import { readLogQuery } from '../../model/logs/log-query.js';
import { hasContainer, podNamed } from '../../model/server/named-pod.js';
import type { Pod } from '../../model/pod/pod.js';
import { isContainerRunning } from '../logs/is-container-running.js';
import { requestedLog } from '../logs/requested-log.js';
import { alongside } from '../operators/alongside.js';
import { limitByKey } from '../operators/limit-by-key.js';
import type { LogReading } from '../ports/log-reading.js';
import type { PodLogReply, ReadPodLog } from '../ports/read-pod-log.js';
import type { RuntimeService } from '../ports/runtime-service.js';

export interface PodLogsOptions {
  /** The pods of the node, each with the status that the agent knows. */
  readonly pods: () => readonly Pod[];
  readonly runtime: Pick<RuntimeService, 'containerStatus'>;
  readonly files: LogReading;
  /** Whether a client may select a stream: the gate PodLogsQuerySplitStreams. */
  readonly splitStreams: boolean;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** The most replies that are under way, in all and for one pod. */
  readonly limits?: { readonly inAll: number; readonly perPod: number };
  readonly scheduler?: SchedulerLike;
}

/** The time after which a reply is broken off. Source: pkg/kubelet/server/server.go, WriteTimeout. */
export const LONGEST_REPLY_MS = 4 * 60 * 60 * 1_000;

/** The kubelet has no limit. Other requests need connections, too. */
const LIMITS = { inAll: 50, perPod: 20 };

class TooManyReaders extends Error {}

/**
 * Returns the reader of logs by the names of the API. A mirror pod has the name of its static pod. A problem that comes
 * after `accepted` is part of the output, as upstream has it.
 *
 * Errors: the reply has taken 4 h; it is not complete then.
 * Ends:   with the log, as `containerLog` does.
 * Source: pkg/kubelet/server/server.go getContainerLogs, pkg/kubelet/kubelet_pods.go GetKubeletContainerLogs
 */
export const podLogs = ({
  pods,
  runtime,
  files,
  splitStreams,
  now,
  limits = LIMITS,
  scheduler = asyncScheduler,
}: PodLogsOptions): ReadPodLog => {
  const limited = limitByKey({
    inAll: limits.inAll,
    perKey: limits.perPod,
    tooMany: (limit) =>
      new TooManyReaders(
        limit === 'perKey'
          ? `${limits.perPod} logs of this pod are read already, which is the most`
          : `${limits.inAll} logs of this node are read already, which is the most`,
      ),
  });

  const tooLong$ = timer(LONGEST_REPLY_MS, scheduler).pipe(
    mergeMap(() => throwError(() => new Error('the reply has taken four hours'))),
  );

  const outputOf = (
    container: { readonly containerId: string; readonly reference: string },
    options: LogOptions,
    ready: () => Observable<unknown>,
  ): Observable<Uint8Array> => {
    const { containerId, reference } = container;
    return runtime.containerStatus({ containerId }).pipe(
      catchError((cause: unknown) =>
        throwError(() => new Error(`unable to retrieve container logs for ${reference}`, { cause })),
      ),
      map(({ status }) => {
        if (!status?.logPath) throw new Error(`container ${reference} has no log`);
        return status.logPath;
      }),
      mergeMap((path) =>
        requestedLog({
          ...{ path, files, options, ready, scheduler, now: now() },
          isRunning: () => isContainerRunning(runtime, containerId),
        }),
      ),
    );
  };

  return ({ namespace, pod: name, container, query, ready }) =>
    defer(() => {
      const asked = readLogQuery(query, splitStreams);
      if (!('options' in asked)) return of(refused(asked.status, asked.text));
      const pod = podNamed(pods(), namespace, name);
      if (!pod) return of(refused(404, `pod ${JSON.stringify(name)} does not exist`));
      if (!hasContainer(pod, container)) {
        return of(refused(404, `container ${JSON.stringify(container)} not found in pod ${JSON.stringify(name)}`));
      }
      const instance = logInstance(name, pod.status, container, asked.options.previous);
      if ('problem' in instance) return of(refused(400, instance.problem));
      const output$ = outputOf(instance, asked.options, ready).pipe(
        catchError((error: unknown) => of(new TextEncoder().encode(errorText(error)))),
        map((bytes): PodLogReply => ({ kind: 'output', bytes })),
      );
      return concat(of<PodLogReply>({ kind: 'accepted' }), output$).pipe(
        alongside(tooLong$),
        limited(pod.metadata.uid),
        catchError((error: unknown) =>
          error instanceof TooManyReaders ? of(refused(429, error.message)) : throwError(() => error),
        ),
      );
    });
};

const refused = (status: number, text: string): PodLogReply => ({ kind: 'refused', status, text });
