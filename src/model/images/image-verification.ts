import { nameWithoutTag, parseImageReference } from './image-reference.js';

const POLICIES = ['NeverVerify', 'NeverVerifyPreloadedImages', 'NeverVerifyAllowlistedImages', 'AlwaysVerify'] as const;

/** The images on the node for which a pod has to show that it may use them. */
export interface ImageVerification {
  readonly policy: (typeof POLICIES)[number];
  /**
   * The patterns of `NeverVerifyAllowlistedImages`: names without tag, or prefixes that end with a slash and a star.
   */
  readonly allowlist: readonly string[];
}

export const DEFAULT_VERIFICATION: ImageVerification = { policy: 'NeverVerifyPreloadedImages', allowlist: [] };

/**
 * Whether a pod's access to an image on the node has to be verified. `isPulledHere`: the agent has pulled the image.
 *
 * Source: pkg/kubelet/images/pullmanager/image_pull_policies.go
 */
export const isVerificationNeeded = (
  { policy, allowlist }: ImageVerification,
  image: string,
  isPulledHere: boolean,
): boolean => {
  switch (policy) {
    case 'NeverVerify':
      return false;
    case 'NeverVerifyPreloadedImages':
      return isPulledHere;
    case 'NeverVerifyAllowlistedImages': {
      const name = nameWithoutTag(image);
      return !allowlist.some((entry) => (entry.endsWith('/*') ? name.startsWith(entry.slice(0, -1)) : name === entry));
    }
    case 'AlwaysVerify':
      return true;
  }
};

/**
 * Returns the policy of a configuration, or its problem in the kubelet's text.
 *
 * Source: pkg/kubelet/apis/config/validation/validation.go, image_pull_policies.go ValidateAllowlistImagesPatterns
 */
export const readImageVerification = (
  policy: string,
  allowlist: readonly string[],
): ImageVerification | { readonly problem: string } => {
  const known = POLICIES.find((name) => name === policy);
  if (known === undefined) {
    const [last, ...others] = POLICIES.map((name) => JSON.stringify(name)).reverse();
    const valid = `${others.reverse().join(', ')} or ${last}`;
    return {
      problem: `option ${JSON.stringify(policy)} specified for imagePullCredentialsVerificationPolicy. Valid options are ${valid}`,
    };
  }
  if (allowlist.length > 0 && known !== 'NeverVerifyAllowlistedImages') {
    return {
      problem:
        'can\'t set `preloadedImagesVerificationAllowlist` if `imagePullCredentialsVertificationPolicy` is not "NeverVerifyAllowlistedImages"',
    };
  }
  const problem = allowlist.map(patternProblem).find((found) => found !== undefined);
  if (problem !== undefined) {
    return { problem: `invalid image pattern in \`preloadedImagesVerificationAllowlist\`: ${problem}` };
  }
  return { policy: known, allowlist };
};

const patternProblem = (pattern: string): string | undefined => {
  if (pattern.trim() !== pattern) return `leading/trailing spaces are not allowed: ${pattern}`;
  const name = pattern.endsWith('/*') ? pattern.slice(0, -1) : pattern;
  if (name === '') return `the supplied pattern is too short: ${pattern}`;
  if (name.includes('*')) {
    return `not a valid wildcard pattern, only patterns ending with '/*' are allowed: ${pattern}`;
  }
  if (name === '/') return 'at least registry hostname is required';
  if (name !== pattern) return undefined;
  const parsed = parseImageReference(name);
  if ('problem' in parsed) return `failed to parse as an image name: ${parsed.problem.replace(/^couldn't[^:]*: /, '')}`;
  return nameWithoutTag(name) === name
    ? undefined
    : `neither tag nor digest is accepted in an image reference: ${pattern}`;
};
