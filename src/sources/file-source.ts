import { asyncScheduler, concatMap, defer, from, map, type Observable, type SchedulerLike } from 'rxjs';
import {
  foldManifestListing,
  type ManifestFilesState,
  type ManifestListing,
  NO_MANIFEST_FILES,
} from '../model/fold-manifest-listing.js';
import { type SourceEvent, sourceProblem } from '../model/pod-set.js';
import { type WatchedEvent, watchedListing } from '../streams/operators/watched-listing.js';
import { isMissing, manifestLister, watchPath } from './manifest-files.js';

export interface FileSource {
  /** A directory of manifests, or one manifest. */
  readonly path: string;
  readonly nodeName: string;
  /** From one listing to the next while the watch is silent. */
  readonly fileCheckFrequencyMs?: number;
  /** How long the path must be quiet before a change is read. */
  readonly quietMs?: number;
  /** Gate PreventStaticPodAPIReferences; on unless given. */
  readonly preventStaticPodApiReferences?: boolean;
  readonly scheduler?: SchedulerLike;
}

const RETRY_MS = 1000;
const MAX_RETRY_MS = 20_000;

/**
 * The pods of a directory or file of manifests: a set at once, and another whenever the files say something else.
 *
 * Errors: none; what cannot be read is a problem. A path that does not exist is an empty set and a problem.
 * Ends:   never.
 * Source: pkg/kubelet/config/file.go.
 */
export const fileSource = ({
  path,
  nodeName,
  fileCheckFrequencyMs = 20_000,
  quietMs = 10,
  preventStaticPodApiReferences = true,
  scheduler = asyncScheduler,
}: FileSource): Observable<SourceEvent> =>
  defer(() => {
    const plainPath = path.replace(/(?<=.)\/+$/, '');
    const timing = { periodMs: fileCheckFrequencyMs, quietMs, retryMs: RETRY_MS, maxRetryMs: MAX_RETRY_MS, scheduler };
    const watched = { list: manifestLister(plainPath), watch: watchPath(plainPath), isPassing: isMissing };
    const place = { path: plainPath, nodeName, preventStaticPodApiReferences };
    let state: ManifestFilesState = NO_MANIFEST_FILES;
    return watchedListing(watched, timing).pipe(
      map((event: WatchedEvent<ManifestListing>): readonly SourceEvent[] => {
        if (event.kind === 'watch-failed') return watchProblem(plainPath, event.error);
        const folded = foldManifestListing(state, event.value, place);
        state = folded.state;
        return folded.events;
      }),
      concatMap((events) => from(events)),
    );
  });

/** That the path is missing, its listing says. */
const watchProblem = (path: string, error: unknown): readonly SourceEvent[] => {
  if (isMissing(error)) return [];
  const reason = error instanceof Error ? error.message : String(error);
  const message = `${path}: changes are only seen at the next check, because watching fails: ${reason}`;
  return [sourceProblem({ severity: 'warning', message })];
};
