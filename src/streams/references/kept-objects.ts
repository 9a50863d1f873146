import { catchError, defer, EMPTY, from, ignoreElements, merge, type Observable, Subject, take, tap } from 'rxjs';
import type { ApiObject } from '../../model/kube-api/api-object.js';
import { lastKnownKey, type LastKnownKind } from '../../model/references/last-known-key.js';
import { type ReadApiObject, readApiObject } from '../../model/kube-api/read-api-object.js';
import { errorText } from '../../model/cri/cri-error.js';
import { exhaustMapLatestBy } from '../operators/exhaust-map-latest.js';
import type { LastKnown } from '../ports/last-known.js';
import type { Logger } from '../ports/logger.js';

/** The last known objects of one kind, across restarts of the agent. */
export interface KeptObjects<T extends ApiObject> {
  /** The object that this agent or an earlier one kept; undefined if there is none, or before the read. */
  readonly get: (namespace: string, name: string) => T | undefined;
  /** Keeps the object. An object of the kept version is not written again. */
  readonly keep: (namespace: string, name: string, object: T) => void;
  /** Removes an object that is deleted or no longer needed. */
  readonly drop: (namespace: string, name: string) => void;
  /** Removes all other objects. */
  readonly retain: (keys: Iterable<{ readonly namespace: string; readonly name: string }>) => void;
}

export interface ObjectKeeper {
  readonly of: <T extends ApiObject>(kind: LastKnownKind) => KeptObjects<T>;
  /** Reads the objects of an earlier agent, and writes changes, one write per object at a time. Emits nothing. Errors: none. */
  readonly run$: Observable<never>;
}

/**
 * Makes the keeper of last known objects on disk. A disk that fails delays nothing: the failure is logged, and the object is written
 * the next time that it is kept.
 */
export const objectKeeper = (
  { readObjects, writeObject, removeObject }: Pick<LastKnown, 'readObjects' | 'writeObject' | 'removeObject'>,
  log: Logger,
): ObjectKeeper => {
  const kept = new Map<string, ApiObject>();
  /** The keys with an open or failed write or removal. */
  const unwritten = new Set<string>();
  const change$ = new Subject<string>();
  let hasFailed = false;

  const change = (key: string): void => {
    unwritten.add(key);
    change$.next(key);
  };
  const drop = (key: string): void => {
    kept.delete(key);
    change(key);
  };
  const write = (key: string): Observable<never> =>
    defer(() => {
      const object = kept.get(key);
      unwritten.delete(key);
      return object ? writeObject(key, object) : removeObject(key);
    }).pipe(
      tap({ complete: () => (hasFailed = false) }),
      catchError((error: unknown) => {
        unwritten.add(key);
        log[hasFailed ? 'debug' : 'warn'](
          { object: key, error: errorText(error) },
          'an object cannot be kept for when the API server is away',
        );
        hasFailed = true;
        return EMPTY;
      }),
    );
  const read$ = defer(readObjects).pipe(
    take(1),
    tap((before) => {
      // Objects that arrived meanwhile are newer.
      for (const [key, object] of before) {
        if (kept.has(key) || unwritten.has(key)) continue;
        const read = readKept(key, object);
        if ('object' in read) kept.set(key, read.object);
        else log.warn({ object: key, error: read.problem }, 'a last known object is left out');
      }
    }),
    catchError((error: unknown) => {
      log.warn({ error: errorText(error) }, 'the last known objects cannot be read');
      return EMPTY;
    }),
    ignoreElements(),
  );

  return {
    of: <T extends ApiObject>(kind: LastKnownKind): KeptObjects<T> => ({
      // The key contains the kind, so the object is of this type.
      get: (namespace, name) => kept.get(lastKnownKey(kind, namespace, name)) as T | undefined,
      keep: (namespace, name, object) => {
        const key = lastKnownKey(kind, namespace, name);
        const before = kept.get(key)?.metadata;
        kept.set(key, object);
        const { uid, resourceVersion } = object.metadata;
        const isSame = before !== undefined && before.uid === uid && before.resourceVersion === resourceVersion;
        if (!isSame || unwritten.has(key)) change(key);
      },
      drop: (namespace, name) => drop(lastKnownKey(kind, namespace, name)),
      retain: (wanted) => {
        const keys = new Set([...wanted].map(({ namespace, name }) => lastKnownKey(kind, namespace, name)));
        const ofKind = [...kept.keys()].filter((key) => key.startsWith(`${kind} `));
        for (const key of ofKind) if (!keys.has(key)) drop(key);
      },
    }),
    run$: defer(() => {
      const before = [...unwritten];
      return merge(change$, from(before)).pipe(
        exhaustMapLatestBy((key) => key, write),
        (writing$) => merge(writing$, read$),
      );
    }),
  };
};

/** Reads a kept object or list. A list with an item that is not of its type is rejected as a whole, as it is from the server. */
const readKept = (key: string, object: unknown): ReadApiObject<ApiObject> => {
  const [kind = ''] = key.split(' ');
  const ofList = /^(Service|RuntimeClass|ClusterTrustBundle)List$/.exec(kind)?.[1];
  if (ofList === undefined)
    return kind === 'ConfigMap' || kind === 'Secret' ? readApiObject(object, kind) : { problem: 'is of no known kind' };
  const { metadata, items: written } = object as { readonly metadata?: unknown; readonly items?: unknown };
  const items = written ?? [];
  if (typeof metadata !== 'object' || metadata === null || !Array.isArray(items)) return { problem: 'is no list' };
  const read: ApiObject[] = [];
  for (const item of items as readonly unknown[]) {
    const one = readApiObject(item, ofList);
    if ('problem' in one) return one;
    read.push(one.object);
  }
  return { object: { ...(object as ApiObject), ...{ items: read } } };
};
