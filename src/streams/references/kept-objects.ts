import { catchError, defer, EMPTY, from, ignoreElements, merge, type Observable, Subject, take, tap } from 'rxjs';
import type { ApiObject } from '../../model/kube-api/api-object.js';
import { lastKnownKey, type LastKnownKind } from '../../model/references/last-known-key.js';
import {
  NO_LAST_KNOWN,
  withKept,
  withoutKept,
  withRead,
  writeBegun,
  writeEnded,
  writeFailed,
} from '../../model/references/last-known-objects.js';
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
  let known = NO_LAST_KNOWN;
  const change$ = new Subject<string>();

  const drop = (key: string): void => {
    known = withoutKept(known, key);
    change$.next(key);
  };
  const write = (key: string): Observable<never> =>
    defer(() => {
      const object = known.objects.get(key);
      known = writeBegun(known, key);
      return object ? writeObject(key, object) : removeObject(key);
    }).pipe(
      tap({ complete: () => (known = writeEnded(known)) }),
      catchError((error: unknown) => {
        log[known.hasFailed ? 'debug' : 'warn'](
          { object: key, error: errorText(error) },
          'an object cannot be kept for when the API server is away',
        );
        known = writeFailed(known, key);
        return EMPTY;
      }),
    );
  const read$ = defer(readObjects).pipe(
    take(1),
    tap((written) => {
      for (const [key, object] of written) {
        const read = withRead(known, key, object);
        known = read.known;
        if (read.problem !== undefined)
          log.warn({ object: key, error: read.problem }, 'a last known object is left out');
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
      get: (namespace, name) => known.objects.get(lastKnownKey(kind, namespace, name)) as T | undefined,
      keep: (namespace, name, object) => {
        const key = lastKnownKey(kind, namespace, name);
        known = withKept(known, key, object);
        if (known.unwritten.has(key)) change$.next(key);
      },
      drop: (namespace, name) => drop(lastKnownKey(kind, namespace, name)),
      retain: (wanted) => {
        const keys = [...wanted].map(({ namespace, name }) => lastKnownKey(kind, namespace, name));
        for (const key of known.objects.deleteAll(keys).keys()) if (key.startsWith(`${kind} `)) drop(key);
      },
    }),
    run$: defer(() => {
      const before = [...known.unwritten];
      return merge(change$, from(before)).pipe(
        exhaustMapLatestBy((key) => key, write),
        (writing$) => merge(writing$, read$),
      );
    }),
  };
};
