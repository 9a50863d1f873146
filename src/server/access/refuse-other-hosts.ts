import type { IncomingMessage, RequestListener } from 'node:http';
import { send } from '../routes/http-routes.js';
import { isOwnHost } from './own-host.js';

/**
 * Passes on the requests for this node, and refuses those for another host with 403: a web page can have its own name resolve to an
 * address of this machine, and would read the reply. `names` are names and addresses of the node.
 */
export const refuseOtherHosts =
  (names: readonly string[], answer: RequestListener): RequestListener =>
  (request, response) => {
    if (isForUs(request, names)) answer(request, response);
    else send(response, { status: 403, body: 'Forbidden: this node does not have the name of the request\n' });
  };

/**
 * Checks the host in the header, which HTTP/1.0 may leave out, and the host in the request line, which a proxy would
 * use.
 */
const isForUs = ({ headers, url = '/', socket }: IncomingMessage, names: readonly string[]): boolean => {
  const [, inUrl] = /^[a-z][a-z\d+.-]*:\/\/([^/?#]*)/i.exec(url) ?? [];
  return [headers.host, inUrl].every(
    (host) => host === undefined || isOwnHost(host, { localAddress: socket.localAddress, names }),
  );
};
