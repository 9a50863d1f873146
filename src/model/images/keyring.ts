const DOCKER_HUB = 'index.docker.io';

/**
 * Returns the credentials among `entries` (each with its registry) for a repository such as
 * `registry.example.com:5000/team/app`, the most specific registry first. A key matches the repositories below its path
 * on its host; labels of the host may have wildcards, the port has to be equal. An image of Docker Hub without a
 * matching key gets the credentials of `index.docker.io`.
 *
 * Source: pkg/credentialprovider/keyring.go BasicDockerKeyring
 */
export const credentialsFor = <Credential>(
  entries: readonly (readonly [registry: string, Credential])[],
  repository: string,
): readonly Credential[] => {
  const keyed = entries.map(([registry, credential]) => ({ key: keyOf(registry), credential }));
  const target = splitKey(repository);
  const fitting = keyed
    .filter(({ key }) => fits(splitKey(key), target))
    .sort((a, b) => (a.key === b.key ? 0 : a.key < b.key ? 1 : -1));
  const found =
    fitting.length > 0 || !isOnDockerHub(repository) ? fitting : keyed.filter(({ key }) => key === DOCKER_HUB);
  return found.map(({ credential }) => credential);
};

/**
 * Returns host and path of a registry's address. Docker writes `/v1/` and `/v2/` for the API's version; they are no
 * path.
 */
const keyOf = (registry: string): string => {
  const { host, path } = splitKey(registry.replace(/^https?:\/\//, ''));
  const below = path.replace(/^\/v[12]\//, '/');
  return below === '/' ? host : host + below;
};

interface Key {
  /** With its port. */
  readonly host: string;
  /** Empty, or beginning with a slash. */
  readonly path: string;
  readonly labels: readonly string[];
  readonly port: string;
}

const splitKey = (key: string): Key => {
  const [, host = '', path = ''] = /^([^/?#]*)([^?#]*)/.exec(key) ?? [];
  const [, name = host, port = ''] = /^(\[.*\]|[^:]*):(.*)$/.exec(host) ?? [];
  return { host, path, labels: name.split('.'), port };
};

const fits = (key: Key, target: Key): boolean =>
  key.port === target.port &&
  key.labels.length === target.labels.length &&
  target.path.startsWith(key.path) &&
  key.labels.every((label, index) => matches(label, target.labels[index]!));

/** Matches a pattern: `*` is any text, `?` one character, `[a-z]` one of a set; an invalid pattern matches nothing. */
const matches = (pattern: string, label: string): boolean => {
  if (pattern === label) return true;
  const source = pattern.replace(
    /\\(.)|(\[\^?[^\]\\[]+\])|\*|\?|[\\^$.|+(){}[\]]/gs,
    (token, escaped?: string, set?: string) => {
      if (set !== undefined) return set;
      if (token === '*') return '.*';
      if (token === '?') return '.';
      return `\\${escaped ?? token}`;
    },
  );
  try {
    return new RegExp(`^${source}$`, 's').test(label);
  } catch {
    return false;
  }
};

const isOnDockerHub = (repository: string): boolean => /^(index\.)?docker\.io\//.test(repository);
