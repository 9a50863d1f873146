import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import createRouter from 'find-my-way';
import { errorText } from '../../model/cri/cri-error.js';

export interface Answer {
  readonly status: number;
  /** The type of the body; plain text unless given. */
  readonly type?: string;
  readonly body: string;
}

/** The handlers of GET, by path; `POST /path` is one for POST. */
export type Routes = Readonly<Record<string, (request: IncomingMessage) => Answer | Promise<Answer>>>;

/** Replies to GET and HEAD of these paths, and with 404 to every other path. */
export const answerBy = (routes: Routes): RequestListener => {
  const router = createRouter({
    ignoreTrailingSlash: true,
    defaultRoute: (request, response) => {
      const isKnown = pathOf(request) in routes;
      if (isKnown) response.setHeader('Allow', 'GET, HEAD');
      send(
        response,
        isKnown ? { status: 405, body: 'Method Not Allowed\n' } : { status: 404, body: '404 page not found\n' },
      );
    },
  });
  for (const [route, answer] of Object.entries(routes)) {
    const [, path] = /^POST (.*)$/.exec(route) ?? [];
    router.on(path === undefined ? ['GET', 'HEAD'] : ['POST'], path ?? route, (request, response) => {
      // A handler that fails affects only its own reply.
      Promise.resolve()
        .then(() => answer(request))
        .catch((error: unknown) => ({ status: 500, body: `internal server error: ${errorText(error)}\n` }))
        .then((answered) => send(response, answered))
        .catch(() => undefined);
    });
  }
  return (request, response) => void router.lookup(request, response);
};

export const send = (response: ServerResponse, { status, type, body }: Answer): void => {
  if (response.headersSent) return;
  response.writeHead(status, {
    'Content-Type': type ?? 'text/plain; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'X-Content-Type-Options': 'nosniff',
  });
  // Node leaves out the body of a reply to HEAD.
  response.end(body);
};

const pathOf = ({ url = '/' }: IncomingMessage): string => url.replace(/\?.*$/s, '').replace(/(.)\/$/, '$1');
