import { concat, defer, type Observable, takeWhile } from 'rxjs';
import { ApiError } from '../../model/kube-api/api-error.js';
import { servicesPath } from '../../model/kube-api/api-paths.js';
import type { Service } from '../../model/references/referenced-object.js';
import type { ReflectorEvent } from '../../model/reflector/reflector-event.js';
import type { ReflectorOptions } from '../reflector/reflector.js';

/** Excludes headless services: they give no environment variables, and there may be many. Source: pkg/kubelet/kubelet.go NewMainKubelet */
const WITH_ADDRESS = 'spec.clusterIP!=None';

/** Watches the services that the options select. Errors: none. Ends: never. */
export type FollowServices = (options: ReflectorOptions) => Observable<ReflectorEvent<Service>>;

/**
 * Watches the services of all namespaces that may have an address. A server before 1.30 cannot select by that: then it watches all
 * services.
 *
 * Errors: none.
 * Ends:   never.
 */
export const followServices = (follow: FollowServices): Observable<ReflectorEvent<Service>> => {
  const target = { path: servicesPath(), name: 'services' };
  return concat(
    follow({ ...target, fieldSelector: WITH_ADDRESS, isExpected: isBadRequest }).pipe(
      takeWhile((event) => !(event.kind === 'problem' && isBadRequest(event.error))),
    ),
    defer(() => follow(target)),
  );
};

const isBadRequest = (error: unknown): boolean => error instanceof ApiError && error.code === 400;
