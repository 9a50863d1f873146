import { catchError, defer, EMPTY, from, ignoreElements, merge, type Observable, Subject, take, tap } from 'rxjs';
import type { ApiObject } from '../../model/api/api-object.js';
import { lastKnownKey, type LastKnownKind } from '../../model/api/last-known-key.js';
import { errorText } from '../../model/cri-error.js';
import { conflateByKey } from '../operators/conflate-by-key.js';
import type { LastKnown, Logger } from '../ports.js';

/** Objects of one kind, as they were known last, across restarts of the agent. */
export interface KeptObjects<T extends ApiObject> {
  /** As this agent or an earlier one has kept it; undefined until it has been read what there is. */
  readonly get: (namespace: string, name: string) => T | undefined;
  /** Keeps it as it is now; one in the version that is kept is not written again. */
  readonly keep: (namespace: string, name: string, object: T) => void;
  /** It is gone, or nobody wants it any more. */
  readonly drop: (namespace: string, name: string) => void;
  /** Drops all but those. */
  readonly retain: (keys: Iterable<{ readonly namespace: string; readonly name: string }>) => void;
}

export interface ObjectKeeper {
  readonly of: <T extends ApiObject>(kind: LastKnownKind) => KeptObjects<T>;
  /** Reads what an earlier agent kept, and writes what is to be kept, one write per object at a time. Emits nothing. Errors: none. */
  readonly run$: Observable<never>;
}

/**
 * What the agent knew last of objects, kept on disk. A disk that fails delays nothing: it is said, and what could not be written is
 * written again when it is seen again.
 */
export const objectKeeper = (
  { readObjects, writeObject, removeObject }: Pick<LastKnown, 'readObjects' | 'writeObject' | 'removeObject'>,
  log: Logger,
): ObjectKeeper => {
  const kept = new Map<string, ApiObject>();
  /** What has to be written or removed, or could not be. */
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
      // What was heard meanwhile is newer.
      for (const [key, object] of before) if (!kept.has(key) && !unwritten.has(key)) kept.set(key, object);
    }),
    catchError((error: unknown) => {
      log.warn({ error: errorText(error) }, 'the last known objects cannot be read');
      return EMPTY;
    }),
    ignoreElements(),
  );

  return {
    of: <T extends ApiObject>(kind: LastKnownKind): KeptObjects<T> => ({
      // Only what was kept as this kind is there by this key.
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
        conflateByKey((key) => key, write),
        (writing$) => merge(writing$, read$),
      );
    }),
  };
};
