import { describe, expect, it } from 'vitest';
import { CriError } from '../../../src/model/cri/cri-error.js';
import { execOutcome, lateExecOutcome } from '../../../src/model/probes/exec-outcome.js';
import { type GrpcCode, grpcCode, grpcCodeOfHttp } from '../../../src/model/probes/grpc-code.js';
import { HealthFailure } from '../../../src/model/probes/health-failure.js';
import { failedHealthOutcome, healthOutcome } from '../../../src/model/probes/health-outcome.js';
import { httpOutcome } from '../../../src/model/probes/http-outcome.js';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('a command', () => {
  it.each([
    [0, 'success'],
    [1, 'failure'],
    [137, 'failure'],
    [-1, 'failure'],
  ])('that ends with %i is a %s', (exitCode, result) => {
    expect(execOutcome({ exitCode, stdout: bytes('out\n'), stderr: bytes('err') })).toEqual({
      result,
      output: 'out\nerr',
    });
  });

  it.each([
    [0, 0],
    [10_239, 1],
    [10_240, 0],
    [20_000, 0],
    [5_000, 5_240],
  ])('that prints %i bytes to its output shows %i of its errors', (out, err) => {
    const { output } = execOutcome({ exitCode: 0, stdout: bytes('o'.repeat(out)), stderr: bytes('e'.repeat(err + 1)) });
    const shown = Math.min(out, 10_240);
    expect(output).toBe('o'.repeat(shown) + 'e'.repeat(Math.min(err + 1, 10_240 - shown)));
  });

  it('that takes too long is a failure, even if all the rest is fine', () => {
    const late = new CriError('deadline-exceeded', 'ExecSync', 'timeout 1s exceeded');
    expect(lateExecOutcome(late, ['sh', '-c', 'echo "a"'], 90)).toEqual({
      result: 'failure',
      output: 'command timed out: "sh -c echo \\"a\\"" timed out after 1m30s',
    });
    expect(lateExecOutcome(new CriError('not-found', 'ExecSync', 'no such container'), [], 1)).toBeUndefined();
    expect(lateExecOutcome(new Error('deadline exceeded'), [], 1)).toBeUndefined();
  });
});

describe('an HTTP answer', () => {
  it.each([
    [199, 'failure'],
    [200, 'success'],
    [299, 'success'],
    [300, 'warning'],
    [399, 'warning'],
    [400, 'failure'],
    [0, 'failure'],
  ])('with status %i is a %s', (status, result) => {
    expect(httpOutcome({ status, body: 'b' })).toMatchObject({ result });
  });
});

describe('a health check', () => {
  it.each([
    ['SERVING', 'success', 'service healthy'],
    ['NOT_SERVING', 'failure', 'service unhealthy (responded with "NOT_SERVING")'],
  ])('answered with %s is a %s', (status, result, output) => {
    expect(healthOutcome(status)).toEqual({ result, output });
  });

  it.each<[GrpcCode, string]>([
    ['Unimplemented', 'error: this server does not implement the grpc health protocol (grpc.health.v1.Health): why'],
    ['DeadlineExceeded', 'timeout: health rpc did not complete within 2s'],
    ['NotFound', 'error: health rpc probe failed: rpc error: code = NotFound desc = why'],
  ])('that fails with %s is a failure', (code, output) => {
    expect(failedHealthOutcome(new HealthFailure('call', code, 'why'), 2000)).toEqual({ result: 'failure', output });
  });

  it('has its codes by their numbers', () => {
    expect([0, 4, 5, 12, 16, 17].map(grpcCode)).toEqual([
      ...['OK', 'DeadlineExceeded', 'NotFound', 'Unimplemented', 'Unauthenticated', 'Code(17)'],
    ]);
    expect([400, 401, 403, 404, 429, 503, 418].map(grpcCodeOfHttp)).toEqual([
      ...['Internal', 'Unauthenticated', 'PermissionDenied', 'Unimplemented', 'Unavailable', 'Unavailable', 'Unknown'],
    ]);
  });
});
