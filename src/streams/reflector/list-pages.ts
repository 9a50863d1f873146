import { catchError, concatMap, defer, EMPTY, expand, map, type Observable, of, reduce, throwError } from 'rxjs';
import { ApiError, isGone } from '../../model/kube-api/api-error.js';
import type { ApiObject } from '../../model/kube-api/api-object.js';
import { readApiObject } from '../../model/kube-api/read-api-object.js';
import type { ListTerms } from '../../model/reflector/reflector-position.js';
import { TYPE_OF_PODS, typeOfItems } from '../../model/kube-api/type-of-path.js';
import type { ApiServer } from '../ports/api-server.js';
import type { ApiQuery } from '../cluster/api-client.js';

/** The result of a list, as of one version. */
export interface Listed<T extends ApiObject> {
  readonly objects: readonly T[];
  readonly resourceVersion: string;
  /** True if the list came in more than one page. */
  readonly isPaged: boolean;
}

/**
 * Lists the objects that `query` selects, in pages if there is a `limit`; emits once. If the snapshot of later pages is gone, it reads
 * the whole list in one request instead. Items get the `apiVersion` and `kind` that lists leave out.
 *
 * Errors: `ApiError`; also for an answer that is no list, and for an item that is not of its type, except in a list of pods.
 * Source: staging/src/k8s.io/client-go/tools/pager/pager.go
 */
export const listPages = <T extends ApiObject>(
  api: Pick<ApiServer, 'request'>,
  path: string,
  query: ApiQuery,
  { resourceVersion, limit }: ListTerms,
): Observable<Listed<T>> => {
  const pageOf = (more: ApiQuery): Observable<Page<T>> =>
    defer(() => api.request({ method: 'GET', path, query: { ...query, ...more } })).pipe(
      map((body) => readPage<T>(path, body)),
    );
  const from: ApiQuery = resourceVersion === '' ? {} : { resourceVersion };
  const size: ApiQuery = limit === undefined ? {} : { limit: String(limit) };
  const whole$ = defer(() => pageOf(from)).pipe(map((page) => ({ ...page, next: '', isWhole: true })));
  return pageOf({ ...from, ...size }).pipe(
    expand(({ next }) =>
      next === ''
        ? EMPTY
        : pageOf({ ...size, continue: next }).pipe(
            catchError((error: unknown) => (isGone(error) ? whole$ : throwError(() => error))),
          ),
    ),
    reduce<Page<T>, Gathered<T>>(
      (all, page) => ({
        // All pages are as of the first one.
        resourceVersion: all.pages === 0 || page.isWhole ? page.resourceVersion : all.resourceVersion,
        objects: all.pages === 0 || page.isWhole ? page.objects : [...all.objects, ...page.objects],
        pages: all.pages + 1,
      }),
      { resourceVersion: '', objects: [], pages: 0 },
    ),
    concatMap((all) =>
      all.pages === 0
        ? throwError(() => new ApiError({ message: `GET ${path}: the request ended without an answer` }))
        : of({ objects: all.objects, resourceVersion: all.resourceVersion, isPaged: all.pages > 1 }),
    ),
  );
};

interface Page<T extends ApiObject> {
  readonly objects: readonly T[];
  readonly resourceVersion: string;
  /** The token of the next page; empty if there is none. */
  readonly next: string;
  /** True if the page replaces all pages, those before it included. */
  readonly isWhole?: boolean;
}

interface Gathered<T extends ApiObject> {
  readonly objects: readonly T[];
  readonly resourceVersion: string;
  readonly pages: number;
}

const readPage = <T extends ApiObject>(path: string, body: unknown): Page<T> => {
  const list = (typeof body === 'object' && body !== null ? body : {}) as {
    readonly apiVersion?: unknown;
    readonly kind?: unknown;
    readonly metadata?: { readonly resourceVersion?: unknown; readonly continue?: unknown } | null;
    readonly items?: unknown;
  };
  const { metadata, items = null } = list;
  if (typeof metadata !== 'object' || metadata === null || (items !== null && !Array.isArray(items)))
    throw new ApiError({ message: `GET ${path}: the answer is no list: expected metadata, and items as an array` });
  const kind = typeof list.kind === 'string' ? list.kind.replace(/List$/, '') : undefined;
  const type = {
    ...(typeof list.apiVersion === 'string' && { apiVersion: list.apiVersion }),
    ...(kind !== undefined && kind !== '' && { kind }),
  };
  const typeOfEach = typeOfItems(path);
  const objects = ((items ?? []) as readonly unknown[]).map((item, index) => {
    const problem = (lack: string): ApiError => new ApiError({ message: `GET ${path}: items[${index}] ${lack}` });
    const { metadata: ofItem } = (typeof item === 'object' && item !== null ? item : {}) as { metadata?: unknown };
    const hasMetadata = typeof ofItem === 'object' && ofItem !== null;
    // Pods are validated one by one later, so that an invalid one does not reject the others.
    if (typeOfEach === TYPE_OF_PODS) return { ...type, ...((hasMetadata ? item : { metadata: {} }) as T) };
    if (!hasMetadata) throw problem('has no metadata');
    if (typeOfEach === undefined) return { ...type, ...(item as T) };
    const read = readApiObject<T>({ ...type, ...(item as T) }, typeOfEach);
    if ('problem' in read) throw problem(read.problem);
    return read.object;
  });
  return {
    objects,
    resourceVersion: typeof metadata.resourceVersion === 'string' ? metadata.resourceVersion : '',
    next: typeof metadata.continue === 'string' ? metadata.continue : '',
  };
};
