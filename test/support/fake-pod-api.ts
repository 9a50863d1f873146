import { concatMap, defer, EMPTY, map, type Observable, type SchedulerLike, Subject, timer } from 'rxjs';
import { podPath } from '../../src/model/kube-api/api-paths.js';
import type { JsonObject } from '../../src/model/kube-api/strategic-merge-patch.js';
import type { Pod } from '../../src/model/pod/pod.js';
import type { ApiClient } from '../../src/streams/cluster/api-client.js';
import type { ApiRequest } from '../../src/streams/ports/api-server.js';
import { fakeObjects } from './fake-objects.js';

export interface FakePodApi {
  readonly api: Pick<ApiClient, 'get' | 'create' | 'patchLate' | 'delete'>;
  /** Emits each request at its time: `PATCH web`. */
  readonly request$: Observable<string>;
  /** The bodies of patches, in order. */
  readonly patches: JsonObject[];
  readonly pod: (name: string) => Pod | undefined;
  /** Writes a pod as another client does. */
  readonly write: (pod: Pod) => void;
  readonly take: (name: string) => void;
}

export interface FakePodApiOptions {
  readonly scheduler: SchedulerLike;
  /** How long a request takes, by what it asks. */
  readonly tookMs?: (request: string) => number;
  /** What a request fails with, when it is answered. */
  readonly failure?: (request: string) => Error | undefined;
  /** How long a patch waits for its turn before it is made and sent. */
  readonly turnMs?: () => number;
  /** What the server keeps of a status. */
  readonly keeps?: (status: Pod['status']) => Pod['status'];
}

/** The pods of an API server in the namespace `default`: UIDs and versions are preconditions. */
export const fakePodApi = ({
  scheduler,
  tookMs = () => 1,
  failure = () => undefined,
  turnMs = () => 0,
  keeps = (status) => status,
}: FakePodApiOptions): FakePodApi => {
  const patches: JsonObject[] = [];
  const request$ = new Subject<string>();
  const objects = fakeObjects({
    stamp: (_path, created) => ({ uid: `made-${created}` }),
    keeps: ({ status, ...object }) => ({ ...object, status: keeps(status as Pod['status']) }),
  });
  const pathOf = (name: string): string => podPath('default', name);
  const answer = <T>(request: Pick<ApiRequest, 'method' | 'path' | 'body'>, name: string): Observable<T> =>
    defer(() => {
      const what = `${request.method} ${name}`;
      request$.next(what);
      return timer(tookMs(what), scheduler).pipe(
        map(() => {
          const error = failure(what);
          if (error) throw error;
          return objects.answer(request) as T;
        }),
      );
    });
  const nameIn = (path: string): string => path.split('/').at(path.endsWith('/status') ? -2 : -1) ?? '';
  return {
    api: {
      get: (path) => answer({ method: 'GET', path }, nameIn(path)),
      create: (path, body) => answer({ method: 'POST', path, body }, (body as Pod).metadata.name),
      patchLate: <T>(path: string, body: () => unknown) =>
        timer(turnMs(), scheduler).pipe(
          concatMap(() => {
            const patch = body() as JsonObject | undefined;
            if (!patch) return EMPTY;
            patches.push(patch);
            return answer<T>({ method: 'PATCH', path, body: patch }, nameIn(path));
          }),
        ),
      delete: (path, body) => answer({ method: 'DELETE', path, body }, nameIn(path)),
    },
    request$,
    patches,
    pod: (name) => objects.find(pathOf(name)) as Pod | undefined,
    write: (pod) => void objects.write(pathOf(pod.metadata.name), pod),
    take: (name) => void objects.set(pathOf(name), undefined),
  };
};
