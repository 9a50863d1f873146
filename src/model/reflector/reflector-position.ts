import { compareResourceVersions } from './resource-version.js';

/** Objects per page of a list. Source: staging/src/k8s.io/client-go/tools/pager/pager.go */
const LIST_PAGE_SIZE = 500;

/** The version up to which a reflector knows the history of its objects. */
export interface ReflectorPosition {
  /** Empty before the first list. */
  readonly resourceVersion: string;
  /** The server cannot continue from there: the next list is the newest one. */
  readonly isUnavailable: boolean;
  /** The server answered the first list in pages, so it has no cache that pages would bypass. */
  readonly isPaged: boolean;
}

/**
 * `notOlderThan`: the version that an earlier run has reached. Without it the first list may be as old as the server's
 * cache.
 */
export const startPosition = (notOlderThan = ''): ReflectorPosition => ({
  resourceVersion: notOlderThan,
  isUnavailable: false,
  isPaged: false,
});

export interface ListTerms {
  /** The minimum version of the list; `0` for any, and empty for the newest. */
  readonly resourceVersion: string;
  /** Objects per page; undefined for all at once. */
  readonly limit: number | undefined;
}

/**
 * Returns how to list from this position. Without pages a server may answer from its cache, unless the newest version
 * is requested.
 *
 * Source: staging/src/k8s.io/client-go/tools/cache/reflector.go list, relistResourceVersion
 */
export const listTerms = ({ resourceVersion, isUnavailable, isPaged }: ReflectorPosition): ListTerms => {
  const asked = isUnavailable ? '' : resourceVersion === '' ? '0' : resourceVersion;
  return { resourceVersion: asked, limit: isPaged || asked === '' || asked === '0' ? LIST_PAGE_SIZE : undefined };
};

/** Returns the position after a list with these options. */
export const listedAt = (
  position: ReflectorPosition,
  asked: ListTerms,
  list: { readonly resourceVersion: string; readonly isPaged: boolean },
): ReflectorPosition => ({
  resourceVersion: list.resourceVersion,
  isUnavailable: false,
  isPaged: position.isPaged || (asked.resourceVersion === '0' && list.isPaged),
});

/** The server was asked for a minimum version and returned an older one. */
export const isOlderThanAsked = (asked: ListTerms, resourceVersion: string): boolean =>
  compareResourceVersions(resourceVersion, asked.resourceVersion) === -1;

/** The server does not continue from this position. */
export const unavailable = (position: ReflectorPosition): ReflectorPosition => ({ ...position, isUnavailable: true });
