import type { Map as ImmutableMap, Set as ImmutableSet } from 'immutable';

/** Returns the map without the other keys; the same map if it has no others. */
export const retainKeys = <M extends ImmutableMap<string, unknown>>(map: M, kept: ReadonlySet<string>): M =>
  map.deleteAll([...map.keys()].filter((key) => !kept.has(key)));

/** Returns the set without other members; the same set if it has no others. */
export const retainMembers = (set: ImmutableSet<string>, kept: ReadonlySet<string>): ImmutableSet<string> =>
  set.subtract([...set].filter((member) => !kept.has(member)));

/** Returns the map without the entries that `isGone` names; the same map if there are none. */
export const deleteEntries = <V>(
  map: ImmutableMap<string, V>,
  isGone: (key: string, value: V) => boolean,
): ImmutableMap<string, V> => map.deleteAll([...map].filter(([key, value]) => isGone(key, value)).map(([key]) => key));
