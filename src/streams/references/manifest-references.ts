import { defer, type Observable, of, Subject, throwError } from 'rxjs';
import { ApiError } from '../../model/kube-api/api-error.js';
import { CONFIG_SOURCE_ANNOTATION, type Pod, type PodSourceName } from '../../model/pod/pod.js';
import { configMapNames, secretNames } from '../../model/references/referenced-names.js';
import { type SourceObject, sourceObjectKey } from '../../model/references/source-object.js';
import { deepEqual } from '../../model/values/deep-equal.js';
import type { CredentialPorts } from '../ports/credential-ports.js';
import type { Logger } from '../ports/logger.js';
import type { PodReferences, ReferencedName } from '../ports/pod-references.js';
import { pullSecretsOf } from './pull-secrets.js';

/** The ConfigMaps and Secrets of the sources of a node without an API server. */
export interface ManifestReferences extends PodReferences {
  /** Replaces the objects of a source, and emits the changes that concern registered pods of this source. */
  readonly setObjects: (source: PodSourceName, objects: readonly SourceObject[]) => void;
  /** There are no trust bundles. */
  readonly changed$: Observable<ReferencedName>;
  readonly pullSecrets: CredentialPorts['pullSecrets'];
}

/**
 * The objects that pods of manifests refer to. A pod reads the objects of its own source alone; reads return at once. There are no
 * services.
 */
export const manifestReferences = (log: Logger): ManifestReferences => {
  const sources = new Map<PodSourceName, ReadonlyMap<string, SourceObject>>();
  /** By UID. */
  const registered = new Map<string, { readonly source: PodSourceName; readonly keys: ReadonlySet<string> }>();
  const change$ = new Subject<ReferencedName>();

  const read = <Kind extends SourceObject['kind']>(kind: Kind, namespace: string, name: string, pod: Pod) =>
    defer((): Observable<Extract<SourceObject, { readonly kind: Kind }>> => {
      const object = sources.get(sourceOf(pod))?.get(`${kind} ${namespace}/${name}`);
      if (object?.kind !== kind) return throwError(() => notFound(kind, name));
      return of(object as Extract<SourceObject, { readonly kind: Kind }>);
    });
  const secret: PodReferences['secret'] = (namespace, name, pod) => read('Secret', namespace, name, pod);

  return {
    setObjects: (source, objects) => {
      const before = sources.get(source) ?? new Map<string, SourceObject>();
      const after = new Map(objects.map((object) => [sourceObjectKey(object), object]));
      sources.set(source, after);
      const used = new Set([...registered.values()].flatMap((pod) => (pod.source === source ? [...pod.keys] : [])));
      for (const object of new Map([...before, ...after]).values()) {
        const key = sourceObjectKey(object);
        if (!used.has(key) || deepEqual(before.get(key), after.get(key))) continue;
        const { namespace, name } = object.metadata;
        change$.next({ kind: object.kind, namespace, name });
      }
    },
    register: (pod) => {
      const { uid, namespace } = pod.metadata;
      const keys = new Set([
        ...[...configMapNames(pod)].map((name) => `ConfigMap ${namespace}/${name}`),
        ...[...secretNames(pod)].map((name) => `Secret ${namespace}/${name}`),
      ]);
      registered.set(uid, { source: sourceOf(pod), keys });
    },
    unregister: ({ metadata: { uid } }) => void registered.delete(uid),
    configMap: (namespace, name, pod) => read('ConfigMap', namespace, name, pod),
    secret,
    changed$: change$.asObservable(),
    services: () => [],
    pullSecrets: pullSecretsOf(secret, log),
  };
};

const sourceOf = ({ metadata }: Pod): PodSourceName => metadata.annotations?.[CONFIG_SOURCE_ANNOTATION] ?? '';

const notFound = (kind: SourceObject['kind'], name: string): ApiError =>
  new ApiError({ code: 404, reason: 'NotFound', message: `${kind.toLowerCase()} ${JSON.stringify(name)} not found` });
