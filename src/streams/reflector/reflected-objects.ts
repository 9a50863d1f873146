import { defer, ignoreElements, type Observable, tap } from 'rxjs';
import { type ApiObject, objectKey } from '../../model/kube-api/api-object.js';
import type { ReflectorEvent } from '../../model/reflector/reflector-event.js';
import { isServerAway } from '../../model/kube-api/server-away.js';
import type { KeptObjects } from '../references/kept-objects.js';

/** All objects of a collection, kept up to date while `run$` is subscribed. */
export interface ReflectedObjects<T extends ApiObject> {
  /** The objects, by `objectKey`; undefined until the first list. While the server is away before that, the kept objects. */
  readonly objects: () => ReadonlyMap<string, T> | undefined;
  /** Emits nothing and never ends. Errors: none. */
  readonly run$: Observable<never>;
}

/** All objects of a collection as one object, of the version of the newest. */
export interface KeptList<T extends ApiObject> extends ApiObject {
  readonly items: readonly T[];
}

/** Holds the objects of a reflector. They stay when the server goes away. */
export const reflectedObjects = <T extends ApiObject>(
  event$: Observable<ReflectorEvent<T>>,
  /** Keeps the objects for a later start while the server is away. Default: none are kept. */
  kept?: KeptObjects<KeptList<T>>,
): ReflectedObjects<T> => {
  let objects: Map<string, T> | undefined;
  let isAway = false;
  const keep = (resourceVersion: string | undefined): void => {
    const items = [...(objects ?? new Map<string, T>()).values()];
    kept?.keep('', '', { metadata: { ...(resourceVersion && { resourceVersion }) }, items });
  };

  const fold = (event: ReflectorEvent<T>): void => {
    switch (event.kind) {
      case 'replaced':
        objects = byKey(event.objects);
        return keep(event.resourceVersion);
      case 'put':
        objects?.set(objectKey(event.object), event.object);
        return keep(event.object.metadata.resourceVersion);
      case 'deleted':
        objects?.delete(objectKey(event.object));
        return keep(event.object.metadata.resourceVersion);
      case 'problem':
        isAway = isServerAway(event.error);
        return;
      case 'recovered':
        isAway = false;
    }
  };
  return {
    objects: () => {
      if (objects || !isAway) return objects;
      const before = kept?.get('', '');
      return before && byKey(before.items);
    },
    run$: defer(() => event$).pipe(tap(fold), ignoreElements()),
  };
};

const byKey = <T extends ApiObject>(objects: readonly T[]): Map<string, T> =>
  new Map(objects.map((object) => [objectKey(object), object]));
