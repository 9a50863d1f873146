/**
 * Returns the path of a request line without its query, decoded once, as the rules of access and the routes see it.
 * Segments such as `..` stay: no route has them. Undefined for an encoding that cannot be decoded, for a path that does
 * not begin with a slash, of which the router of the routes would ignore the first character, and for a URL without a host or with
 * an impossible one or port.
 */
export const requestPath = (url: string): string | undefined => {
  const [, origin = '', path = ''] = /^([a-z][a-z\d+.-]*:\/\/[^/?#]*)?([^?#]*)/is.exec(url) ?? [];
  if (!path.startsWith('/') && (origin === '' || path !== '')) return undefined;
  if (origin !== '' && !URL.canParse(origin)) return undefined;
  try {
    return decodeURIComponent(path === '' ? '/' : path);
  } catch {
    return undefined;
  }
};

/** Whether the path is `base` or below it: `/pods` and `/pods/x`, but not `/podsx`. */
export const isAtOrBelow = (path: string, base: string): boolean => path === base || path.startsWith(`${base}/`);
