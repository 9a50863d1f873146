import { defer, map, merge, NEVER, type Observable, type SchedulerLike } from 'rxjs';
import {
  configMapPath,
  configMapsPath,
  runtimeClassesPath,
  secretPath,
  secretsPath,
} from '../../model/kube-api/api-paths.js';
import { objectTtlMs } from '../../model/references/object-ttl.js';
import { configMapNames, secretNames } from '../../model/references/referenced-names.js';
import type { ConfigMap, ReferencedObject, RuntimeClass, Secret } from '../../model/references/referenced-object.js';
import type { TrustBundle } from '../../model/references/trust-bundle.js';
import type { CredentialPorts } from '../ports/credential-ports.js';
import type { LastKnown } from '../ports/last-known.js';
import type { Logger } from '../ports/logger.js';
import type { PodReferences } from '../ports/pod-references.js';
import type { RequestPodToken } from '../ports/request-pod-token.js';
import type { ReadPodCertificate } from '../ports/read-pod-certificate.js';
import type { RuntimeClasses } from '../ports/runtime-classes.js';
import type { WallClock } from '../ports/wall-clock.js';
import type { ApiClient } from '../cluster/api-client.js';
import { followReferenced } from './follow-referenced.js';
import { type KeptObjects, objectKeeper } from './kept-objects.js';
import type { ObjectStore } from '../reflector/object-store.js';
import { pullSecretsOf } from './pull-secrets.js';
import { referencedObjects } from './referenced-objects.js';
import { reflectedObjects } from '../reflector/reflected-objects.js';
import { reflector, type ReflectorPorts } from '../reflector/reflector.js';
import { followServices } from './services.js';
import { podCertificates, type PodCertificatesOptions, type PodCertificatesPorts } from './pod-certificates.js';
import { tokenManager } from './token-manager.js';
import { followTrustBundles } from './follow-trust-bundles.js';
import { trustBundles } from './trust-bundles.js';
import { ttlObjects } from '../reflector/ttl-objects.js';
import { watchedObjects } from '../reflector/watched-objects.js';

/** The least duration of watches of single objects. They are many, so they last longer than others. */
export const MIN_OBJECT_WATCH_SECONDS = 1_800;

/** `configMapAndSecretChangeDetectionStrategy`: a watch for each object, a cache with a lifetime, or a request for each read. */
export type ChangeDetection = 'Watch' | 'Cache' | 'Get';

export interface PodReferencesPorts extends ReflectorPorts {
  readonly api: ApiClient;
  readonly scheduler: SchedulerLike;
  readonly wallClock: WallClock;
  /** Keeps objects for a start while the API server is away. Default: none are kept. Only used with watches. */
  readonly lastKnown?: LastKnown | undefined;
  /** Requests certificates of pods. Default: none are requested. */
  readonly certificates?: Pick<PodCertificatesPorts, 'keys' | 'recordEvent' | 'metrics'> & PodCertificatesOptions;
}

export interface PodReferencesOptions {
  /** Default: `Watch`. */
  readonly changeDetection?: ChangeDetection;
  /** The time between two syncs of a pod without changes, in milliseconds. */
  readonly syncFrequencyMs: number;
  /** The newest annotations of the Node; `Cache` reads its lifetime from them. */
  readonly nodeAnnotations?: () => Readonly<Record<string, string>> | undefined;
}

/** The objects that pods refer to, and the values derived from them. */
export interface ClusterReferences extends PodReferences {
  /** The same for every pod. */
  readonly configMap: (namespace: string, name: string) => Observable<ConfigMap>;
  /** The same for every pod. */
  readonly secret: (namespace: string, name: string) => Observable<Secret>;
  readonly trustBundles: () => Observable<readonly TrustBundle[]>;
  readonly pullSecrets: CredentialPorts['pullSecrets'];
  /** Throws until classes have been read once. */
  readonly runtimeClasses: RuntimeClasses;
  readonly podToken: RequestPodToken;
  /** Absent without the ports for certificates. */
  readonly podCertificate?: ReadPodCertificate;
  /** Keeps the objects up to date. Emits nothing and never ends. Errors: none. */
  readonly run$: Observable<never>;
}

/**
 * Makes the references of pods in a cluster. It requests only the objects that a node may read: those that registered pods name, services and
 * runtime classes.
 *
 * Source: pkg/kubelet/kubelet.go NewMainKubelet
 */
