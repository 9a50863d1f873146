import { deepEqual } from '../values/deep-equal.js';
import { type SourceObject, sourceObjectKey } from '../references/source-object.js';
import type { ManifestProblem } from './manifest-problem.js';
import type { ManifestReading } from './parse-manifest.js';

/**
 * Returns the objects of a reading as their source delivers them. An immutable object whose data have changed since
 * `before` is a problem, and stays as it was: a user deletes it and creates another.
 *
 * Source: pkg/apis/core/validation/validation.go ValidateConfigMapUpdate, ValidateSecretUpdate.
 */
export const placeObjects = (
  reading: ManifestReading,
  file: string,
  before: readonly SourceObject[],
): { readonly objects: readonly SourceObject[]; readonly problems: readonly ManifestProblem[] } => {
  const known = new Map(before.map((object) => [sourceObjectKey(object), object]));
  const problems: ManifestProblem[] = [];
  const objects = reading.objects.map(({ object, document, line, column }) => {
    const old = known.get(sourceObjectKey(object));
    if (old && deepEqual(old, object)) return old;
    if (old?.immutable !== true) return object;
    const field = object.immutable === true ? 'data' : 'immutable';
    const message = `is changed, but ${sourceObjectKey(object)} is immutable`;
    const expected = 'the object as it was, or one of another name';
    problems.push({ file, document, line, column, field, message, expected });
    return old;
  });
  return { objects, problems };
};
