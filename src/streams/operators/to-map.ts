import { map, type OperatorFunction, toArray } from 'rxjs';

/**
 * `toArray` for entries: collects them into a map, which is emitted once the source has completed; empty for a source without any. The last
 * entry of a key counts.
 *
 * Errors: those of the source.
 * Ends:   after the map.
 */
export const toMap =
  <K, V>(): OperatorFunction<readonly [key: K, value: V], ReadonlyMap<K, V>> =>
  (source) =>
    source.pipe(
      toArray(),
      map((entries) => new Map(entries)),
    );
