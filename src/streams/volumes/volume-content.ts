import { catchError, defer, forkJoin, from, map, mergeMap, type Observable, of } from 'rxjs';
import { errorText } from '../../model/cri/cri-error.js';
import { isNotFound } from '../../model/kube-api/api-error.js';
import type { Volume } from '../../model/manifest/volume-defaults.js';
import type { Pod } from '../../model/pod/pod.js';
import type { ConfigMap, Secret } from '../../model/references/referenced-object.js';
import { tokenKey, type TokenPurpose } from '../../model/references/token-request.js';
import type { TrustBundle } from '../../model/references/trust-bundle.js';
import type { DownwardFacts } from '../../model/volumes/downward-payload.js';
import { payloadNeeds } from '../../model/volumes/payload-needs.js';
import type { VolumePayload } from '../../model/volumes/volume-payload.js';
import { volumePayload } from '../../model/volumes/volume-payload-of.js';
import { toMap } from '../operators/to-map.js';
import type { PodReferences } from '../ports/pod-references.js';
import type { ReadPodCertificate } from '../ports/read-pod-certificate.js';
import type { RequestPodToken } from '../ports/request-pod-token.js';

export interface VolumeContentPorts {
  /** Absent for an agent that knows no objects. */
  readonly podReferences?: Pick<PodReferences, 'configMap' | 'secret' | 'trustBundles'> | undefined;
  /** Absent for an agent without an API server. */
  readonly podToken?: RequestPodToken | undefined;
  /** Absent for an agent without an API server. */
  readonly podCertificate?: ReadPodCertificate | undefined;
  readonly node: () => DownwardFacts;
}

/**
 * Emits the files of a volume once, from the newest objects and tokens, all of which are asked for at the same time; undefined for
 * a volume whose files the agent does not write.
 *
 * Errors: see `volumePayload`.
 */
export const volumeContent = (
  pod: Pod,
  volume: Volume,
  { podReferences, podToken, podCertificate = noCertificate, node }: VolumeContentPorts,
): Observable<VolumePayload | undefined> =>
  defer(() => {
    const { namespace } = pod.metadata;
    const needs = payloadNeeds(pod, volume);
    const configMaps$ = lookups(
      needs.configMaps,
      (name) => (podReferences ? podReferences.configMap(namespace, name, pod) : of(nobodyKnows('ConfigMap', name))),
      itself,
    );
    const secrets$ = lookups(
      needs.secrets,
      (name) => (podReferences ? podReferences.secret(namespace, name, pod) : of(nobodyKnows('Secret', name))),
      itself,
    );
    /** The needs of a volume have the projections of the volume itself. */
    const sources = new Map(needs.podCertificates.map((source) => [source.projection, source]));
    const tokenOf = (purpose: TokenPurpose): Observable<string | Error> =>
      podToken
        ? podToken(purpose).pipe(map(({ token }) => token))
        : of(new Error('a token of a service account needs an API server, and this node has none'));
    const tokens$ = lookups(needs.tokens, tokenOf, tokenKey);
    const bundles$ = needs.hasTrustBundles ? bundlesOf(podReferences) : of([]);
    return forkJoin([configMaps$, secrets$, tokens$, bundles$]).pipe(
      map(([configMaps, secrets, tokens, bundles]) =>
        volumePayload(
          pod,
          volume,
          {
            configMap: (name) => configMaps.get(name),
            secret: (name) => secrets.get(name),
            token: (purpose) => tokens.get(tokenKey(purpose)) ?? new Error('no token was asked for'),
            trustBundles: () => bundles,
            podCertificate: (projection) => podCertificate(sources.get(projection)!),
          },
          node(),
        ),
      ),
    );
  });

const bundlesOf = (podReferences: VolumeContentPorts['podReferences']): Observable<readonly TrustBundle[] | Error> =>
  podReferences?.trustBundles
    ? podReferences
        .trustBundles()
        .pipe(catchError((error: unknown) => of(error instanceof Error ? error : new Error(errorText(error)))))
    : of(new Error('ClusterTrustBundle projection is not supported in static kubelet mode'));

/** The objects by key, all read at the same time: undefined for one that does not exist, an Error if its existence is unknown. */
const lookups = <K, T extends ConfigMap | Secret | string>(
  wanted: readonly K[],
  find: (one: K) => Observable<T | Error>,
  keyOf: (one: K) => string,
): Observable<ReadonlyMap<string, T | Error | undefined>> =>
  from(wanted).pipe(
    mergeMap((one) =>
      defer(() => find(one)).pipe(
        catchError((error: unknown) =>
          of(isNotFound(error) ? undefined : error instanceof Error ? error : new Error(errorText(error))),
        ),
        map((found): readonly [string, T | Error | undefined] => [keyOf(one), found]),
      ),
    ),
    toMap(),
  );

const itself = (name: string): string => name;

const noCertificate: ReadPodCertificate = () => {
  throw new Error('a certificate of a pod needs an API server, and this node has none');
};

const nobodyKnows = (kind: string, name: string): Error =>
  new Error(`${kind} ${JSON.stringify(name)} is not known: this node has no source of such objects`);
