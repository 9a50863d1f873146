import { type ApiObject, objectKey } from './api-object.js';

/** What was asked of the server when something went wrong. */
export type ReflectorStep = 'list' | 'watch';

/** A failure that the reflector gets over by itself. */
export interface ReflectorProblem {
  readonly kind: 'problem';
  readonly step: ReflectorStep;
  readonly error: unknown;
  /** How loudly to say it: `debug` for what is usual, and for what has been said since things last worked. */
  readonly severity: 'error' | 'warning' | 'debug';
}

/** What a reflector says of the objects that it follows. */
export type ReflectorEvent<T extends ApiObject = ApiObject> =
  /** All there are, whatever was said before: the first thing that is said of objects, and again after each further list. */
  | { readonly kind: 'replaced'; readonly objects: readonly T[]; readonly resourceVersion: string }
  /** One that is new, or in a newer version. */
  | { readonly kind: 'put'; readonly object: T }
  /** One that is gone, as it was last, with the version of its end. */
  | { readonly kind: 'deleted'; readonly object: T }
  | ReflectorProblem
  /** The server is watched again after problems that were worth a warning. */
  | { readonly kind: 'recovered' };

/** The objects by `objectKey` after one more event; the same map where nothing changes. */
export const foldReflected = <T extends ApiObject>(
  objects: ReadonlyMap<string, T>,
  event: ReflectorEvent<T>,
): ReadonlyMap<string, T> => {
  switch (event.kind) {
    case 'replaced':
      return new Map(event.objects.map((object) => [objectKey(object), object]));
    case 'put':
      return new Map(objects).set(objectKey(event.object), event.object);
    case 'deleted': {
      const left = new Map(objects);
      return left.delete(objectKey(event.object)) ? left : objects;
    }
    case 'problem':
    case 'recovered':
      return objects;
  }
};