export const podReferences = (ports: PodReferencesPorts, options: PodReferencesOptions): ClusterReferences => {
  const { api, lastKnown, log } = ports;
  const keeper = lastKnown && objectKeeper(lastKnown, log);
  const configMaps = referencedObjects(
    objectStore<ConfigMap>(ports, options, {
      ...{ kind: 'configmap', list: configMapsPath, one: configMapPath },
      kept: keeper?.of('ConfigMap'),
    }),
    configMapNames,
  );
  const secrets = referencedObjects(
    objectStore<Secret>(ports, options, {
      ...{ kind: 'secret', list: secretsPath, one: secretPath },
      kept: keeper?.of('Secret'),
    }),
    secretNames,
  );
  const services = reflectedObjects(
    followServices((target) => reflector(ports, target)),
    keeper?.of('ServiceList'),
  );
  const classes = reflectedObjects(
    reflector<RuntimeClass>(ports, { path: runtimeClassesPath(), name: 'runtimeclasses' }),
    keeper?.of('RuntimeClassList'),
  );
  const tokens = tokenManager({ ...ports, api });
  const bundles = trustBundles(followTrustBundles(ports), keeper?.of('ClusterTrustBundleList'), ports.scheduler);
  const certificates = ports.certificates && podCertificates({ ...ports, ...ports.certificates }, ports.certificates);

  return {
    register: (pod) => {
      configMaps.register(pod);
      secrets.register(pod);
      bundles.register(pod);
      certificates?.register(pod);
    },
    unregister: (pod) => {
      configMaps.unregister(pod);
      secrets.unregister(pod);
      bundles.unregister(pod);
      tokens.forget(pod.metadata.uid);
      certificates?.forget(pod.metadata.uid);
    },
    configMap: configMaps.read,
    secret: secrets.read,
    trustBundles: bundles.read,
    changed$: merge(
      configMaps.changed$.pipe(map((name) => ({ kind: 'ConfigMap' as const, ...name }))),
      secrets.changed$.pipe(map((name) => ({ kind: 'Secret' as const, ...name }))),
      bundles.changed$,
      certificates?.changed$ ?? NEVER,
    ),
    services: () => {
      const known = services.objects();
      return known && [...known.values()];
    },
    pullSecrets: pullSecretsOf(secrets.read, log),
    runtimeClasses: (name) => {
      const known = classes.objects();
      if (!known)
        throw new Error(
          `runtimeclass.node.k8s.io ${JSON.stringify(name)} is not known: classes have not been read yet`,
        );
      return known.get(name)?.handler;
    },
    podToken: tokens.podToken,
    ...(certificates && { podCertificate: certificates.read }),
    run$: merge(
      ...[configMaps.run$, secrets.run$, services.run$, classes.run$, tokens.run$],
      ...[bundles.run$, certificates?.run$ ?? NEVER, keeper?.run$ ?? NEVER],
    ),
  };
};

interface ObjectKind<T extends ReferencedObject> {
  /** The kind in messages. */
  readonly kind: 'configmap' | 'secret';
  readonly list: (namespace: string) => string;
  readonly one: (namespace: string, name: string) => string;
  readonly kept: KeptObjects<T> | undefined;
}

const objectStore = <T extends ReferencedObject>(
  ports: PodReferencesPorts,
  { changeDetection = 'Watch', syncFrequencyMs, nodeAnnotations }: PodReferencesOptions,
  { kind, list, one, kept }: ObjectKind<T>,
): ObjectStore<T> => {
  const { api, scheduler, log } = ports;
  switch (changeDetection) {
    case 'Watch':
      return watchedObjects<T>({
        kind,
        follow: (namespace, name) =>
          followReferenced(
            reflector<T>(
              { ...ports, log: SILENT },
              // A node may list and watch these objects only one by one, by name.
              {
                ...{ path: list(namespace), fieldSelector: `metadata.name=${name}`, name: kind },
                minWatchSeconds: MIN_OBJECT_WATCH_SECONDS,
              },
            ),
            { name: `${kind} ${namespace}/${name}`, scheduler, log },
          ),
        ...{ syncFrequencyMs, kept, scheduler, log },
      });
    case 'Cache':
      return ttlObjects<T>({
        get: (namespace, name, mayBeCached) =>
          api.get<T>(one(namespace, name), mayBeCached ? { resourceVersion: '0' } : undefined),
        ttlMs: () => objectTtlMs(nodeAnnotations?.()),
        scheduler,
      });
    case 'Get':
      return {
        refer: () => undefined,
        release: () => undefined,
        read: (namespace, name) => defer(() => api.get<T>(one(namespace, name))),
        changed$: NEVER,
        run$: NEVER,
      };
  }
};

const nothing = (): void => undefined;
const SILENT: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };
