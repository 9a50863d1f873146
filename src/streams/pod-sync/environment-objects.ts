import { catchError, defer, forkJoin, from, map, mergeMap, type Observable, of, throwError } from 'rxjs';
import { configMapNamesInEnv, secretNamesInEnv } from '../../model/references/referenced-names.js';
import { secretData } from '../../model/references/referenced-object.js';
import type { EnvInput } from '../../model/cri/env.js';
import { serviceEnvironment } from '../../model/cri/service-env.js';
import { type Container, type EphemeralContainer, isStaticPod } from '../../model/pod/pod.js';
import { toMap } from '../operators/to-map.js';
import type { PodSyncContext } from './pod-sync-context.js';

type Data<V> = Readonly<Record<string, V>>;
/** The data of one object, or the error of its read. */
type Found<V> = { readonly data: Data<V> } | { readonly error: unknown };

/**
 * Emits once the parts of a container's environment that are not in its spec: the objects that it refers to, all read at the same
 * time, and the services. Without a port for these objects there are none.
 *
 * Errors: the services are not known yet, and the pod is not static. A failed read of an object is thrown by `objects`.
 * Source: pkg/kubelet/kubelet_pods.go makeEnvironmentVariables
 */
export const environmentObjects = (
  { pod, ports: { podReferences } }: PodSyncContext,
  container: Container | EphemeralContainer,
): Observable<Pick<EnvInput, 'objects' | 'services'>> =>
  defer(() => {
    if (!podReferences) return of({});
    const services = podReferences.services();
    // Many containers need the variables of the API server's service, and never read them again.
    if (!services && !isStaticPod(pod)) {
      return throwError(() => new Error('services have not yet been read at least once, cannot construct envvars'));
    }
    const { namespace } = pod.metadata;
    const configMaps$ = read(configMapNamesInEnv(container), (name) =>
      podReferences.configMap(namespace, name, pod).pipe(map(({ data }) => data ?? {})),
    );
    const secrets$ = read(secretNamesInEnv(container), (name) =>
      podReferences.secret(namespace, name, pod).pipe(map(secretData)),
    );
    return forkJoin([configMaps$, secrets$]).pipe(
      map(([configMaps, secrets]) => ({
        objects: { configMap: dataIn(configMaps), secret: dataIn(secrets) },
        services: serviceEnvironment(services ?? [], { namespace, isLinked: pod.spec.enableServiceLinks !== false }),
      })),
    );
  });

const read = <V>(
  names: ReadonlySet<string>,
  get: (name: string) => Observable<Data<V>>,
): Observable<ReadonlyMap<string, Found<V>>> =>
  from(names).pipe(
    mergeMap((name) =>
      get(name).pipe(
        map((data): readonly [string, Found<V>] => [name, { data }]),
        catchError((error: unknown) => of<readonly [string, Found<V>]>([name, { error }])),
      ),
    ),
    toMap(),
  );

const dataIn =
  <V>(found: ReadonlyMap<string, Found<V>>) =>
  (name: string): Data<V> => {
    const entry = found.get(name) ?? { error: new Error(`the reference names no object: ${JSON.stringify(name)}`) };
    if ('error' in entry) throw entry.error;
    return entry.data;
  };
