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
      // containerd 1.6 while it starts.
      code: status.UNKNOWN,
      details: 'server is not initialized yet',
      becomes: [
        'unavailable',
        'container runtime at unix:///run/it.sock is unavailable: server is not initialized yet',
      ],
    },
  ])('that ends with $code "$details" is told as $becomes.0', ({ code, details, becomes }) => {
    const error = toCriError(failure(code, details), 'ListContainers', 'unix:///run/it.sock');
    expect([error.code, error.message]).toEqual(becomes);
    expect(error.call).toBe('ListContainers');
  });
});
