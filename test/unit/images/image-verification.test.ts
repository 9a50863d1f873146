import { describe, expect, it } from 'vitest';
import {
  type ImageVerification,
  isVerificationNeeded,
  readImageVerification,
} from '../../../src/model/images/image-verification.js';

const allowlist = ['r.example.com/free/app', 'r.example.com/open/*'];

describe('an image that is there', () => {
  it.each([
    ['NeverVerify', 'r.example.com/app:1', false, false],
    ['NeverVerify', 'r.example.com/app:1', true, false],
    ['NeverVerifyPreloadedImages', 'r.example.com/app:1', false, false],
    ['NeverVerifyPreloadedImages', 'r.example.com/app:1', true, true],
    ['AlwaysVerify', 'r.example.com/app:1', false, true],
    ['NeverVerifyAllowlistedImages', 'r.example.com/app:1', false, true],
    ['NeverVerifyAllowlistedImages', 'r.example.com/free/app', true, false],
    ['NeverVerifyAllowlistedImages', 'r.example.com/free/app:1', true, false],
    ['NeverVerifyAllowlistedImages', `r.example.com/free/app:1@sha256:${'0'.repeat(64)}`, true, false],
    ['NeverVerifyAllowlistedImages', 'r.example.com/free/app2', true, true],
    ['NeverVerifyAllowlistedImages', 'r.example.com/open/a/b:1', true, false],
    ['NeverVerifyAllowlistedImages', 'r.example.com/opened/a', true, true],
  ] as const)('under %s, %s (pulled by the agent: %s) is verified: %s', (policy, image, isPulledHere, needed) => {
    const verification: ImageVerification = { policy, allowlist };
    expect(isVerificationNeeded(verification, image, isPulledHere)).toBe(needed);
  });
});

describe('a policy of verification', () => {
  it('is read with its list', () => {
    expect(readImageVerification('NeverVerifyAllowlistedImages', allowlist)).toEqual({
      policy: 'NeverVerifyAllowlistedImages',
      allowlist,
    });
    expect(readImageVerification('AlwaysVerify', [])).toEqual({ policy: 'AlwaysVerify', allowlist: [] });
  });

  const invalid = 'invalid image pattern in `preloadedImagesVerificationAllowlist`: ';
  it.each([
    [
      'Sometimes',
      [],
      'option "Sometimes" specified for imagePullCredentialsVerificationPolicy. Valid options are "NeverVerify", ' +
        '"NeverVerifyPreloadedImages", "NeverVerifyAllowlistedImages" or "AlwaysVerify"',
    ],
    [
      'AlwaysVerify',
      ['a/*'],
      "can't set `preloadedImagesVerificationAllowlist` if `imagePullCredentialsVertificationPolicy` is not " +
        '"NeverVerifyAllowlistedImages"',
    ],
    ['NeverVerifyAllowlistedImages', [' a'], `${invalid}leading/trailing spaces are not allowed:  a`],
    ['NeverVerifyAllowlistedImages', [''], `${invalid}the supplied pattern is too short: `],
    [
      'NeverVerifyAllowlistedImages',
      ['a/*/b'],
      `${invalid}not a valid wildcard pattern, only patterns ending with '/*' are allowed: a/*/b`,
    ],
    ['NeverVerifyAllowlistedImages', ['/*'], `${invalid}at least registry hostname is required`],
    [
      'NeverVerifyAllowlistedImages',
      ['a/b', 'a/b:1'],
      `${invalid}neither tag nor digest is accepted in an image reference: a/b:1`,
    ],
    [
      'NeverVerifyAllowlistedImages',
      ['A/B'],
      `${invalid}failed to parse as an image name: invalid reference format: repository name (B) must be lowercase`,
    ],
  ])('%s with %j is refused: %s', (policy, list, problem) => {
    expect(readImageVerification(policy, list)).toEqual({ problem });
  });
});
