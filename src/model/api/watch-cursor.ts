import type { ApiObject } from './api-object.js';
import type { ReflectorEvent } from './reflector-event.js';
import type { ReflectorPosition } from './reflector-position.js';
import { compareResourceVersions } from './resource-version.js';

/** One watch, as far as it has come. */
export interface WatchCursor {
  readonly position: ReflectorPosition;
  /** It was begun after a version, so everything in it is in order and new. */
  readonly isOrdered: boolean;
  /** It has said something new. */
  readonly hadNews: boolean;
}

/** Begins a watch. From `""` and `"0"` a server first tells what there is, in any order. */
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
 * What one line of a watch says. A version that was seen already says nothing again; one before it is a history that goes back.
 *
 * Source: staging/src/k8s.io/client-go/tools/cache/reflector.go handleAnyWatch; that versions are compared is ours
 */
export const foldWatchLine = <T extends ApiObject>(
  cursor: WatchCursor,
  { type, object }: WatchLine,
): {
  readonly cursor: WatchCursor;
  readonly event?: Extract<ReflectorEvent<T>, { kind: 'put' | 'deleted' | 'problem' }>;
  readonly wentBack?: Error;
} => {
  const problem = problemOf(object, type);
  if (problem !== undefined)
    return {
      cursor: { ...cursor, hadNews: true },
      event: { kind: 'problem', step: 'watch', error: new Error(problem), severity: 'error' },
    };
  const known = object as T;
  const { resourceVersion = '' } = known.metadata;
  const order = cursor.isOrdered
    ? compareResourceVersions(resourceVersion, cursor.position.resourceVersion)
    : undefined;
  if (order === 0) return { cursor };
  if (order === -1) {
    const reached = cursor.position.resourceVersion;
    return {
      cursor,
      wentBack: new Error(`the server says what was at ${resourceVersion}, and has been at ${reached} before`),
    };
  }
  // Of what there is a server tells in any order: only what comes after it has a version up to which everything is known.
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

/** What the object lacks to be one; undefined when it is one. */
const problemOf = (object: unknown, type: string): string | undefined => {
  const what = `what a watch says with ${type}`;
  if (typeof object !== 'object' || object === null) return `${what} is no object: ${JSON.stringify(object)}`;
  const { metadata } = object as { readonly metadata?: unknown };
  if (typeof metadata !== 'object' || metadata === null) return `${what} has no metadata`;
  const { name, resourceVersion } = metadata as { readonly name?: unknown; readonly resourceVersion?: unknown };
  if (resourceVersion !== undefined && typeof resourceVersion !== 'string')
    return `${what} has a metadata.resourceVersion that is no text: ${JSON.stringify(resourceVersion)}`;
  if (type !== 'BOOKMARK' && (typeof name !== 'string' || name === '')) return `${what} has no metadata.name`;
  return undefined;
};
