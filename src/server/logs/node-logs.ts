import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import { constants, createGzip } from 'node:zlib';
import { fromEvent, takeUntil } from 'rxjs';
import { errorText } from '../../model/cri/cri-error.js';
import { invalid, nodeLogQuery, type ServiceLogQuery } from '../../model/server/node-log-query.js';
import { requestPath } from '../../model/server/request-path.js';
import type { ReadNodeLogs } from '../../streams/ports/node-journal.js';
import { send } from '../routes/http-routes.js';
import { logDirectory } from './log-directory.js';
import { openBelow } from './open-below.js';
import { type HandleRequest, type ParameterRoute, queryOf } from '../routes/parameter-routes.js';
import { untilDrained } from './until-drained.js';

const BASE = '/logs';

/**
 * The routes of the files below the directory of logs. With `readLogs` their root also takes a query of services or of one file;
 * without it the parameters have no effect.
 *
 * Source: pkg/kubelet/server/server.go InstallSystemLogHandler, pkg/kubelet/kubelet.go initializeModules
 */
export const nodeLogs = (directory: string, readLogs?: ReadNodeLogs): readonly ParameterRoute[] => {
  const serve = logDirectory(directory);

  const answerQuery = (path: string, readsLogs: ReadNodeLogs, request: IncomingMessage, response: ServerResponse) => {
    const query = nodeLogQuery(queryOf(request));
    switch (query.kind) {
      case 'none':
        return serve(path, request, response);
      case 'refused':
        return send(response, { status: query.status, body: query.text });
      default:
        if (path !== '/') return send(response, { status: 406, body: 'path not allowed in query mode\n' });
        return query.kind === 'file'
          ? serveFile(query.path, request, response)
          : sendLogs(readsLogs, query, request, response);
    }
  };

  const serveFile = async (path: string, request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const problem = await openBelow(directory, path).then(
      async (opened) => {
        await opened?.handle.close();
        return opened ? undefined : 'it leads out of the directory of logs';
      },
      (error: unknown) => errorText(error),
    );
    if (problem === undefined) return serve(path, request, response);
    send(response, { status: 406, body: `${invalid('query', [path], problem)}\n` });
  };

  const handle: HandleRequest = (request, response) => {
    const path = requestPath(request.url ?? '') ?? BASE;
    // Links of a listing are relative to the folder.
    const below = path === BASE ? '/' : path.slice(BASE.length);
    return readLogs ? answerQuery(below, readLogs, request, response) : serve(below, request, response);
  };
  return [
    { methods: ['GET'], path: BASE, handle },
    { methods: ['GET'], path: `${BASE}/*`, handle },
  ];
};

/** Resolves with the end of the reply, or of its connection. */
const sendLogs = async (
  readLogs: ReadNodeLogs,
  query: ServiceLogQuery,
  { headers }: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  // It has closed during the review of its access.
  if (response.destroyed) return;
  // The kubelet compresses for exactly this header.
  const isGzip = headers['accept-encoding'] === 'gzip';
  let output: Writable = response;
  const ready = () => untilDrained(output);
  try {
    await readLogs(query, ready)
      .pipe(takeUntil(fromEvent(response, 'close')))
      .forEach((part) => {
        if (part.kind === 'refused') return send(response, { status: part.status, body: part.text });
        if (part.kind === 'output') return void output.write(part.bytes);
        if (isGzip) output = compressed(response);
        response.writeHead(200, {
          'Content-Type': 'text/plain;charset=UTF-8',
          'X-Content-Type-Options': 'nosniff',
          ...(isGzip && { 'Content-Encoding': 'gzip' }),
        });
        response.flushHeaders();
      });
    output.end();
  } catch (error) {
    // A reply without its end must not seem complete.
    if (response.headersSent) response.destroy();
    else throw error;
  }
};

const compressed = (response: ServerResponse): Writable => {
  const gzip = createGzip({ level: constants.Z_BEST_SPEED });
  // Not by `pipeline`, which adds more listeners to the response than Node finds sound, and warns.
  gzip.on('error', () => response.destroy());
  response.once('close', () => gzip.destroy());
  gzip.pipe(response);
  return gzip;
};
