import { catchError, defer, forkJoin, map, type Observable, of, throwError } from 'rxjs';
import { configMapNamesInEnv, secretNamesInEnv } from '../../model/api/referenced-names.js';
import { secretData } from '../../model/api/referenced-object.js';
import type { EnvInput } from '../../model/cri/env.js';
import { serviceEnvironment } from '../../model/cri/service-env.js';
import { type Container, type EphemeralContainer, isStaticPod } from '../../model/pod.js';
import type { PodSyncContext } from './pod-sync-context.js';

type Data = Readonly<Record<string, string>>;
/** What was found of one object, or why nothing was. */
type Found = { readonly data: Data } | { readonly error: unknown };

/**
 * Emits once what the environment of a container is made of besides its spec: the objects that it refers to, all asked for at the
 * same time, and the services. Nothing of it without an API server.
 *
 * Errors: services are not known yet, and the pod is not one of this node's own. An object that cannot be had is an error to who
 *         asks for it.
 * Source: pkg/kubelet/kubelet_pods.go makeEnvironmentVariables
 */
export const environmentObjects = (
  { pod, ports: { podReferences } }: PodSyncContext,
  container: Container | EphemeralContainer,
): Observable<Pick<EnvInput, 'objects' | 'services'>> =>
  defer(() => {
    if (!podReferences) return of({});
    const services = podReferences.services();
    // Without the variables of the API server's own service many a container would not find it, and never get over that.
    if (!services && !isStaticPod(pod)) {
      return throwError(() => new Error('services have not yet been read at least once, cannot construct envvars'));
    }
    const { namespace } = pod.metadata;
    const configMaps$ = read(configMapNamesInEnv(container), (name) =>
      podReferences.configMap(namespace, name).pipe(map(({ data }) => data ?? {})),
    );
    const secrets$ = read(secretNamesInEnv(container), (name) =>
      podReferences.secret(namespace, name).pipe(map(secretData)),
    );
    return forkJoin([configMaps$, secrets$]).pipe(
      map(([configMaps, secrets]) => ({
        objects: { configMap: dataIn(configMaps), secret: dataIn(secrets) },
        services: serviceEnvironment(services ?? [], { namespace, isLinked: pod.spec.enableServiceLinks !== false }),
      })),
    );
  });

const read = (
  names: ReadonlySet<string>,
  get: (name: string) => Observable<Data>,
): Observable<ReadonlyMap<string, Found>> => {
  if (names.size === 0) return of(new Map());
  const found$ = [...names].map((name) =>
    get(name).pipe(
      map((data): readonly [string, Found] => [name, { data }]),
      catchError((error: unknown) => of<readonly [string, Found]>([name, { error }])),
    ),
  );
  return forkJoin(found$).pipe(map((entries) => new Map(entries)));
};

const dataIn =
  (found: ReadonlyMap<string, Found>) =>
  (name: string): Data => {
    const entry = found.get(name) ?? { error: new Error(`the reference names no object: ${JSON.stringify(name)}`) };
    if ('error' in entry) throw entry.error;
    return entry.data;
  };
