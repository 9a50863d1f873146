import { defer, finalize, ignoreElements, type Observable, tap } from 'rxjs';
import { objectKey } from '../../model/kube-api/api-object.js';
import { podCertificateRequestsPath } from '../../model/kube-api/api-paths.js';
import { podCertificateProblem, type PodCertificateRequest } from '../../model/references/pod-certificate-request.js';
import type { ReflectorEvent } from '../../model/reflector/reflector-event.js';
import { reflector, type ReflectorPorts } from '../reflector/reflector.js';

/** The requests for certificates of the pods of a node, while `run$` is subscribed. */
export interface WatchedRequests {
  readonly areListed: () => boolean;
  /** Returns the request of that name; undefined if it is not there, or not yet. */
  readonly get: (namespace: string, name: string | undefined) => PodCertificateRequest | undefined;
  /** The problem that keeps them from being watched; undefined without one. */
  readonly problem: () => string | undefined;
  /** Emits nothing and never ends. Errors: none. */
  readonly run$: Observable<never>;
}

export interface RequestListener {
  /** All requests have been read again. */
  readonly listed: () => void;
  /** A request of a pod has changed. */
  readonly changed: (podUid: string) => void;
}

/** Watches the requests that name a node. Source: pkg/kubelet/kubelet.go NewMainKubelet */
export const watchedRequests = (
  ports: ReflectorPorts,
  nodeName: string,
  { listed, changed }: RequestListener,
): WatchedRequests => {
  let known: Map<string, PodCertificateRequest> | undefined;
  let problem: string | undefined;

  const fold = (event: ReflectorEvent<PodCertificateRequest>): void => {
    switch (event.kind) {
      case 'replaced':
        known = new Map(event.objects.map((object) => [objectKey(object), object]));
        problem = undefined;
        return listed();
      case 'put':
        known?.set(objectKey(event.object), event.object);
        return changed(event.object.spec?.podUID ?? '');
      case 'deleted':
        known?.delete(objectKey(event.object));
        return changed(event.object.spec?.podUID ?? '');
      case 'problem':
        problem = podCertificateProblem(event.error);
        return;
      case 'recovered':
        problem = undefined;
    }
  };
  return {
    areListed: () => known !== undefined,
    get: (namespace, name) =>
      name === undefined ? undefined : known?.get(objectKey({ metadata: { namespace, name } })),
    problem: () => problem,
    run$: defer(() =>
      reflector<PodCertificateRequest>(ports, {
        ...{ path: podCertificateRequestsPath(), fieldSelector: `spec.nodeName=${nodeName}` },
        name: 'podcertificaterequests',
      }),
    ).pipe(
      tap(fold),
      ignoreElements(),
      finalize(() => {
        known = undefined;
        problem = undefined;
      }),
    ),
  };
};
