import type { ApiObject } from '../kube-api/api-object.js';

/** The request that failed. */
export type ReflectorStep = 'list' | 'watch';

/** A failure from which the reflector recovers by itself. */
export interface ReflectorProblem {
  readonly kind: 'problem';
  readonly step: ReflectorStep;
  readonly error: unknown;
  /**
   * The level of the log line: `debug` for ordinary failures, and for those that were reported since the last success.
   */
  readonly severity: 'error' | 'warning' | 'debug';
}

/** An event of a reflector about its objects. */
export type ReflectorEvent<T extends ApiObject = ApiObject> =
  /**
   * All existing objects, which replace earlier ones: the first event about objects, and again after each further list.
   */
  | { readonly kind: 'replaced'; readonly objects: readonly T[]; readonly resourceVersion: string }
  /** An object that is new, or has a new version. */
  | { readonly kind: 'put'; readonly object: T }
  /** A deleted object in its last state, with the version of its deletion. */
  | { readonly kind: 'deleted'; readonly object: T }
  | ReflectorProblem
  /** The server is watched again after problems that were logged as warnings. */
  | { readonly kind: 'recovered' };
