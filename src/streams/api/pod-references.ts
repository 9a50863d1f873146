import { merge, NEVER, type Observable, type SchedulerLike } from 'rxjs';
import {
  configMapPath,
  configMapsPath,
  runtimeClassesPath,
  secretPath,
  secretsPath,
} from '../../model/api/api-paths.js';
import { objectTtlMs } from '../../model/api/object-ttl.js';
import { configMapNames, secretNames } from '../../model/api/referenced-names.js';
import type { ConfigMap, ReferencedObject, RuntimeClass, Secret } from '../../model/api/referenced-object.js';
import type {
  CredentialPorts,
  LastKnown,
  Logger,
  PodReferences,
  RequestPodToken,
  RuntimeClasses,
  WallClock,
} from '../ports.js';
import type { ApiClient } from './api-client.js';
import { followReferenced } from './follow-referenced.js';
import { type KeptObjects, objectKeeper } from './kept-objects.js';
import type { ObjectStore } from './object-store.js';
import { pullSecretsOf } from './pull-secrets.js';
import { referencedObjects } from './referenced-objects.js';
import { reflectedObjects } from './reflected-objects.js';
import { reflector, type ReflectorPorts } from './reflector.js';
import { followServices } from './services.js';
import { tokenManager } from './token-manager.js';
import { ttlObjects } from './ttl-objects.js';
import { watchedObjects } from './watched-objects.js';

/** There are many watches of single objects, so they last longer than others. */
const MIN_OBJECT_WATCH_SECONDS = 1_800;

/** `configMapAndSecretChangeDetectionStrategy`: followed one by one, believed for a while, or asked for at every read. */
export type ChangeDetection = 'Watch' | 'Cache' | 'Get';

export interface PodReferencesPorts extends ReflectorPorts {
  readonly api: ApiClient;
  readonly scheduler: SchedulerLike;
  readonly wallClock: WallClock;
  /** Keeps objects for a start while the API server is away; without it nothing is kept. Used while they are followed. */
  readonly lastKnown?: LastKnown | undefined;
}

export interface PodReferencesOptions {
  /** `Watch` unless given. */
  readonly changeDetection?: ChangeDetection;
  /** Milliseconds between two looks at a pod with which all is well. */
  readonly syncFrequencyMs: number;
  /** Annotations of the node's own object, as it was last seen; `Cache` goes by them. */
  readonly nodeAnnotations?: () => Readonly<Record<string, string>> | undefined;
}

/** All that the agent knows of objects that its pods refer to, and what it makes of them. */
export interface ClusterReferences extends PodReferences {
  readonly pullSecrets: CredentialPorts['pullSecrets'];
  /** Throws until classes have been read once. */
  readonly runtimeClasses: RuntimeClasses;
  readonly podToken: RequestPodToken;
  /** Keeps objects at hand. Emits nothing and never ends. Errors: none. */
  readonly run$: Observable<never>;
}

/**
 * The objects that pods refer to, in a cluster. No more is asked of the API server than a node may ask: what registered pods name,
 * services and classes.
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

  return {
    register: (pod) => {
      configMaps.register(pod);
      secrets.register(pod);
    },
    unregister: (pod) => {
      configMaps.unregister(pod);
      secrets.unregister(pod);
      tokens.forget(pod.metadata.uid);
    },
    configMap: configMaps.read,
    secret: secrets.read,
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
    run$: merge(configMaps.run$, secrets.run$, services.run$, classes.run$, tokens.run$, keeper?.run$ ?? NEVER),
  };
};

interface ObjectKind<T extends ReferencedObject> {
  /** As messages have it. */
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
              // The only way in which a node may list and watch these.
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
        read: (namespace, name) => api.get<T>(one(namespace, name)),
        run$: NEVER,
      };
  }
};

const nothing = (): void => undefined;
const SILENT: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };
