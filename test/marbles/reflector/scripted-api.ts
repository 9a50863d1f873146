import { defer, NEVER, type Observable, tap } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { ApiError } from '../../../src/model/kube-api/api-error.js';
import type { ApiObject } from '../../../src/model/kube-api/api-object.js';
import type { ApiServer, ApiWatchMessage } from '../../../src/streams/ports/api-server.js';

export const objectOf = (name: string, resourceVersion: number | string, uid = name): ApiObject => ({
  metadata: { namespace: 'default', name, uid, resourceVersion: String(resourceVersion) },
});

export const listOf = (resourceVersion: number, objects: readonly unknown[], next?: string): object => ({
  kind: 'ThingList',
  apiVersion: 'v1',
  metadata: { resourceVersion: String(resourceVersion), ...(next !== undefined && { continue: next }) },
  items: objects,
});

export const opened: ApiWatchMessage = { kind: 'opened' };

export const line = (type: Extract<ApiWatchMessage, { kind: 'event' }>['type'], object: unknown): ApiWatchMessage => ({
  kind: 'event',
  type,
  object,
});

export const bookmark = (resourceVersion: number): ApiWatchMessage =>
  line('BOOKMARK', { metadata: { resourceVersion: String(resourceVersion) } });

export const refused = new ApiError({
  message: 'connect ECONNREFUSED 127.0.0.1:6443',
  cause: Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:6443'), { code: 'ECONNREFUSED' }),
});
export const reset = new ApiError({
  message: 'read ECONNRESET',
  cause: Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }),
});
export const expired = new ApiError({ code: 410, reason: 'Expired', message: 'too old resource version' });
export const tooLarge = new ApiError({
  code: 504,
  reason: 'Timeout',
  message: 'Timeout: Too large resource version: 9, current: 3',
});
export const internal = new ApiError({ code: 500, reason: 'InternalError', message: 'etcd is not there' });
export const unauthorized = new ApiError({ code: 401, reason: 'Unauthorized', message: 'Unauthorized' });
export const tooMany = (retryAfterSeconds?: number): ApiError =>
  new ApiError({
    code: 429,
    reason: 'TooManyRequests',
    message: 'too many',
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });

export interface Script {
  /** What each list answers, in turn; then nothing comes. */
  readonly lists: readonly Observable<unknown>[];
  /** What each watch says, in turn; then it stays silent. */
  readonly watches?: readonly Observable<ApiWatchMessage>[];
}

/** An API server that answers by a script; `tell` receives its requests: `list 5 limit=500`, `watch 7 for 300 s`, `list 5 given up`. */
export const scriptedApi = ({ lists, watches = [] }: Script, tell: (what: string) => void): ApiServer => {
  let listed = 0;
  let watched = 0;
  const played = <T>(what: string, play$: Observable<T> = NEVER): Observable<T> => {
    tell(what);
    return play$.pipe(tap({ unsubscribe: () => tell(`${what} given up`) }));
  };
  return {
    request: ({ query: { resourceVersion = 'newest', ...query } = {} }) =>
      defer(() => played(['list', resourceVersion, ...pairs(query)].join(' '), lists[listed++])),
    watch: ({ query: { resourceVersion = 'newest', timeoutSeconds = '?', allowWatchBookmarks = '', ...query } = {} }) =>
      defer(() => {
        const bookmarks = allowWatchBookmarks === 'true' ? [] : ['without bookmarks'];
        const what = ['watch', resourceVersion, `for ${timeoutSeconds} s`, ...bookmarks, ...pairs(query)].join(' ');
        return played(what, watches[watched++]);
      }),
  };
};

const pairs = (query: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(query).map(([key, value]) => `${key}=${value}`);

/** Runs virtual time from 0 until `untilMs`, and returns the texts of that time, each with its time. */
export const story = (
  untilMs: number,
  run: (stage: {
    readonly scheduler: TestScheduler;
    readonly cold: TestScheduler['createColdObservable'];
    readonly tell: (what: string) => void;
  }) => Observable<string>,
): readonly string[] => {
  const told: string[] = [];
  const scheduler = new TestScheduler(() => undefined);
  const tell = (what: string): void => void told.push(`${scheduler.now()} ${what}`);
  scheduler.maxFrames = untilMs;
  scheduler.run(({ cold, expectObservable }) => {
    const said$ = run({ scheduler, cold, tell }).pipe(tap(tell));
    // The end of the story is no end of what goes on in it.
    expectObservable(said$, `${untilMs}ms !`);
  });
  return told.filter((what) => !(what.startsWith(`${untilMs} `) && what.endsWith(' given up')));
};
