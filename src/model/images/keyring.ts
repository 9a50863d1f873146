const DOCKER_HUB = 'index.docker.io';

/**
 * The credentials among `entries` (each with the registry that it is for) for a repository such as `registry.example.com:5000/team/app`, the most specific registry
 * first. A key means the repositories below its path on its host; labels of the host may have wildcards, the port is taken
 * by the letter. An image of Docker Hub for which no key fits gets those of `index.docker.io`.
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

/** Host and path of a registry's address. `/v1/` and `/v2/` mean the host: docker writes them for the API's version. */
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

/** `*` is anything, `?` one character, `[a-z]` one of a set; a pattern that makes no sense fits nothing. */
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
