import { ApiError } from '../../model/api/api-error.js';
import type { ApiWatchRequest } from '../../streams/ports.js';
import { authorize, type Answering, type ApiUser, selectorOf } from './answer-request.js';
import { apiVersionOf, type ApiTarget, targetOf } from './api-resource.js';
import { invalid, noSuchPath, statusOf } from './api-refusals.js';
import type { StoredChange } from './object-store.js';
import type { Selects } from './selectors.js';
import type { WatchChannel } from './watch-channel.js';

/** A watch that is open at the server. */
export interface OpenWatch {
  readonly target: ApiTarget;
  readonly channel: WatchChannel;
  readonly change: (change: StoredChange) => void;
  /** Says which version it has come to; nothing unless the reader wants to know. */
  readonly bookmark: () => void;
  /** Milliseconds after which the server ends it. */
  readonly timeoutMs: number;
}

/**
 * Answers a watch: everything since the version that it names, and then what comes. `refusesInBand` says in which of the two ways an
 * old version is refused: by the reply, or by its first line.
 *
 * Errors: throws `ApiError` for what the reply says instead of beginning a stream.
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
    // What no longer fits is gone, as far as this watch goes.
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
    ...{ target, channel },
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
