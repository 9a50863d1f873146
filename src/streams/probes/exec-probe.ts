import { catchError, defer, map, type Observable, of } from 'rxjs';
import { errorText } from '../../model/cri/cri-error.js';
import type { Probe } from '../../model/pod/pod.js';
import { execOutcome, lateExecOutcome } from '../../model/probes/exec-outcome.js';
import { probeCommand } from '../../model/probes/probe-command.js';
import { ProbeErrored } from '../../model/probes/probe-errored.js';
import type { ProbeOutcome } from '../../model/probes/probe-outcome.js';
import type { ProbeTarget } from '../ports/probe-handlers.js';
import type { RuntimeService } from '../ports/runtime-service.js';

/**
 * Runs a command in the container and emits the outcome of its exit code. The runtime ends a command after the time limit.
 *
 * Errors: `ProbeErrored` if the command is too long or the runtime could not run it.
 * Source: pkg/probe/exec/exec.go
 */
export const execProbe = (
  { execSync }: Pick<RuntimeService, 'execSync'>,
  { command = [] }: NonNullable<Probe['exec']>,
  { container, containerId, timeoutSeconds }: ProbeTarget,
): Observable<ProbeOutcome> =>
  defer(() => {
    const cmd = probeCommand(command, container);
    return execSync({ containerId, cmd, timeout: BigInt(timeoutSeconds) }).pipe(
      map(execOutcome),
      catchError((error: unknown) => {
        const late = lateExecOutcome(error, cmd, timeoutSeconds);
        if (late) return of(late);
        throw error;
      }),
    );
  }).pipe(
    catchError((error: unknown) => {
      throw new ProbeErrored(errorText(error), 'unknown', { cause: error });
    }),
  );
