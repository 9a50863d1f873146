import { concatMap, defer, EMPTY, map, type Observable, type SchedulerLike, Subject, timer } from 'rxjs';
import { ApiError } from '../../src/model/kube-api/api-error.js';
import {
  applyStrategicMergePatch,
  type JsonObject,
  POD_MERGE_KEYS,
} from '../../src/model/kube-api/strategic-merge-patch.js';
import type { Pod } from '../../src/model/pod/pod.js';
import type { ApiClient } from '../../src/streams/cluster/api-client.js';

export interface FakePodApi {
  readonly api: Pick<ApiClient, 'get' | 'create' | 'patchLate' | 'delete'>;
  /** What is asked, when it is asked: `PATCH web`. */
  readonly request$: Observable<string>;
  /** The bodies of patches, in order. */
  readonly patches: JsonObject[];
  readonly pod: (name: string) => Pod | undefined;
  /** What somebody else writes. */
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

/** The pods of an API server, all in one namespace: UIDs and versions are preconditions, a version is a number that grows. */
export const fakePodApi = ({
  scheduler,
  tookMs = () => 1,
  failure = () => undefined,
  turnMs = () => 0,
  keeps = (status) => status,
}: FakePodApiOptions): FakePodApi => {
  const pods = new Map<string, Pod>();
  const patches: JsonObject[] = [];
  const request$ = new Subject<string>();
  let version = 0;
  const write = (pod: Pod): Pod => {
    version += 1;
    const stored = { ...pod, metadata: { ...pod.metadata, resourceVersion: String(version) } };
    pods.set(pod.metadata.name, stored);
    return stored;
  };
  const refusal = (code: number, reason: string) => new ApiError({ code, reason, message: reason });
  const found = (name: string, uid?: unknown, resourceVersion?: unknown): Pod => {
    const pod = pods.get(name);
    if (!pod) throw refusal(404, 'NotFound');
    const isMeant = (uid ?? pod.metadata.uid) === pod.metadata.uid;
    if (!isMeant || (resourceVersion ?? pod.metadata.resourceVersion) !== pod.metadata.resourceVersion) {
      throw refusal(409, 'Conflict');
    }
    return pod;
  };
  const answer = <T>(method: string, name: string, act: () => unknown): Observable<T> =>
    defer(() => {
      const request = `${method} ${name}`;
      request$.next(request);
      return timer(tookMs(request), scheduler).pipe(
        map(() => {
          const error = failure(request);
          if (error) throw error;
          return act() as T;
        }),
      );
    });
  const nameIn = (path: string): string => path.split('/').at(path.endsWith('/status') ? -2 : -1) ?? '';
  return {
    api: {
      get: (path) => answer('GET', nameIn(path), () => found(nameIn(path))),
      create: (_path, body) => {
        const pod = body as Pod;
        return answer('POST', pod.metadata.name, () => {
          if (pods.has(pod.metadata.name)) throw refusal(409, 'AlreadyExists');
          return write({ ...pod, metadata: { ...pod.metadata, uid: `made-${version}` } });
        });
      },
      patchLate: <T>(path: string, body: () => unknown) =>
        timer(turnMs(), scheduler).pipe(
          concatMap(() => {
            const patch = body() as JsonObject | undefined;
            if (!patch) return EMPTY;
            patches.push(patch);
            return answer<T>('PATCH', nameIn(path), () => {
              const { metadata, status: change } = patch as Record<'metadata' | 'status', JsonObject>;
              const before = found(nameIn(path), metadata['uid'], metadata['resourceVersion']);
              const original = { status: before.status ?? {} };
              const { status } = applyStrategicMergePatch(original, { status: change }, POD_MERGE_KEYS);
              const kept = keeps(status as Pod['status']);
              return write({ ...before, ...(kept && { status: kept }) });
            });
          }),
        ),
      delete: (path, body) =>
        answer('DELETE', nameIn(path), () => {
          const { preconditions } = body as { readonly preconditions?: { readonly uid?: string } };
          const pod = found(nameIn(path), preconditions?.uid);
          pods.delete(pod.metadata.name);
          return pod;
        }),
    },
    request$,
    patches,
    pod: (name) => pods.get(name),
    write: (pod) => void write(pod),
    take: (name) => void pods.delete(name),
  };
};
