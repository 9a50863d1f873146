import { asyncScheduler, concatMap, defer, from, map, type Observable } from 'rxjs';
import {
  type FoldedListing,
  foldManifestListing,
  type ManifestFilesState,
  type ManifestListing,
  type ManifestPlace,
  NO_MANIFEST_FILES,
} from '../model/config/fold-manifest-listing.js';
import { errorText } from '../model/cri/cri-error.js';
import { type SourceEvent, sourceProblem } from '../model/pod/pod-set.js';
import {
  type Watched,
  type WatchedEvent,
  watchedListing,
  type WatchTiming,
} from '../streams/operators/watched-listing.js';

export type ManifestPorts = Pick<Watched<ManifestListing>, 'list' | 'watch' | 'isPassing'>;

/**
 * The pods of manifests that are listed and watched: a set at once, and another when the manifests change. A missing
 * path is checked again until it counts as removed.
 *
 * Errors: those of `list`; a file that cannot be read or watched is a problem.
 * Ends:   never.
 * Source: pkg/kubelet/config/file.go.
 */
export const manifestPods = (
  { list, watch, isPassing }: ManifestPorts,
  place: ManifestPlace,
  timing: WatchTiming,
): Observable<SourceEvent> =>
  defer(() => {
    const { scheduler = asyncScheduler } = timing;
    let state: ManifestFilesState = NO_MANIFEST_FILES;
    const fold = (listing: ManifestListing): FoldedListing => {
      const folded = foldManifestListing(state, listing, place, scheduler.now());
      state = folded.state;
      return folded;
    };
    const watched: Watched<FoldedListing> = {
      list: () => defer(list).pipe(map(fold)),
      againInMs: (folded) => folded.againInMs,
      watch,
      isPassing,
    };
    return watchedListing(watched, timing).pipe(
      map((event: WatchedEvent<FoldedListing>): readonly SourceEvent[] => {
        if (event.kind === 'listed') return event.value.events;
        // The listing reports a missing path.
        return isPassing(event.error) ? [] : [watchProblem(place.path, event.error)];
      }),
      concatMap((events) => from(events)),
    );
  });

const watchProblem = (path: string, error: unknown): SourceEvent => {
  const reason = errorText(error);
  const message = `${path}: changes are only seen at the next check, because watching fails: ${reason}`;
  return sourceProblem({ severity: 'warning', message });
};
