import { compareResourceVersions } from './resource-version.js';

/** Objects per page of a list. Source: staging/src/k8s.io/client-go/tools/pager/pager.go */
export const LIST_PAGE_SIZE = 500;

/** Up to where a reflector knows the history of its objects. */
export interface ReflectorPosition {
  /** Empty before the first list. */
  readonly resourceVersion: string;
  /** The server cannot go on from there: the next list is the newest there is. */
  readonly isUnavailable: boolean;
  /** The server gave its very first list in pages, so it has no cache that pages would pass by. */
  readonly isPaged: boolean;
}

/** `notOlderThan`: what an earlier run has seen. Without it the first list may be as old as the cache of the server. */
export const startPosition = (notOlderThan = ''): ReflectorPosition => ({
  resourceVersion: notOlderThan,
  isUnavailable: false,
  isPaged: false,
});

export interface ListTerms {
  /** At least as new as this; `0` for any, and empty for the newest. */
  readonly resourceVersion: string;
  /** Objects per page; undefined for everything at once. */
  readonly limit: number | undefined;
}

/**
 * How to list from here. Without pages a server may answer from its cache, as long as it is not asked for the newest.
 *
 * Source: staging/src/k8s.io/client-go/tools/cache/reflector.go list, relistResourceVersion
 */
export const listTerms = ({ resourceVersion, isUnavailable, isPaged }: ReflectorPosition): ListTerms => {
  const asked = isUnavailable ? '' : resourceVersion === '' ? '0' : resourceVersion;
  return { resourceVersion: asked, limit: isPaged || asked === '' || asked === '0' ? LIST_PAGE_SIZE : undefined };
};

/** After a list that was asked for on these terms. */
export const listedAt = (
  position: ReflectorPosition,
  asked: ListTerms,
  list: { readonly resourceVersion: string; readonly isPaged: boolean },
): ReflectorPosition => ({
  resourceVersion: list.resourceVersion,
  isUnavailable: false,
  isPaged: position.isPaged || (asked.resourceVersion === '0' && list.isPaged),
});

/** The server was asked for something at least as new and gave something older. */
export const isOlderThanAsked = (asked: ListTerms, resourceVersion: string): boolean =>
  compareResourceVersions(resourceVersion, asked.resourceVersion) === -1;

/** The server does not go on from here. */
export const unavailable = (position: ReflectorPosition): ReflectorPosition => ({ ...position, isUnavailable: true });
