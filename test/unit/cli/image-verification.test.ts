import { describe, expect, it } from 'vitest';
import { imageVerificationOf, imageVerificationProblem } from '../../../src/cli/config/settings/image-verification.js';

const config = (policy: string, allowlist: readonly string[] = [], featureGates = {}) => ({
  imagePullCredentialsVerificationPolicy: policy,
  preloadedImagesVerificationAllowlist: allowlist,
  featureGates,
});

describe('which images have to be verified', () => {
  it('is what the configuration says', () => {
    const listed = config('NeverVerifyAllowlistedImages', ['r.example.com/*']);
    expect(imageVerificationOf(listed)).toEqual({
      policy: 'NeverVerifyAllowlistedImages',
      allowlist: ['r.example.com/*'],
    });
    expect(imageVerificationProblem(listed)).toBeUndefined();
  });

  it.each([{ KubeletEnsureSecretPulledImages: false }, { AllBeta: false }])('is none of them with %j', (gates) => {
    expect(imageVerificationOf(config('AlwaysVerify', [], gates))).toBe('none');
    expect(imageVerificationProblem(config('Sometimes', [], gates))).toBeUndefined();
  });

  it('has to be one of the policies', () => {
    const problem = /^option "Sometimes" specified for imagePullCredentialsVerificationPolicy/;
    expect(imageVerificationProblem(config('Sometimes'))).toMatch(problem);
    expect(() => imageVerificationOf(config('Sometimes'))).toThrow(problem);
  });
});
