import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import createRouter from 'find-my-way';
import { errorText } from '../../model/cri/cri-error.js';
import { send } from './http-routes.js';

export type RouteMethod = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** Replies to the request itself, with the decoded parameters of the path. A parameter may be any text, `..` and slashes too. */
export type HandleRequest = (
  request: IncomingMessage,
  response: ServerResponse,
  parameters: Readonly<Record<string, string | undefined>>,
) => void | Promise<void>;

export interface ParameterRoute {
  readonly methods: readonly RouteMethod[];
  /** With parameters, such as `/containerLogs/:namespace/:pod/:container`. */
  readonly path: string;
  readonly handle: HandleRequest;
}

const METHODS: readonly RouteMethod[] = ['GET', 'POST', 'PUT', 'DELETE'];
/** Names of pods have up to 253 characters, encoded ones three times as many. */
const LONGEST_PARAMETER = 1_024;

/**
 * Replies by the routes, with 405 to another method of their paths, and by `otherwise` to other paths. A handler that
 * fails affects only its own reply.
 */
export const answerByParameters = (routes: readonly ParameterRoute[], otherwise: RequestListener): RequestListener => {
  const router = createRouter({
    ignoreTrailingSlash: true,
    maxParamLength: LONGEST_PARAMETER,
    defaultRoute: (request, response) => {
      const allowed = METHODS.filter((method) => router.find(method, request.url ?? '/') !== null);
      if (allowed.length === 0) return otherwise(request, response);
      response.setHeader('Allow', allowed.join(', '));
      send(response, { status: 405, body: 'Method Not Allowed\n' });
    },
  });
  for (const { methods, path, handle } of routes) {
    router.on([...methods], path, (request, response, parameters) => {
      Promise.resolve()
        .then(() => handle(request, response, parameters))
        .catch((error: unknown) => {
          send(response, { status: 500, body: `internal server error: ${errorText(error)}\n` });
        });
    });
  }
  return (request, response) => void router.lookup(request, response);
};

/** The query of the URL of a request. */
export const queryOf = ({ url = '' }: IncomingMessage): URLSearchParams =>
  new URLSearchParams(/\?([^#]*)/.exec(url)?.[1] ?? '');
