import type { CheckpointContainer, RunCommand } from '../../streams/ports/container-command.js';
import { type HandleRequest, type ParameterRoute, queryOf } from './parameter-routes.js';
import { sendReply } from './send-reply.js';

/** The routes of commands in containers. Source: pkg/kubelet/server/server.go getRun */
export const commandRoutes = (run: RunCommand): readonly ParameterRoute[] => {
  const handle: HandleRequest = (request, response, { namespace = '', pod = '', uid, container = '' }) => {
    // Single spaces separate arguments; there is no quoting.
    const command = (queryOf(request).get('cmd') ?? '').split(' ');
    return sendReply(run({ namespace, pod, container, command, ...(uid !== undefined && { uid }) }), response);
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
    sendReply(checkpoint({ namespace, pod, container, timeouts: queryOf(request).getAll('timeout') }), response),
});
