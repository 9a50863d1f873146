import type { ServerResponse } from 'node:http';
import { fromEvent, lastValueFrom, type Observable, takeUntil } from 'rxjs';
import type { CheckpointContainer, CommandReply, RunCommand } from '../streams/ports/container-command.js';
import { type HandleRequest, type ParameterRoute, queryOf } from './parameter-routes.js';

/** The routes of commands in containers. Source: pkg/kubelet/server/server.go getRun */
export const commandRoutes = (run: RunCommand): readonly ParameterRoute[] => {
  const handle: HandleRequest = (request, response, { namespace = '', pod = '', uid, container = '' }) => {
    // Single spaces separate arguments; there is no quoting.
    const command = (queryOf(request).get('cmd') ?? '').split(' ');
    return reply(run({ namespace, pod, container, command, ...(uid !== undefined && { uid }) }), response);
  };
  return [
    { methods: ['POST'], path: '/run/:namespace/:pod/:container', handle },
    { methods: ['POST'], path: '/run/:namespace/:pod/:uid/:container', handle },
  ];
};

/** The route of checkpoints. Source: pkg/kubelet/server/server.go checkpoint */
export const checkpointRoute = (checkpoint: CheckpointContainer): ParameterRoute => ({
  methods: ['POST'],
  path: '/checkpoint/:namespace/:pod/:container',
  handle: (request, response, { namespace = '', pod = '', container = '' }) =>
    reply(checkpoint({ namespace, pod, container, timeouts: queryOf(request).getAll('timeout') }), response),
});

/** Sends the reply; a client that disconnects ends the command. */
const reply = async (reply$: Observable<CommandReply>, response: ServerResponse): Promise<void> => {
  if (response.destroyed) return;
  const answer = await lastValueFrom(reply$.pipe(takeUntil(fromEvent(response, 'close'))), {
    defaultValue: undefined,
  });
  if (!answer) return;
  const { status, type = 'text/plain; charset=utf-8', body } = answer;
  response.writeHead(status, {
    'Content-Type': type,
    'Content-Length': Buffer.byteLength(body),
    'X-Content-Type-Options': 'nosniff',
  });
  response.end(body);
};
