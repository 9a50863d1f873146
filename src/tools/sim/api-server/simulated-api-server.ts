import { Observable } from 'rxjs';
import { ApiError } from '../../../model/kube-api/api-error.js';
import { errorText } from '../../../model/cri/cri-error.js';
import type { ApiRequest, ApiServer, ApiWatchMessage } from '../../../streams/ports/api-server.js';
import type { LatencyRange } from '../world/behaviour.js';
import type { SeededRandom } from '../world/seeded-random.js';
import type { VirtualScheduler } from '../world/virtual-scheduler.js';
import { type Answering, answerRequest, type ApiUser } from './answer-request.js';
import { targetOf } from './api-resource.js';
import { ObjectStore, type StoredChange } from './object-store.js';
import { openWatch, type OpenWatch } from './open-watch.js';
import type { StoredObject } from './stored-object.js';
import { WatchChannel } from './watch-channel.js';

/** A reply of the server, emitted at its time, even if no client receives it. */
export interface AnsweredRequest {
  readonly at: number;
  readonly user: ApiUser;
  readonly request: ApiRequest;
  readonly isWatch: boolean;
  /** The HTTP status. */
  readonly code: number;
  readonly message?: string;
}

export interface SimulatedApiServerOptions {
  readonly scheduler: VirtualScheduler;
  readonly random: SeededRandom;
  /** The server's time of day, in Unix milliseconds; the scheduler's by default. */
  readonly wallClock?: () => number;
  /** The round trip of a request, and the delay of each event of a watch; 1 to 5 by default. */
  readonly latencyMs?: LatencyRange;
  /** The delay of the cache that answers lists of any version; 0 to 20 by default. */
  readonly cacheLagMs?: LatencyRange;
  /** The least number of changes that are kept for watches that begin in the past; 1000 by default. */
  readonly keptChanges?: number;
  /** The time between two bookmarks of a watch; a minute by default. */
  readonly bookmarkMs?: number;
  /** `user`: the user of the request. */
  readonly changed?: (change: StoredChange, user: ApiUser) => void;
  readonly answered?: (answer: AnsweredRequest) => void;
}

/** An API server in memory and in virtual time that behaves like a real one towards an agent. */
export interface SimulatedApiServer {
  /** The server for a client whose requests take a while. */
  readonly connect: (user: ApiUser) => ApiServer;
  /** Carries out a request of an administrator at once. Errors: throws `ApiError`; also while the server is away. */
  readonly do: (request: ApiRequest) => unknown;
  /** An object in its current version; undefined if it does not exist. */
  readonly get: (path: string) => StoredObject | undefined;
  /** The current objects of a kind, by the path of their list. */
  readonly list: (path: string) => readonly StoredObject[];
  /**
   * Takes the server away for this long: connections break and further ones are refused. The data stays, and old
   * versions are forgotten.
   */
  readonly restart: (downMs: number) => void;
  readonly isUp: () => boolean;
  /** Takes a kind away, as a server of an earlier release, or brings it back. The objects stay. */
  readonly serve: (plural: string, isServed: boolean) => void;
  /** Forgets old versions: watches that begin there are refused. */
  readonly compact: () => void;
  /** Breaks every watch, or silences it without an error. */
  readonly breakWatches: (how: 'reset' | 'silent') => void;
  readonly openWatches: () => number;
  readonly revision: () => number;
}

/** The default limit of a watch's duration. */
const WATCH_MS = 30 * 60_000;

