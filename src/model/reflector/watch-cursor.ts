import type { ApiObject } from '../kube-api/api-object.js';
import { type ReadApiObject, readApiObject } from '../kube-api/read-api-object.js';
import type { ReflectorEvent } from './reflector-event.js';
import type { ReflectorPosition } from './reflector-position.js';
import { compareResourceVersions } from './resource-version.js';

/** The progress of one watch. */
export interface WatchCursor {
  readonly position: ReflectorPosition;
  /** The watch began after a version, so all of its events are in order and new. */
  readonly isOrdered: boolean;
  /** The watch has emitted a new event. */
  readonly hadNews: boolean;
}

/** Begins a watch. From `""` and `"0"` a server first emits the existing objects, in any order. */
export const startWatch = (position: ReflectorPosition): WatchCursor => ({
  position,
  isOrdered: position.resourceVersion !== '' && position.resourceVersion !== '0',
  hadNews: false,
});

export interface WatchLine {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly object: unknown;
}

/**
 * Returns the event of one line of a watch. A version that was seen already is ignored; an earlier one means that the
 * server's history has gone back.
 *
 * Source: staging/src/k8s.io/client-go/tools/cache/reflector.go handleAnyWatch; that versions are compared is ours
 */
export const foldWatchLine = <T extends ApiObject>(
  cursor: WatchCursor,
  { type, object }: WatchLine,
  /** The type in the schema table; without one the object is not checked. */
  typeOfObject?: string,
): {
  readonly cursor: WatchCursor;
  readonly event?: Extract<ReflectorEvent<T>, { kind: 'put' | 'deleted' | 'problem' }>;
  readonly wentBack?: Error;
} => {
  const read = readLine<T>({ type, object }, typeOfObject);
  if ('problem' in read) {
    const error = new Error(`the watch event ${type} ${read.problem}`);
    return {
      cursor: { ...cursor, hadNews: true },
      event: { kind: 'problem', step: 'watch', error, severity: 'error' },
    };
  }
  const known = read.object;
  const { resourceVersion = '' } = known.metadata;
  const order = cursor.isOrdered
    ? compareResourceVersions(resourceVersion, cursor.position.resourceVersion)
    : undefined;
  if (order === 0) return { cursor };
  if (order === -1) {
    const reached = cursor.position.resourceVersion;
    return {
      cursor,
      wentBack: new Error(`the server sent version ${resourceVersion} after version ${reached}`),
    };
  }
  // Existing objects come in any order: only later ones have a version up to which every change is known.
  const isOrdered = cursor.isOrdered || type !== 'ADDED';
  return {
    cursor: {
      position: isOrdered && resourceVersion !== '' ? { ...cursor.position, resourceVersion } : cursor.position,
      isOrdered,
      hadNews: true,
    },
    ...(type !== 'BOOKMARK' && { event: { kind: type === 'DELETED' ? 'deleted' : 'put', object: known } }),
  };
};

const readLine = <T extends ApiObject>({ type, object }: WatchLine, typeOfObject?: string): ReadApiObject<T> => {
  const problem = problemOf(object, type);
  if (problem !== undefined) return { problem };
  // No other field of deleted objects and bookmarks is needed.
  const isWhole = type === 'ADDED' || type === 'MODIFIED';
  return isWhole && typeOfObject !== undefined ? readApiObject<T>(object, typeOfObject) : { object: object as T };
};

/** Returns the required field that the object lacks; undefined for a complete one. */
const problemOf = (object: unknown, type: string): string | undefined => {
  if (typeof object !== 'object' || object === null) return `is no object: ${JSON.stringify(object).slice(0, 100)}`;
  const { metadata } = object as { readonly metadata?: unknown };
  if (typeof metadata !== 'object' || metadata === null) return 'has no metadata';
  const { name, resourceVersion } = metadata as { readonly name?: unknown; readonly resourceVersion?: unknown };
  if (resourceVersion !== undefined && typeof resourceVersion !== 'string')
    return `has a metadata.resourceVersion that is no text: ${JSON.stringify(resourceVersion).slice(0, 100)}`;
  if (type !== 'BOOKMARK' && (typeof name !== 'string' || name === '')) return 'has no metadata.name';
  return undefined;
};
