import type { Subscription } from 'rxjs';
import { expect } from 'vitest';
import type { KubeApi } from '../../../src/kube-api/kube-api.js';
import { ApiError } from '../../../src/model/kube-api/api-error.js';
import type { ApiWatchMessage } from '../../../src/streams/ports/api-server.js';
import { type Http2Seen, json2 } from './http2-server.js';

export const GET = { method: 'GET', path: '/api/v1/nodes/n' } as const;
export const PUT = { method: 'PUT', path: '/api/v1/nodes/n', body: {} } as const;
export const LIVED = { wasOpen: true, livedMs: 60_000, hadNews: true, silentInRow: 0 };

export const errorOf = async (call: Promise<unknown>): Promise<ApiError> => {
  const error = await call.then(
    () => undefined,
    (problem: unknown) => problem,
  );
  expect(error).toBeInstanceOf(ApiError);
  return error as ApiError;
};

export interface OpenWatch {
  readonly came: (ApiWatchMessage | 'complete' | ApiError)[];
  readonly subscription: Subscription;
}

/** Subscribes to a watch; the server replies with headers. */
export const watching = (api: KubeApi, path: string): OpenWatch => {
  const came: OpenWatch['came'] = [];
  const subscription = api.watch({ path }).subscribe({
    next: (message) => came.push(message),
    error: (error: unknown) => came.push(error as ApiError),
    complete: () => came.push('complete'),
  });
  return { came, subscription };
};
export const isOpen = ({ came }: OpenWatch): boolean => came.length > 0;
export const eventsOf = ({ came }: OpenWatch): number =>
  came.filter((one) => typeof one === 'object' && 'kind' in one && one.kind === 'event').length;
/** Replies to watches with headers alone, and to all other requests as usual. */
export const answerWatches = ({ line, stream }: Http2Seen): void => {
  if (line.includes('watch=true')) stream.respond({ ':status': 200 });
  else json2(stream, 200, { kind: 'Ok' });
};
export const event = (name: string): string => `${JSON.stringify({ type: 'ADDED', object: { metadata: { name } } })}\n`;
