import type { PodRef } from '../../model/pod/pod.js';
import { fullName, isCalled } from '../../tools/why/find-pod.js';

export interface PodRequest {
  /** A name, `name_namespace` or a UID, with or without `pod/` before it. */
  readonly pod: string;
  /** The namespace in which to search; absent for all. */
  readonly namespace?: string;
}

/**
 * Returns the pods of one name that are meant: several of them if a pod was replaced. A static pod is found by the name in
 * its manifest, too, to which the name of a node is added. If several namespaces have such a pod, `default` is meant.
 *
 * Errors: there is none, or there are several in other namespaces.
 */
export const choosePods = <T extends PodRef>(
  known: readonly T[],
  { pod, namespace }: PodRequest,
  nodes: ReadonlySet<string>,
): readonly [T, ...T[]] => {
  const text = pod.replace(/^(?:pods?|po)\//, '');
  const inScope = known.filter((ref) => namespace === undefined || ref.namespace === namespace);
  const exact = inScope.filter((ref) => isCalled(ref, text));
  const called =
    exact.length > 0 ? exact : inScope.filter(({ name }) => [...nodes].some((node) => name === `${text}-${node}`));
  const names = [...new Set(called.map(fullName))];
  const meant = names.length > 1 ? called.filter((ref) => ref.namespace === 'default') : called;
  const [first, ...others] = meant;
  if (first) return [first, ...others.filter((ref) => fullName(ref) === fullName(first))];
  if (names.length > 1) {
    const namespaces = [...new Set(called.map((ref) => ref.namespace))].toSorted();
    throw new Error(
      `pods ${JSON.stringify(text)} are in several namespaces: choose with -n one of: [${namespaces.join(' ')}]`,
    );
  }
  const where = namespace === undefined ? '' : ` in namespace ${JSON.stringify(namespace)}`;
  const all = [...new Set(known.map(fullName))].toSorted();
  const list = all.length === 0 ? 'there is no pod here' : `pods here: ${all.join(', ')}`;
  throw new Error(`pods ${JSON.stringify(text)} not found${where}; ${list}`);
};
