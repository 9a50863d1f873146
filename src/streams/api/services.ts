import { concat, defer, type Observable, takeWhile } from 'rxjs';
import { ApiError } from '../../model/api/api-error.js';
import { servicesPath } from '../../model/api/api-paths.js';
import type { Service } from '../../model/api/referenced-object.js';
import type { ReflectorEvent } from '../../model/api/reflector-event.js';
import type { ReflectorOptions } from './reflector.js';

/** Headless ones make no variables, and there may be many. Source: pkg/kubelet/kubelet.go NewMainKubelet */
const WITH_ADDRESS = 'spec.clusterIP!=None';

/** Follows the objects of a collection; never errors, never ends. */
export type FollowServices = (options: ReflectorOptions) => Observable<ReflectorEvent<Service>>;

/**
 * The services of all namespaces that may have an address. From a server that cannot select by that, as those before 1.30 cannot,
 * all services.
 *
 * Errors: none.
 * Ends:   never.
 */
export const followServices = (follow: FollowServices): Observable<ReflectorEvent<Service>> => {
  const target = { path: servicesPath(), name: 'services' };
  return concat(
    follow({ ...target, fieldSelector: WITH_ADDRESS }).pipe(
      takeWhile((event) => !(event.kind === 'problem' && isBadRequest(event.error))),
    ),
    defer(() => follow(target)),
  );
};

const isBadRequest = (error: unknown): boolean => error instanceof ApiError && error.code === 400;
