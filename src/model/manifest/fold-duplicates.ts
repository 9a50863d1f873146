import type { Absences } from '../config/absences.js';
import { duplicateEvent } from '../config/pod-config.js';
import { type SourceEvent, sourceProblem } from '../pod/pod-set.js';
import { sourceObjectKey } from '../references/source-object.js';
import type { DuplicateObject, DuplicatePod } from './unique-pods.js';

/** The reports of ignored pods and objects, by their files. */
export type IgnoredPods = ReadonlyMap<string, ReadonlySet<string>>;

export const NO_IGNORED_PODS: IgnoredPods = new Map();

/**
 * Returns each duplicate as a problem of its file, once while it is a duplicate. While the absence of one of the two
 * files is not confirmed, no problem is reported or revoked.
 */
export const foldDuplicates = (
  before: IgnoredPods,
  duplicates: readonly (DuplicatePod | DuplicateObject)[],
  absences: Absences,
  isBroken: (file: string) => boolean,
): { readonly ignored: IgnoredPods; readonly events: readonly SourceEvent[] } => {
  const ignored = new Map<string, Set<string>>();
  const events: SourceEvent[] = [];
  for (const [file, texts] of before) if (absences.has(file)) ignored.set(file, new Set(texts));
  for (const duplicate of duplicates) {
    const { file, isWinnerInDoubt } = duplicate;
    const message = textOf(duplicate);
    const wasTold = before.get(file)?.has(message) === true;
    if (isWinnerInDoubt && !wasTold) continue;
    const isMore = isBroken(file) || ignored.has(file) || before.has(file);
    ignored.set(file, new Set(ignored.get(file)).add(message));
    if (wasTold) continue;
    const event = 'what' in duplicate ? duplicateEvent(duplicate.item, 'file', duplicate.what) : undefined;
    const problem = { severity: 'error' as const, message, from: file, ...(event && { event }) };
    events.push(sourceProblem(isMore ? { ...problem, continues: true } : problem));
  }
  return { ignored, events };
};

const textOf = (duplicate: DuplicatePod | DuplicateObject): string => {
  const { file, winner } = duplicate;
  if (!('what' in duplicate)) {
    const which = winner === file ? 'another one of this file' : `one of ${winner}`;
    return `${file}: ${sourceObjectKey(duplicate.item)} is ignored, because ${which} has the same name and comes first`;
  }
  const { namespace, name } = duplicate.item.metadata;
  const which = winner === file ? 'another pod of this file' : `a pod of ${winner}`;
  return `${file}: ${namespace}/${name} is ignored, because ${which} has the same ${duplicate.what} and comes first`;
};
