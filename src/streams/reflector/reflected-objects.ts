import type { OrderedMap } from 'immutable';
import { defer, ignoreElements, type Observable, tap } from 'rxjs';
import type { ApiObject } from '../../model/kube-api/api-object.js';
import {
  foldKnownObjects,
  type KeptList,
  keptListAfter,
  type KnownObjects,
  objectsByKey,
} from '../../model/reflector/known-objects.js';
import type { ReflectorEvent } from '../../model/reflector/reflector-event.js';
import { isServerAway } from '../../model/kube-api/server-away.js';
import type { KeptObjects } from '../references/kept-objects.js';

/** All objects of a collection, kept up to date while `run$` is subscribed. */
export interface ReflectedObjects<T extends ApiObject> {
  /** The objects, by `objectKey`; undefined until the first list. While the server is away before that, the kept objects. */
  readonly objects: () => OrderedMap<string, T> | undefined;
  /** Emits nothing and never ends. Errors: none. */
  readonly run$: Observable<never>;
}

/** Holds the objects of a reflector. They stay when the server goes away. */
export const reflectedObjects = <T extends ApiObject>(
  event$: Observable<ReflectorEvent<T>>,
  /** Keeps the objects for a later start while the server is away. Default: none are kept. */
  kept?: KeptObjects<KeptList<T>>,
): ReflectedObjects<T> => {
  let known: KnownObjects<T> = {};
  return {
    objects: () => {
      if (known.objects || !isServerAway(known.problem)) return known.objects;
      const before = kept?.get('', '');
      return before && objectsByKey(before.items);
    },
    run$: defer(() => event$).pipe(
      tap((event) => {
        known = foldKnownObjects(known, event);
        const list = keptListAfter(event, known.objects?.values() ?? []);
        if (list) kept?.keep('', '', list);
      }),
      ignoreElements(),
    ),
  };
};
