import type { ServerResponse } from 'node:http';
import { fromEvent, type Observable, takeUntil } from 'rxjs';
import type { PodLogReply, ReadPodLog } from '../../streams/ports/read-pod-log.js';
import { send } from '../routes/http-routes.js';
import { type ParameterRoute, queryOf } from '../routes/parameter-routes.js';
import { untilDrained } from './until-drained.js';

/**
 * The route of container logs. The headers are sent before the first output, and every output is sent at once. A client
 * that disconnects ends the reading.
 *
 * Source: pkg/kubelet/server/server.go getContainerLogs
 */
export const containerLogs = (read: ReadPodLog): ParameterRoute => ({
  methods: ['GET'],
  path: '/containerLogs/:namespace/:pod/:container',
  handle: (request, response, { namespace = '', pod = '', container = '' }) => {
    const ready = () => untilDrained(response);
    return reply(read({ namespace, pod, container, query: queryOf(request), ready }), response);
  },
});

/** Resolves with the end of the reply, or of its connection. */
const reply = async (reply$: Observable<PodLogReply>, response: ServerResponse): Promise<void> => {
  // It has closed during the review of its access.
  if (response.destroyed) return;
  try {
    await reply$.pipe(takeUntil(fromEvent(response, 'close'))).forEach((part) => {
      if (part.kind === 'refused') return send(response, { status: part.status, body: part.text });
      if (part.kind === 'output') return void response.write(part.bytes);
      response.writeHead(200, { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' });
      response.flushHeaders();
    });
    response.end();
  } catch (error) {
    // A reply without its end must not seem complete.
    if (response.headersSent) response.destroy();
    else throw error;
  }
};
