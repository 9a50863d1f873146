import { catchError, concat, concatMap, defer, map, type Observable, of, type SchedulerLike, throwError } from 'rxjs';
import type { ApiObject } from '../../model/kube-api/api-object.js';
import { podCertificateRequestsPath, serviceAccountPath } from '../../model/kube-api/api-paths.js';
import type { NodeIdentity } from '../../model/pod/mirror-pod.js';
import { podRef } from '../../model/pod/pod.js';
import { podCertificateProblem, podCertificateRequestBody } from '../../model/references/pod-certificate-request.js';
import { withRequest } from '../../model/references/pod-certificate-state.js';
import type { SourceCertificate } from '../../model/references/source-certificates.js';
import type { ApiClient } from '../cluster/api-client.js';
import { inSlots } from '../operators/in-slots.js';
import type { Logger } from '../ports/logger.js';
import type { PodCertificateKey, PodCertificateKeys } from '../ports/pod-certificate-keys.js';
import type { Random } from '../ports/random.js';

export interface RequestPodCertificatePorts {
  readonly api: ApiClient;
  /** Absent for an agent that makes no keys. */
  readonly keys?: PodCertificateKeys | undefined;
  /** The Node of the API server; undefined until it is known. */
  readonly node: () => NodeIdentity | undefined;
  readonly scheduler: SchedulerLike;
  readonly random: Random;
  readonly log: Logger;
}

/**
 * Makes the function that creates the request for one certificate. It emits the fields of the certificate that change: the key as soon as
 * it is made, for a later attempt if this one fails, then the state with the request. It makes one key at a time.
 *
 * Errors: name the step that failed.
 * Ends:   when the request is created.
 * Source: pkg/kubelet/podcertificate/podcertificatemanager.go createPodCertificateRequest
 */
export const requestPodCertificate = ({
  api,
  keys,
  node,
  scheduler,
  random,
  log,
}: RequestPodCertificatePorts): ((one: SourceCertificate) => Observable<Partial<SourceCertificate>>) => {
  const oneByOne = inSlots({ count: 1 });

  const keyOf = ({ unsent, source }: SourceCertificate): Observable<PodCertificateKey> =>
    defer(() => {
      if (unsent) return of(unsent);
      if (!keys) throw new Error('this agent makes no keys');
      return keys(source.projection.keyType);
    }).pipe(
      // A key takes the processor for a while, and each one would do so for all of them.
      oneByOne(),
      naming('while generating keypair'),
    );

  const create = (
    { pod, state }: SourceCertificate,
    { privateKey }: PodCertificateKey,
    body: object,
  ): Observable<Partial<SourceCertificate>> =>
    api.create(podCertificateRequestsPath(pod.metadata.namespace), body).pipe(
      map((created): Partial<SourceCertificate> => {
        const name = created.metadata.name ?? '';
        log.debug({ pod: podRef(pod), request: name }, 'requested a certificate for a pod');
        const moment = { now: scheduler.now(), draw: random() };
        return { unsent: undefined, problem: undefined, state: withRequest(state, { name, privateKey }, moment) };
      }),
      naming('while creating on API'),
    );

  return (one) => {
    const { pod, source, state } = one;
    const serviceAccount$ = api.get(serviceAccountPath(pod.metadata.namespace, pod.spec.serviceAccountName ?? ''));
    return serviceAccount$.pipe(
      map(uidOf),
      naming('while fetching service account'),
      concatMap((serviceAccountUid) => {
        const identity = node();
        if (!identity) throw new Error('the Node of this agent is not known yet');
        const parties = { pod, serviceAccountUid, node: identity };
        return keyOf(one).pipe(
          concatMap((key) => {
            const body = podCertificateRequestBody(source.projection, key.requestBase64, parties);
            return concat(of<Partial<SourceCertificate>>({ unsent: key }), create(one, key, body));
          }),
        );
      }),
      naming(`while creating ${state.kind === 'issued' ? 'refresh' : 'initial'} PodCertificateRequest`),
    );
  };
};

const uidOf = ({ metadata }: ApiObject): string => {
  if (metadata.uid) return metadata.uid;
  throw new Error('it has no metadata.uid');
};

/** Names the step in an error. */
const naming =
  <T>(step: string) =>
  (source$: Observable<T>): Observable<T> =>
    source$.pipe(
      catchError((error: unknown) =>
        throwError(() => new Error(`${step}: ${podCertificateProblem(error)}`, { cause: error })),
      ),
    );
