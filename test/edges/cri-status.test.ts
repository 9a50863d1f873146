import { Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { toCriError } from '../../src/runtime/cri-status.js';

const failure = (code: status, details: string): ServiceError =>
  Object.assign(new Error(`${code} ${status[code]}: ${details}`), { code, details, metadata: new Metadata() });

describe('a failed gRPC call', () => {
  it.each([
    { code: status.NOT_FOUND, details: 'no such container', becomes: ['not-found', 'no such container'] },
    { code: status.UNKNOWN, details: 'it broke', becomes: ['unknown', 'it broke'] },
    { code: status.DATA_LOSS, details: 'it is lost', becomes: ['data-loss', 'it is lost'] },
    {
      code: status.UNAVAILABLE,
      details: 'connection refused',
      becomes: ['unavailable', 'container runtime at unix:///run/it.sock is unavailable: connection refused'],
    },
    {
      code: status.DEADLINE_EXCEEDED,
      details: 'Deadline exceeded after 4.002s,metadata filters: 0.001s,LB pick: 0.003s,remote_addr=/run/it.sock',
      becomes: ['deadline-exceeded', 'context deadline exceeded: the container runtime did not answer in time'],
    },
    {
      // What the runtime itself ran out of time with is reported in its own words.
      code: status.DEADLINE_EXCEEDED,
      details: 'failed to stop container: context deadline exceeded',
      becomes: ['deadline-exceeded', 'failed to stop container: context deadline exceeded'],
    },
    {
      // containerd 1.6 while it starts.
      code: status.UNKNOWN,
      details: 'server is not initialized yet',
      becomes: [
        'unavailable',
        'container runtime at unix:///run/it.sock is unavailable: server is not initialized yet',
      ],
    },
  ])('that ends with $code "$details" is reported as $becomes.0', ({ code, details, becomes }) => {
    const error = toCriError(failure(code, details), 'ListContainers', 'unix:///run/it.sock');
    expect([error.code, error.message]).toEqual(becomes);
    expect(error.call).toBe('ListContainers');
  });
});
