import { type Pod, podFullName } from '../pod/pod.js';
import { type SourceObject, sourceObjectKey } from '../references/source-object.js';
import { type DuplicateItem, type FileItems, uniqueItems } from './unique-items.js';

/** The pods and the objects of one file. */
export interface FilePods extends Pick<FileItems<never>, 'file' | 'isInDoubt'> {
  readonly pods: readonly Pod[];
  readonly objects: readonly SourceObject[];
}

export type DuplicatePod = DuplicateItem<Pod> & { readonly what: 'name' | 'UID' };
export type DuplicateObject = DuplicateItem<SourceObject>;

export interface UniqueSet {
  readonly pods: readonly Pod[];
  readonly objects: readonly SourceObject[];
  readonly duplicates: readonly (DuplicatePod | DuplicateObject)[];
}

/** Returns the pods of files, each name and each UID once, and their objects, each name once: see `uniqueItems`. */
export const uniquePods = (
  files: readonly FilePods[],
  before: { readonly pods: readonly Pod[]; readonly objects: readonly SourceObject[] },
): UniqueSet => {
  const pods = uniqueItems(
    files.map(({ pods: items, ...file }) => ({ ...file, items })),
    before.pods,
    (pod) => [nameKey(pod), `uid ${pod.metadata.uid}`],
  );
  const objects = uniqueItems(
    files.map(({ objects: items, ...file }) => ({ ...file, items })),
    before.objects,
    (object) => [sourceObjectKey(object)],
  );
  const duplicatePods = pods.duplicates.map((duplicate): DuplicatePod => ({
    ...duplicate,
    what: duplicate.key === nameKey(duplicate.item) ? 'name' : 'UID',
  }));
  return { pods: pods.items, objects: objects.items, duplicates: [...duplicatePods, ...objects.duplicates] };
};

const nameKey = (pod: Pod): string => `name ${podFullName(pod)}`;
