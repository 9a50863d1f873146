/** The client of a request, as the API server knows users. */
export interface RequestUser {
  readonly name: string;
  /** Empty unless the API server has reported one. */
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

const AUTHENTICATED = 'system:authenticated';
const UNAUTHENTICATED = 'system:unauthenticated';

/** A client without credentials. Source: staging/src/k8s.io/apiserver/pkg/authentication/request/anonymous */
export const ANONYMOUS: RequestUser = { name: 'system:anonymous', uid: '', groups: [UNAUTHENTICATED], extra: {} };

/** Adds the group of all authenticated users. Source: staging/src/k8s.io/apiserver/pkg/authentication/group */
export const authenticated = (user: RequestUser): RequestUser =>
  user.name === ANONYMOUS.name || user.groups.includes(AUTHENTICATED) || user.groups.includes(UNAUTHENTICATED)
    ? user
    : { ...user, groups: [...user.groups, AUTHENTICATED] };
