import { NEVER, type Observable, of, throwError } from 'rxjs';
import { ApiError } from '../../src/model/kube-api/api-error.js';
import type { ConfigMap, Secret, Service } from '../../src/model/references/referenced-object.js';
import type { PodReferences } from '../../src/streams/ports/pod-references.js';

export const notFound = (kind: string, name: string): ApiError =>
  new ApiError({ code: 404, reason: 'NotFound', message: `${kind} "${name}" not found` });

export interface FakeObjects {
  /** By `namespace/name`; a stream stands for a read that takes its time. */
  readonly configMaps?: Readonly<Record<string, Observable<ConfigMap> | ConfigMap['data']>>;
  /** Not encoded yet. */
  readonly secrets?: Readonly<Record<string, Observable<Secret> | Secret['data']>>;
  /** None unless given; `null` where they have not been read. */
  readonly services?: readonly Service[] | null;
  /** Is called for every pod that comes and goes. */
  readonly tell?: (what: string) => void;
}

/** Objects of a server that always answers. */
export const fakePodReferences = ({
  configMaps = {},
  secrets = {},
  services = [],
  tell = () => undefined,
}: FakeObjects = {}): PodReferences => ({
  register: ({ metadata }) => tell(`register ${metadata.uid}`),
  unregister: ({ metadata }) => tell(`unregister ${metadata.uid}`),
  configMap: (namespace, name) => {
    const found = configMaps[`${namespace}/${name}`];
    if (found === undefined) return throwError(() => notFound('configmap', name));
    return 'subscribe' in found ? (found as Observable<ConfigMap>) : of({ metadata: { namespace, name }, data: found });
  },
  secret: (namespace, name) => {
    const found = secrets[`${namespace}/${name}`];
    if (found === undefined) return throwError(() => notFound('secret', name));
    if ('subscribe' in found) return found as Observable<Secret>;
    const data = Object.fromEntries(Object.entries(found).map(([key, value]) => [key, btoa(value)]));
    return of({ metadata: { namespace, name }, data });
  },
  changed$: NEVER,
  services: () => services ?? undefined,
});
