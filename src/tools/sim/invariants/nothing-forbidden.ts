import type { Finding, Invariant } from './monitor.js';

export const nothingForbidden: Invariant = {
  name: 'nothing-forbidden',
  rule: 'The agent makes no request that the API refuses to a node, and sends no object that the API server refuses.',
  source: 'plugin/pkg/auth/authorizer/node/node_authorizer.go, plugin/pkg/admission/noderestriction/admission.go',
  watch: () => {
    /** The paths of all objects that have existed: a request about a deleted one may come too late. */
    const known = new Set<string>();
    return {
      on: (event): readonly Finding[] | undefined => {
        if (event.kind === 'api-changed') {
          const { namespace, name } = event.object.metadata;
          known.add(`${event.resource}/${namespace ?? ''}/${name}`);
          return undefined;
        }
        if (event.kind !== 'api-answered' || event.by !== 'agent') return undefined;
        const { method, path, code, message } = event;
        if (!REFUSED.includes(code)) return undefined;
        // The authorizer knows no relation of a deleted pod to the node any more.
        if (code === 403 && method === 'GET' && known.has(keyOf(path))) return undefined;
        // The pod or the node of that name is another one by now.
        if ((code === 422 || code === 403) && /metadata\.uid|UID mismatch/.test(message ?? '')) return undefined;
        return [{ message: `${method} ${path} was answered with ${code}: ${message} (expected it never to be asked)` }];
      },
    };
  },
};

const REFUSED = [400, 403, 405, 415, 422];

/** Returns `pods/default/web` for `/api/v1/namespaces/default/pods/web`. */
const keyOf = (path: string): string => {
  const [, namespace = '', resource = '', name = ''] = /namespaces\/([^/]+)\/([^/]+)\/([^/]+)/.exec(path) ?? [];
  return `${resource}/${namespace}/${name}`;
};