export const simulatedApiServer = ({
  scheduler,
  random,
  wallClock = scheduler.now,
  latencyMs = { min: 1, max: 5 },
  cacheLagMs = { min: 0, max: 20 },
  keptChanges = 1000,
  bookmarkMs = 60_000,
  changed = () => undefined,
  answered = () => undefined,
}: SimulatedApiServerOptions): SimulatedApiServer => {
  const watches = new Set<OpenWatch>();
  const pending = new Set<(error: ApiError) => void>();
  const withdrawn = new Set<string>();
  let isUp = true;
  let acting: ApiUser = { kind: 'admin' };
  const draws = { way: random.fork('way'), ids: random.fork('ids'), how: random.fork('how') };
  const store: ObjectStore = new ObjectStore({
    now: scheduler.now,
    keptChanges,
    changed: (change) => {
      for (const watch of watches) watch.change(change);
      changed(change, acting);
    },
  });
  const server: Answering = {
    store,
    isServed: ({ plural }) => !withdrawn.has(plural),
    nowMs: wallClock,
    nextUid: () => uidFrom(draws.ids),
    nextSuffix: () => Array.from({ length: 5 }, () => draws.ids.pick(SUFFIX_LETTERS)).join(''),
    cachedRevision: () =>
      Math.max(store.compacted, store.revisionAt(scheduler.now() - draws.how.integer(cacheLagMs.min, cacheLagMs.max))),
  };

  const tell = (user: ApiUser, request: ApiRequest, isWatch: boolean, error?: unknown): void =>
    answered({
      at: scheduler.now(),
      user,
      request,
      isWatch,
      code: error === undefined ? (request.method === 'POST' ? 201 : 200) : codeOf(error),
      ...(error !== undefined && { message: errorText(error) }),
    });

  const answer = (user: ApiUser, request: ApiRequest): unknown => {
    acting = user;
    try {
      const body = answerRequest(server, user, request);
      tell(user, request, false);
      return body;
    } catch (error) {
      tell(user, request, false, error);
      throw error;
    }
  };

  const ways = (): { readonly thereMs: number; readonly backMs: number } => {
    const both = draws.way.integer(latencyMs.min, latencyMs.max);
    const thereMs = draws.way.integer(0, both);
    return { thereMs, backMs: both - thereMs };
  };

  /** Arrives after a while, unless the caller has cancelled by then. */
  const request = (user: ApiUser, asked: ApiRequest): Observable<unknown> =>
    new Observable((subscriber) => {
      const { thereMs, backMs } = ways();
      const broken = (error: ApiError): void => {
        pending.delete(broken);
        subscriber.error(error);
      };
      const back = (deliver: () => void): void => {
        subscriber.add(
          scheduler.schedule(() => {
            pending.delete(broken);
            deliver();
          }, backMs),
        );
      };
      subscriber.add(() => pending.delete(broken));
      subscriber.add(
        scheduler.schedule(() => {
          if (!isUp) return back(() => subscriber.error(refused()));
          pending.add(broken);
          try {
            const body = answer(user, asked);
            back(() => {
              subscriber.next(body);
              subscriber.complete();
            });
          } catch (error) {
            back(() => subscriber.error(asApiError(error)));
          }
        }, thereMs),
      );
    });

  const watch = (user: ApiUser, asked: Omit<ApiRequest, 'method'>): Observable<ApiWatchMessage> =>
    new Observable((subscriber) => {
      const channel = new WatchChannel(subscriber, {
        scheduler,
        latencyMs: () => ways().backMs,
        add: (teardown) => subscriber.add(teardown),
      });
      const begin = (): void => {
        if (!isUp) return channel.refuse(refused());
        const told: ApiRequest = { method: 'GET', ...asked };
        try {
          const opened = openWatch(server, user, asked, channel, {
            refusesInBand: draws.how.chance(0.5),
            defaultTimeoutMs: WATCH_MS,
          });
          tell(user, told, true);
          if (opened) subscriber.add(kept(opened));
        } catch (error) {
          tell(user, told, true, error);
          channel.refuse(asApiError(error));
        }
      };
      subscriber.add(scheduler.schedule(begin, ways().thereMs));
    });

  /** Open until the reader unsubscribes, or its time is over. */
  const kept = (opened: OpenWatch): (() => void) => {
    watches.add(opened);
    const over = scheduler.schedule(() => {
      watches.delete(opened);
      bookmarks.unsubscribe();
      opened.channel.end();
    }, opened.timeoutMs);
    const bookmarks = scheduler.schedule(function () {
      opened.bookmark();
      this.schedule(undefined, bookmarkMs);
    }, bookmarkMs);
    return () => {
      watches.delete(opened);
      over.unsubscribe();
      bookmarks.unsubscribe();
    };
  };

  const breakWatches = (how: 'reset' | 'silent'): void => {
    const open = [...watches];
    watches.clear();
    for (const { channel } of open)
      if (how === 'reset') channel.reset(broke());
      else channel.fallSilent();
  };

  const targetAt = (path: string) => {
    const target = targetOf(path);
    if (!target) throw new Error(`${path} is no path of the API`);
    return target;
  };

  return {
    connect: (user) => ({ request: (asked) => request(user, asked), watch: (asked) => watch(user, asked) }),
    do: (asked) => {
      if (!isUp) throw refused();
      return answer({ kind: 'admin' }, asked);
    },
    get: (path) => {
      const { resource, namespace, name = '' } = targetAt(path);
      return store.get(resource, namespace, name);
    },
    list: (path) => {
      const { resource, namespace } = targetAt(path);
      return store.list(resource, namespace);
    },
    restart: (downMs) => {
      if (!isUp) return;
      isUp = false;
      breakWatches('reset');
      for (const fail of [...pending]) fail(broke());
      pending.clear();
      store.compact();
      scheduler.schedule(() => (isUp = true), downMs);
    },
    isUp: () => isUp,
    serve: (plural, isServed) => void (isServed ? withdrawn.delete(plural) : withdrawn.add(plural)),
    compact: () => store.compact(),
    breakWatches,
    openWatches: () => watches.size,
    revision: () => store.revision,
  };
};

/** No process listens there. */
const refused = (): ApiError => new ApiError({ message: 'connect ECONNREFUSED 192.0.2.100:6443' });

/** The error of a request of which it is unknown whether it was carried out. */
const broke = (): ApiError => new ApiError({ message: 'read ECONNRESET' });

const codeOf = (error: unknown): number => (error instanceof ApiError ? (error.code ?? 0) : 500);

const asApiError = (error: unknown): ApiError =>
  error instanceof ApiError
    ? error
    : new ApiError({ code: 500, reason: 'InternalError', message: errorText(error), cause: error });

const SUFFIX_LETTERS = [...'bcdfghjklmnpqrstvwxz2456789'];

const uidFrom = ({ integer }: SeededRandom): string => {
  const hex = (digits: number): string => Array.from({ length: digits }, () => integer(0, 15).toString(16)).join('');
  return `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}`;
};
