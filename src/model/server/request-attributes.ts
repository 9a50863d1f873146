import { isAtOrBelow } from './request-path.js';
import type { RequestUser } from './request-user.js';

/** The access to the node that a request needs, in the words of access rules. */
export interface RequestAttributes {
  /** Empty for a method without a verb, such as HEAD. */
  readonly verb: string;
  /** The subresources of `nodes`, in the order of the questions: access to one of them suffices. */
  readonly subresources: readonly string[];
}

const VERBS: Readonly<Record<string, string>> = {
  POST: 'create',
  GET: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** By path. A subresource of its own came later than `proxy`, which is asked second for the older roles. */
const SUBRESOURCES: readonly (readonly [base: string, ...subresources: string[]])[] = [
  ['/stats', 'stats'],
  ['/metrics', 'metrics'],
  ['/logs', 'log'],
  ['/checkpoint', 'checkpoint'],
  ['/statusz', 'statusz'],
  ['/flagz', 'configz'],
  ['/pods', 'pods', 'proxy'],
  ['/runningpods', 'pods', 'proxy'],
  ['/healthz', 'healthz', 'proxy'],
  ['/configz', 'configz', 'proxy'],
];

/**
 * Returns the attributes of a request by its method and its decoded path.
 *
 * Source: pkg/kubelet/server/auth.go, with the gate KubeletFineGrainedAuthz, which is locked on
 */
export const requestAttributes = (method: string, path: string): RequestAttributes => {
  const [, ...subresources] = SUBRESOURCES.find(([base]) => isAtOrBelow(path, base)) ?? ['', 'proxy'];
  return { verb: Object.hasOwn(VERBS, method) ? VERBS[method]! : '', subresources };
};

/** The reply to a user without access. Source: pkg/kubelet/server/server.go InstallAuthFilter */
export const forbiddenText = ({ name }: RequestUser, { verb, subresources }: RequestAttributes): string =>
  `Forbidden (user=${name}, verb=${verb}, resource=nodes, subresource(s)=[${subresources.join(' ')}])\n`;

/** The reply if access could not be reviewed. Source: the same */
export const authorizationErrorText = ({ name }: RequestUser, verb: string, subresource: string): string =>
  `Authorization error (user=${name}, verb=${verb}, resource=nodes, subresource=${subresource})`;
