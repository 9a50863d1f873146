import { requestPath } from '../../model/server/request-path.js';
import { PROFILE_PAGE, profileCall } from '../../model/server/profile-request.js';
import type { TakeProfile } from '../../streams/ports/record-profile.js';
import { send } from '../routes/http-routes.js';
import { type HandleRequest, type ParameterRoute, queryOf } from '../routes/parameter-routes.js';
import { sendReply } from '../routes/send-reply.js';

const BASE = '/debug/pprof';
/** DevTools goes by the ending of the name. */
const ENDINGS = { cpu: 'cpuprofile', heap: 'heapprofile', allocs: 'heapprofile' } as const;

/** The routes of profiles of this process. Source: pkg/kubelet/server/server.go InstallProfilingHandler */
export const profileRoutes = (take: TakeProfile): readonly ParameterRoute[] => {
  const handle: HandleRequest = (request, response) => {
    const name = (requestPath(request.url ?? '') ?? '').slice(BASE.length + 1);
    if (name === '') return send(response, { status: 200, body: PROFILE_PAGE });
    const call = profileCall(name, queryOf(request));
    if ('status' in call) return send(response, { status: call.status, body: call.text });
    response.setHeader('Content-Disposition', `attachment; filename="${name}.${ENDINGS[call.kind]}"`);
    return sendReply(take(call), response);
  };
  return [
    { methods: ['GET'], path: BASE, handle },
    { methods: ['GET'], path: `${BASE}/*`, handle },
  ];
};
