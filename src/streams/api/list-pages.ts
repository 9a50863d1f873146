import { catchError, concatMap, defer, EMPTY, expand, map, type Observable, of, reduce, throwError } from 'rxjs';
import { ApiError, isGone } from '../../model/api/api-error.js';
import type { ApiObject } from '../../model/api/api-object.js';
import type { ListTerms } from '../../model/api/reflector-position.js';
import type { ApiServer } from '../ports.js';
import type { ApiQuery } from './api-client.js';

/** Everything that a list gave, as of one version. */
export interface Listed<T extends ApiObject> {
  readonly objects: readonly T[];
  readonly resourceVersion: string;
  /** It came in more than one page. */
  readonly isPaged: boolean;
}

/**
 * Lists everything that `query` selects, in pages where `terms` say so; emits once. When the snapshot that later pages are read from is
 * gone, everything is read at once instead. Items get the `apiVersion` and `kind` that lists leave out.
 *
 * Errors: `ApiError`; also for an answer that is no list.
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
  /** Names the page after this one; empty for none. */
  readonly next: string;
  /** It stands for all pages, those before it included. */
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
  const objects = ((items ?? []) as readonly unknown[]).map((item, index) => {
    const { metadata: ofItem } = (typeof item === 'object' && item !== null ? item : {}) as { metadata?: unknown };
    if (typeof ofItem !== 'object' || ofItem === null)
      throw new ApiError({ message: `GET ${path}: items[${index}] has no metadata` });
    return { ...type, ...(item as T) };
  });
  return {
    objects,
    resourceVersion: typeof metadata.resourceVersion === 'string' ? metadata.resourceVersion : '',
    next: typeof metadata.continue === 'string' ? metadata.continue : '',
  };
};
