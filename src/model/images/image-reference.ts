/** The parts of the name of an image. `domain` and `path` are complete: `nginx` is `docker.io` and `library/nginx`. */
export interface ImageReference {
  readonly domain: string;
  readonly path: string;
  readonly tag?: string;
  /** `sha256:` and 64 digits. */
  readonly digest?: string;
}

export type ParsedImage = { readonly reference: ImageReference } | { readonly problem: string };

const ALPHANUMERICS = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*';
const PATH = `${ALPHANUMERICS}(?:/${ALPHANUMERICS})*`;
const LABEL = '[a-zA-Z0-9]+(?:-+[a-zA-Z0-9]+)*';
const DOMAIN = `(?:${LABEL}(?:\\.${LABEL})*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?`;
const TAG = '\\w[\\w.-]{0,127}';
const DIGEST = '[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}';
const REFERENCE = new RegExp(`^(${DOMAIN})/(${PATH})(?::(${TAG}))?(?:@(${DIGEST}))?$`);
const IDENTIFIER = /^[a-f0-9]{64}$/;
const LONGEST_PATH = 255;
/** Hexadecimal digits by algorithm. */
const DIGEST_DIGITS: Readonly<Record<string, number>> = { sha256: 64, sha384: 96, sha512: 128 };

/**
 * Returns the parts of the name of an image, or its problem in the kubelet's text.
 *
 * Source: ParseNormalizedNamed of github.com/distribution/reference, pkg/util/parsers/parsers.go ParseImageName
 */
export const parseImageReference = (image: string): ParsedImage => {
  const invalid = (why: string): ParsedImage => ({
    problem: `couldn't parse image name ${JSON.stringify(image)}: ${why}`,
  });
  if (IDENTIFIER.test(image)) {
    return invalid(`invalid repository name (${image}), cannot specify 64-byte hexadecimal strings`);
  }
  const [domain, rest] = splitDomain(image);
  const [name = ''] = rest.split(':', 1);
  if (name.toLowerCase() !== name) {
    return invalid(`invalid reference format: repository name (${name}) must be lowercase`);
  }
  const complete = `${domain}/${rest}`;
  const parts = REFERENCE.exec(complete);
  if (!parts) {
    return invalid(
      REFERENCE.test(complete.toLowerCase()) ? 'repository name must be lowercase' : 'invalid reference format',
    );
  }
  const [, parsedDomain = '', path = '', tag, digest] = parts;
  if (path.length > LONGEST_PATH) {
    return invalid(`repository name must not be more than ${LONGEST_PATH} characters`);
  }
  const problem = digest === undefined ? undefined : digestProblem(digest);
  if (problem !== undefined) return invalid(problem);
  return {
    reference: {
      domain: parsedDomain,
      path,
      ...(tag !== undefined && { tag }),
      ...(digest !== undefined && { digest }),
    },
  };
};

/** Returns the name without tag and digest, by which credentials are found: `docker.io/library/nginx`. */
export const repositoryOf = ({ domain, path }: ImageReference): string => `${domain}/${path}`;

/**
 * Returns the name of `image` for the runtime: a name without tag and digest gets the tag `latest`; no other part is
 * added.
 */
export const withDefaultTag = (image: string, { tag, digest }: ImageReference): string =>
  tag === undefined && digest === undefined ? `${image}:latest` : image;

/** The part before the first slash is a registry if it cannot be part of a path. */
const splitDomain = (image: string): readonly [domain: string, rest: string] => {
  const slash = image.indexOf('/');
  const first = image.slice(0, Math.max(slash, 0));
  const isRegistry = first === 'localhost' || /[.:]/.test(first) || first.toLowerCase() !== first;
  if (slash >= 0 && isRegistry && first !== 'index.docker.io' && first !== 'docker.io') {
    return [first, image.slice(slash + 1)];
  }
  const rest = slash >= 0 && isRegistry ? image.slice(slash + 1) : image;
  return ['docker.io', rest.includes('/') ? rest : `library/${rest}`];
};

/** Source: Validate of github.com/opencontainers/go-digest */
const digestProblem = (digest: string): string | undefined => {
  const colon = digest.indexOf(':');
  const digits = DIGEST_DIGITS[digest.slice(0, colon)];
  const encoded = digest.slice(colon + 1);
  if (digits === undefined) return 'unsupported digest algorithm';
  if (encoded.length !== digits) return 'invalid checksum digest length';
  return /^[a-f0-9]+$/.test(encoded) ? undefined : 'invalid checksum digest format';
};

/** Returns the name without tag and digest, otherwise unchanged; an invalid name stays unchanged. */
export const nameWithoutTag = (image: string): string => {
  const parsed = parseImageReference(image);
  if ('problem' in parsed) return image;
  const { tag, digest } = parsed.reference;
  const tagged = digest === undefined ? image : image.slice(0, -`@${digest}`.length);
  return tag === undefined ? tagged : tagged.slice(0, -`:${tag}`.length);
};

/** Returns the name in the form of runtimes' lists: with its registry, and with its digest, else its tag. */
export const completeName = (image: string): string => {
  const parsed = parseImageReference(image);
  if ('problem' in parsed) return image;
  const { tag = 'latest', digest } = parsed.reference;
  return repositoryOf(parsed.reference) + (digest === undefined ? `:${tag}` : `@${digest}`);
};
