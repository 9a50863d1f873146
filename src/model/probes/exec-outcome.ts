import { formatGoDuration } from '../values/go-duration.js';
import { isCriError } from '../cri/cri-error.js';
import { cutOutput } from './cut-output.js';
import type { ProbeOutcome } from './probe-outcome.js';

/** Source: pkg/probe/exec/exec.go Probe, pkg/kubelet/kuberuntime/kuberuntime_container.go RunInContainer */
export const execOutcome = (answer: {
  readonly exitCode: number;
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
}): ProbeOutcome => ({
  result: answer.exitCode === 0 ? 'success' : 'failure',
  output: cutOutput(answer.stdout, answer.stderr),
});

/**
 * Returns the outcome of a failed call. A command that exceeded its timeout is a failure; any other error reports
 * nothing about the container.
 *
 * Source: cri-client/pkg/remote_runtime.go execSyncV1
 */
export const lateExecOutcome = (
  error: unknown,
  command: readonly string[],
  timeoutSeconds: number,
): ProbeOutcome | undefined =>
  isCriError(error, 'deadline-exceeded')
    ? {
        result: 'failure',
        output: `command timed out: ${JSON.stringify(command.join(' '))} timed out after ${formatGoDuration(timeoutSeconds * 1000)}`,
      }
    : undefined;
