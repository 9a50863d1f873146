import { asyncScheduler, defer, type Observable, type SchedulerLike } from 'rxjs';
import type { SourceEvent } from '../model/pod/pod-set.js';
import { manifestPods } from './manifest-pods.js';
import { manifestReader, readListing } from './manifest-reader.js';
import { isMissing, manifestLister, watchPath } from './manifest-files.js';

export interface FileSource {
  /** A directory of manifests, or one manifest. */
  readonly path: string;
  readonly nodeName: string;
  /** The time between two listings while the watch is silent. */
  readonly fileCheckFrequencyMs?: number;
  /** The time without a change that the path needs before it is read. */
  readonly quietMs?: number;
  /** The node has an API server, so manifests hold no ConfigMaps and Secrets. Default: false. */
  readonly hasApiServer?: boolean;
  /** The alpha gates that are on: each allows the fields behind it. Default: none. */
  readonly gates?: readonly string[];
  readonly scheduler?: SchedulerLike;
}

/** The time between two listings unless given, in milliseconds. */
export const FILE_CHECK_FREQUENCY_MS = 20_000;
/** The wait before a watch that ended is started again, in milliseconds; it doubles while the watch fails. */
export const FILE_RETRY_MS = 1_000;
export const MAX_FILE_RETRY_MS = 20_000;

/**
 * The pods, ConfigMaps and Secrets of a directory or file of manifests: a set at once, and another when the manifests change.
 *
 * Errors: none; a manifest that cannot be read is a problem. A missing path is a problem, and after the grace an empty
 * set.
 * Ends:   never.
 * Source: pkg/kubelet/config/file.go.
 */
export const fileSource = ({
  path,
  nodeName,
  fileCheckFrequencyMs = FILE_CHECK_FREQUENCY_MS,
  quietMs = 10,
  hasApiServer = false,
  gates = [],
  scheduler = asyncScheduler,
}: FileSource): Observable<SourceEvent> =>
  defer(() => {
    const plainPath = path.replace(/(?<=.)\/+$/, '');
    const retry = { retryMs: FILE_RETRY_MS, maxRetryMs: MAX_FILE_RETRY_MS };
    const timing = { periodMs: fileCheckFrequencyMs, quietMs, ...retry, scheduler };
    const rules = { hasApiServer, gates };
    const read = manifestReader(rules, scheduler);
    const list = readListing(manifestLister(plainPath), read);
    const ports = { list, watch: watchPath(plainPath), isPassing: isMissing };
    return manifestPods(ports, { path: plainPath, nodeName, ...rules }, timing);
  });
