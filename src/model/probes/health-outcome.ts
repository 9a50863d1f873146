import { formatGoDuration } from '../values/go-duration.js';
import type { HealthFailure } from './health-failure.js';
import type { ProbeOutcome } from './probe-outcome.js';

/** Returns the outcome of a reply in the health protocol of gRPC. Source: pkg/probe/grpc/grpc.go Probe */
export const healthOutcome = (status: string): ProbeOutcome =>
  status === 'SERVING'
    ? { result: 'success', output: 'service healthy' }
    : failure(`service unhealthy (responded with ${JSON.stringify(status)})`);

/** Returns the outcome of a failed call: a failure for every reason. */
export const failedHealthOutcome = ({ code, message }: HealthFailure, timeoutMs: number): ProbeOutcome => {
  if (code === 'DeadlineExceeded') return lateHealthOutcome(timeoutMs);
  if (code === 'Unimplemented') {
    return failure(
      `error: this server does not implement the grpc health protocol (grpc.health.v1.Health): ${message}`,
    );
  }
  return failure(`error: health rpc probe failed: rpc error: code = ${code} desc = ${message}`);
};

/** The text for a server that did not reply in time, whether or not it was reached. */
export const lateHealthOutcome = (timeoutMs: number): ProbeOutcome =>
  failure(`timeout: health rpc did not complete within ${formatGoDuration(timeoutMs)}`);

const failure = (output: string): ProbeOutcome => ({ result: 'failure', output });
