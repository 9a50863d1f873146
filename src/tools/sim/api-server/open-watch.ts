import { ApiError } from '../../../model/kube-api/api-error.js';
import type { ApiWatchRequest } from '../../../streams/ports/api-server.js';
import { authorize, type Answering, type ApiUser, selectorOf } from './answer-request.js';
import { apiVersionOf, type ApiTarget, targetOf } from './api-resource.js';
import { invalid, noSuchPath, statusOf } from './api-refusals.js';
import type { StoredChange } from './object-store.js';
import type { Selects } from './selectors.js';
import type { WatchChannel } from './watch-channel.js';

/** An open watch of the server. */
export interface OpenWatch {
  readonly target: ApiTarget;
  readonly channel: WatchChannel;
  readonly change: (change: StoredChange) => void;
  /** Emits the version that it has reached; nothing unless the reader requests bookmarks. */
  readonly bookmark: () => void;
  /** The milliseconds after which the server ends it. */
  readonly timeoutMs: number;
}

/**
 * Answers a watch: every change since the version that it names, and then new ones. `refusesInBand` chooses between the
 * two ways of refusing an old version: by the reply, or by its first line.
 *
 * Errors: throws `ApiError` for a reply that does not begin a stream.
 */
export const openWatch = (
  server: Answering,
  user: ApiUser,
  { path, query = {} }: ApiWatchRequest,
  channel: WatchChannel,
  { refusesInBand, defaultTimeoutMs }: { readonly refusesInBand: boolean; readonly defaultTimeoutMs: number },
): OpenWatch | undefined => {
  const target = targetOf(path);
  if (!target || target.name !== undefined) throw noSuchPath();
  authorize(server, user, 'watch', target, query);
  const selects = selectorOf(target, query);
  if (query['sendInitialEvents'] !== undefined)
    throw invalid(
      target.resource,
      '',
      'sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled',
    );
  const asked = Number(query['resourceVersion'] ?? 0);
  const send = ({ type, object, before }: StoredChange): void => {
    const [was, is] = [before !== undefined && selects(before), type !== 'DELETED' && selects(object)];
    if (is) channel.send({ kind: 'event', type: was ? 'MODIFIED' : 'ADDED', object });
    // An object that no longer matches is deleted for this watch.
    else if (was)
      channel.send({
        kind: 'event',
        type: 'DELETED',
        object:
          type === 'DELETED'
            ? object
            : { ...before, metadata: { ...before?.metadata, resourceVersion: object.metadata.resourceVersion } },
      });
  };
  const isOurs = ({ resource }: StoredChange): boolean => resource === target.resource;
  try {
    const past = asked === 0 ? [] : server.store.changesAfter(asked).filter(isOurs);
    channel.send({ kind: 'opened' });
    if (asked === 0) initial(server, target, selects, channel);
    else for (const change of past) send(change);
  } catch (error) {
    if (!(error instanceof ApiError) || !refusesInBand) throw error;
    channel.send({ kind: 'opened' });
    channel.send({ kind: 'event', type: 'ERROR', object: statusOf(error) });
    channel.end();
    return undefined;
  }
  const wantsBookmarks = query['allowWatchBookmarks'] === 'true';
  return {
    target,
    channel,
    change: (change) => isOurs(change) && send(change),
    bookmark: () => {
      if (!wantsBookmarks) return;
      const { kind } = target.resource;
      const metadata = { resourceVersion: String(server.store.revision), creationTimestamp: null };
      const object = { kind, apiVersion: apiVersionOf(target.resource), metadata };
      channel.send({ kind: 'event', type: 'BOOKMARK', object });
    },
    timeoutMs: query['timeoutSeconds'] === undefined ? defaultTimeoutMs : Number(query['timeoutSeconds']) * 1000,
  };
};

const initial = (
  { store }: Answering,
  { resource, namespace }: ApiTarget,
  selects: Selects,
  channel: WatchChannel,
): void => {
  for (const object of store.list(resource, namespace).filter(selects))
    channel.send({ kind: 'event', type: 'ADDED', object });
};
