import { catchError, concatMap, defer, first, from, map, type Observable, of, takeWhile, throwError } from 'rxjs';
import { isNotFound } from '../../model/kube-api/api-error.js';
import {
  clusterTrustBundlesPath,
  TRUST_BUNDLE_VERSIONS,
  type TrustBundleVersion,
  trustBundleResourcesPath,
} from '../../model/kube-api/api-paths.js';
import { errorText } from '../../model/cri/cri-error.js';
import type { TrustBundleEvent } from '../../model/references/known-trust-bundles.js';
import type { ClusterTrustBundle } from '../../model/references/referenced-object.js';
import { nextRetry, retryFailed, retrySucceeded, startRetries } from '../../model/reflector/reflector-retries.js';
import type { ApiClient } from '../cluster/api-client.js';
import { every } from '../operators/every.js';
import { reflector, type ReflectorPorts } from '../reflector/reflector.js';

/** The time after which a server without trust bundles is asked again, in milliseconds: it may have been upgraded. */
export const NOT_SERVED_MS = 60_000;

/**
 * Watches the trust bundles of the cluster, in the newest version that the server has. If it loses that version, or has none, the
 * versions are read again.
 *
 * Errors: none.
 * Ends:   never.
 * Source: pkg/kubelet/clustertrustbundle/clustertrustbundle_manager.go ensureManagerSet, which asks a server without bundles once
 */
export const followTrustBundles = (
  ports: ReflectorPorts & { readonly api: Pick<ApiClient, 'get'> },
): Observable<TrustBundleEvent> =>
  defer(() => {
    const { api, scheduler, random, log } = ports;
    let retries = startRetries(scheduler.now());
    let isServed: boolean | undefined;
    const waitMs = (): number => {
      if (isServed === false) return NOT_SERVED_MS;
      const next = nextRetry(retries, scheduler.now(), random());
      retries = next.retries;
      return next.delayMs;
    };
    const failure = (error: unknown): TrustBundleEvent => {
      isServed = undefined;
      const failed = retryFailed(retries, { text: errorText(error), severity: 'error' });
      retries = failed.retries;
      const level = failed.severity === 'warning' ? 'warn' : failed.severity;
      log[level]({ error: errorText(error) }, 'cannot find out whether the API server has trust bundles');
      return { kind: 'problem', step: 'list', error, severity: failed.severity };
    };
    const notServed = (): TrustBundleEvent => {
      if (isServed !== false) log.warn({}, 'the API server has no trust bundles');
      isServed = false;
      return { kind: 'not-served' };
    };
    const served = (version: TrustBundleVersion): Observable<TrustBundleEvent> => {
      isServed = true;
      retries = retrySucceeded(retries);
      return reflector<ClusterTrustBundle>(ports, {
        path: clusterTrustBundlesPath(version),
        name: 'clustertrustbundles',
      }).pipe(takeWhile((event) => !(event.kind === 'problem' && isNotFound(event.error)), true));
    };
    return every({ periodMs: waitMs, scheduler }, () =>
      servedVersion(api).pipe(
        concatMap((version) => (version === undefined ? of(notServed()) : served(version))),
        catchError((error: unknown) => of(failure(error))),
      ),
    );
  });

/** Emits the newest version in which the server has trust bundles, or undefined. Errors: `ApiError`. */
const servedVersion = (api: Pick<ApiClient, 'get'>): Observable<TrustBundleVersion | undefined> =>
  from(TRUST_BUNDLE_VERSIONS).pipe(
    concatMap((version) =>
      defer(() => api.get<unknown>(trustBundleResourcesPath(version))).pipe(
        map((body) => (hasTrustBundles(body) ? version : undefined)),
        catchError((error: unknown) => (isNotFound(error) ? of(undefined) : throwError(() => error))),
      ),
    ),
    first((version) => version !== undefined, undefined),
  );

const hasTrustBundles = (body: unknown): boolean => {
  const { resources } = (body ?? {}) as { readonly resources?: unknown };
  return (
    Array.isArray(resources) &&
    (resources as readonly ({ readonly name?: unknown } | null)[]).some((one) => one?.name === 'clustertrustbundles')
  );
};
