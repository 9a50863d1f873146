import { ApiError } from '../../../src/model/kube-api/api-error.js';
import type { ApiUser } from '../../../src/tools/sim/api-server/answer-request.js';
import {
  type SimulatedApiServer,
  simulatedApiServer,
  type SimulatedApiServerOptions,
} from '../../../src/tools/sim/api-server/simulated-api-server.js';
import type { StoredObject } from '../../../src/tools/sim/api-server/stored-object.js';
import { seededRandom } from '../../../src/tools/sim/world/seeded-random.js';
import { VirtualScheduler } from '../../../src/tools/sim/world/virtual-scheduler.js';
import type { ApiRequest, ApiWatchMessage, ApiWatchRequest } from '../../../src/streams/ports/api-server.js';

export const PODS_PATH = '/api/v1/namespaces/default/pods';
export const ADMIN: ApiUser = { kind: 'admin' };
export const NODE: ApiUser = { kind: 'node', node: 'node-1' };

export const podNamed = (
  name: string,
  more: { readonly nodeName?: string; readonly labels?: object } = {},
): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, ...(more.labels && { labels: more.labels }) },
  spec: { nodeName: more.nodeName ?? 'node-1', containers: [{ name: 'main', image: 'registry.test/web:1' }] },
});

/** What a watch has said so far: `ADDED web`, `closed`, or `error 410 Expired`. */
export interface Heard {
  readonly said: readonly string[];
  readonly messages: readonly ApiWatchMessage[];
  readonly stop: () => void;
}

export interface ApiStage {
  readonly scheduler: VirtualScheduler;
  readonly server: SimulatedApiServer;
  /** The outcome of a request once it has come back. Errors: throws the `ApiError` of the reply. */
  readonly ask: (request: ApiRequest, user?: ApiUser) => unknown;
  readonly object: (request: ApiRequest, user?: ApiUser) => StoredObject;
  /** `404 NotFound` of a request that must fail; `none` without an answer. */
  readonly refusal: (request: ApiRequest, user?: ApiUser) => string;
  readonly watch: (request: ApiWatchRequest, user?: ApiUser) => Heard;
  /** Lets this time go by. */
  readonly pass: (ms: number) => void;
}

export const apiStage = (options: Partial<SimulatedApiServerOptions> = {}): ApiStage => {
  const random = seededRandom('api stage');
  const scheduler = new VirtualScheduler({ tieBreak: random.fork('ties').next });
  const server = simulatedApiServer({ scheduler, random: random.fork('server'), ...options });
  const pass = (ms: number): void => scheduler.runUntil(scheduler.now() + ms);

  const ask = (request: ApiRequest, user: ApiUser = ADMIN): unknown => {
    const outcomes: ({ readonly body: unknown } | { readonly error: unknown })[] = [];
    server
      .connect(user)
      .request(request)
      .subscribe({ next: (body) => outcomes.push({ body }), error: (error: unknown) => outcomes.push({ error }) });
    pass(60_000);
    const [outcome, ...more] = outcomes;
    if (!outcome || more.length > 0) throw new Error(`${outcomes.length} answers (expected 1)`);
    if ('error' in outcome) throw outcome.error;
    return outcome.body;
  };
  return {
    ...{ scheduler, server, ask, pass },
    object: (request, user) => ask(request, user) as StoredObject,
    refusal: (request, user) => {
      try {
        ask(request, user);
      } catch (error) {
        if (error instanceof ApiError) return error.code === undefined ? 'none' : `${error.code} ${error.reason}`;
        throw error;
      }
      throw new Error(`${request.method} ${request.path} was carried out (expected a refusal)`);
    },
    watch: (request, user = ADMIN) => {
      const said: string[] = [];
      const messages: ApiWatchMessage[] = [];
      const subscription = server
        .connect(user)
        .watch(request)
        .subscribe({
          next: (message) => {
            messages.push(message);
            said.push(message.kind === 'opened' ? 'opened' : `${message.type} ${nameOf(message.object)}`);
          },
          error: (error: unknown) =>
            said.push(error instanceof ApiError ? `error ${error.code} ${error.reason}` : 'error'),
          complete: () => said.push('closed'),
        });
      return { said, messages, stop: () => subscription.unsubscribe() };
    },
  };
};

/** Of a Status its code, of a bookmark its version. */
const nameOf = (object: unknown): string => {
  const { metadata, code } = object as StoredObject & { readonly code?: number };
  return String(code ?? metadata.name ?? metadata.resourceVersion);
};
