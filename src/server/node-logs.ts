import { requestPath } from '../model/server/request-path.js';
import { logDirectory } from './log-directory.js';
import type { HandleRequest, ParameterRoute } from './parameter-routes.js';

const BASE = '/logs';

/** The routes of the files below the directory of logs. Source: pkg/kubelet/server/server.go InstallSystemLogHandler */
export const nodeLogs = (directory: string): readonly ParameterRoute[] => {
  const serve = logDirectory(directory);
  const handle: HandleRequest = (request, response) => {
    const path = requestPath(request.url ?? '') ?? BASE;
    // Links of a listing are relative to the folder.
    return serve(path === BASE ? '/' : path.slice(BASE.length), request, response);
  };
  return [
    { methods: ['GET'], path: BASE, handle },
    { methods: ['GET'], path: `${BASE}/*`, handle },
  ];
};
