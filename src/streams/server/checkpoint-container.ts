import { catchError, concatMap, defer, last, map, type Observable, of, throwError } from 'rxjs';
import { rpcErrorText } from '../../model/cri/rpc-error-text.js';
import type { Pod } from '../../model/pod/pod.js';
import { checkpointName, checkpointTimeout } from '../../model/server/checkpoint.js';
import { type FindRunning, hasContainer, podNamed, runningContainerId } from '../../model/server/named-pod.js';
import type { CheckpointContainer, CommandReply } from '../ports/container-command.js';
import type { RuntimeService } from '../ports/runtime-service.js';

export interface CheckpointOptions {
  readonly pods: () => readonly Pod[];
  readonly findRunning: FindRunning;
  readonly runtime: Pick<RuntimeService, 'checkpointContainer'>;
  /** The folder of checkpoints. */
  readonly directory: string;
  /** Makes the folder unless it exists, and emits once. */
  readonly makeDirectory: () => Observable<unknown>;
  /** The shortest timeout of the call, in seconds. */
  readonly requestTimeoutSeconds: number;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/**
 * Returns the writer of checkpoints for `/checkpoint`. The runtime writes the file; the reply has its path.
 *
 * Errors: none; a failure is a reply.
 * Source: pkg/kubelet/server/server.go checkpoint, pkg/kubelet/kubelet.go CheckpointContainer
 */
export const checkpointContainer =
  ({
    pods,
    findRunning,
    runtime,
    directory,
    makeDirectory,
    requestTimeoutSeconds,
    now,
  }: CheckpointOptions): CheckpointContainer =>
  ({ namespace, pod: name, container, timeouts }) =>
    defer((): Observable<CommandReply> => {
      const pod = podNamed(pods(), namespace, name);
      if (!pod) return of({ status: 404, body: 'pod does not exist' });
      if (!hasContainer(pod, container)) return of({ status: 404, body: `container ${container} does not exist` });
      const asked = checkpointTimeout(timeouts);
      if (asked === undefined) return of({ status: 404, body: 'cannot parse value of timeout parameter' });
      const location = `${directory}/${checkpointName(pod, container, now())}`;
      return defer(() => {
        if (asked < 0) return failed('CheckpointContainer requires the timeout value to be > 0');
        const containerId = runningContainerId(findRunning, pod, { container });
        if (containerId === undefined) return failed(`container ${container} not found`);
        const timeout = BigInt(Math.max(asked, requestTimeoutSeconds));
        return makeDirectory().pipe(
          last(),
          concatMap(() => runtime.checkpointContainer({ containerId, location, timeout })),
        );
      }).pipe(
        map(() => ({ status: 200, type: 'application/json', body: JSON.stringify({ items: [location] }) })),
        catchError((error: unknown) =>
          of({
            status: 500,
            body: `checkpointing of ${namespace}/${name}/${container} failed (${rpcErrorText(error)})`,
          }),
        ),
      );
    });

const failed = (text: string): Observable<never> => throwError(() => new Error(text));
