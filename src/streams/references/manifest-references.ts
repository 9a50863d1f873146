import { defer, type Observable, of, Subject, throwError } from 'rxjs';
import { ApiError } from '../../model/kube-api/api-error.js';
import type { Pod, PodSourceName } from '../../model/pod/pod.js';
import {
  changedObjects,
  NO_MANIFEST_OBJECTS,
  objectFor,
  withoutReferrer,
  withReferrer,
  withSourceObjects,
} from '../../model/references/manifest-objects.js';
import type { SourceObject } from '../../model/references/source-object.js';
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
  let known = NO_MANIFEST_OBJECTS;
  const change$ = new Subject<ReferencedName>();

  const read = <Kind extends SourceObject['kind']>(kind: Kind, namespace: string, name: string, pod: Pod) =>
    defer(() => {
      const object = objectFor(known, pod, kind, { namespace, name });
      return object ? of(object) : throwError(() => notFound(kind, name));
    });
  const secret: PodReferences['secret'] = (namespace, name, pod) => read('Secret', namespace, name, pod);

  return {
    setObjects: (source, objects) => {
      const before = known;
      known = withSourceObjects(known, source, objects);
      for (const { kind, metadata } of changedObjects(before, known, source)) {
        const { namespace, name } = metadata;
        change$.next({ kind, namespace, name });
      }
    },
    register: (pod) => {
      known = withReferrer(known, pod);
    },
    unregister: (pod) => {
      known = withoutReferrer(known, pod);
    },
    configMap: (namespace, name, pod) => read('ConfigMap', namespace, name, pod),
    secret,
    changed$: change$.asObservable(),
    services: () => [],
    pullSecrets: pullSecretsOf(secret, log),
  };
};

const notFound = (kind: SourceObject['kind'], name: string): ApiError =>
  new ApiError({ code: 404, reason: 'NotFound', message: `${kind.toLowerCase()} ${JSON.stringify(name)} not found` });
