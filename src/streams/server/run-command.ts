import { catchError, defer, map, type Observable, of } from 'rxjs';
import { rpcErrorText } from '../../model/cri/rpc-error-text.js';
import type { Pod } from '../../model/pod/pod.js';
import { type FindRunning, podNamed, runningContainerId } from '../../model/server/named-pod.js';
import { limitByKey } from '../operators/limit-by-key.js';
import type { CommandReply, RunCommand } from '../ports/container-command.js';
import type { RuntimeService } from '../ports/runtime-service.js';

export interface RunCommandOptions {
  readonly pods: () => readonly Pod[];
  readonly findRunning: FindRunning;
  readonly runtime: Pick<RuntimeService, 'execSync'>;
}

/** The kubelet has no limit, and commands no deadline. */
const LIMITS = { inAll: 20, perKey: 10 };

/**
 * Returns the runner of commands for `/run`. Standard output and standard error are one after the other in the reply.
 *
 * Errors: none; a command that fails is a reply.
 * Source: pkg/kubelet/server/server.go getRun, pkg/kubelet/kubelet_pods.go RunInContainer
 */
export const runCommand = ({ pods, findRunning, runtime }: RunCommandOptions): RunCommand => {
  const limited = limitByKey({
    ...LIMITS,
    tooMany: () => new TooManyCommands('too many commands are running already'),
  });
  return ({ namespace, pod: name, uid, container, command }) =>
    defer((): Observable<CommandReply> => {
      const pod = podNamed(pods(), namespace, name);
      if (!pod) return of({ status: 404, body: 'pod does not exist' });
      const containerId = runningContainerId(findRunning, pod, { container, uid });
      if (containerId === undefined) {
        return of({ status: 500, body: `container not found (${JSON.stringify(container)})` });
      }
      return runtime.execSync({ containerId, cmd: [...command], timeout: 0n }).pipe(
        map(({ exitCode, stdout, stderr }) =>
          exitCode === 0
            ? { status: 200, type: 'application/json', body: joined(stdout, stderr) }
            : { status: 500, body: failureText(command, exitCode, stderr) },
        ),
        limited(pod.metadata.uid),
        catchError((error: unknown) =>
          error instanceof TooManyCommands
            ? of({ status: 429, body: error.message })
            : of({ status: 500, body: rpcErrorText(error) }),
        ),
      );
    });
};

class TooManyCommands extends Error {}

/** Source: cri-client/pkg/remote_runtime.go execSyncV1 */
const failureText = (command: readonly string[], exitCode: number, stderr: Uint8Array): string =>
  `command '${command.join(' ')}' exited with ${exitCode}: ${new TextDecoder().decode(stderr)}`;

const joined = (stdout: Uint8Array, stderr: Uint8Array): Uint8Array => {
  const whole = new Uint8Array(stdout.length + stderr.length);
  whole.set(stdout);
  whole.set(stderr, stdout.length);
  return whole;
};
