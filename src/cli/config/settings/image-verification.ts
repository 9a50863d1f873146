import { type ImageVerification, readImageVerification } from '../../../model/images/image-verification.js';
import { isGateOn } from '../fields/feature-gates.js';
import type { AgentConfig } from '../fields/kubelet-configuration.js';

type VerificationFields = Pick<
  AgentConfig,
  'featureGates' | 'imagePullCredentialsVerificationPolicy' | 'preloadedImagesVerificationAllowlist'
>;

/**
 * The images that have to be verified; `none` without the gate `KubeletEnsureSecretPulledImages`. Errors: throws for a
 * configuration that `imageVerificationProblem` refuses.
 */
export const imageVerificationOf = (config: VerificationFields): ImageVerification | 'none' => {
  const read = readFrom(config);
  if (read !== 'none' && 'problem' in read) throw new Error(read.problem);
  return read;
};

/** The problem of these fields, in the words of the kubelet; undefined if there is none. */
export const imageVerificationProblem = (config: VerificationFields): string | undefined => {
  const read = readFrom(config);
  return read !== 'none' && 'problem' in read ? read.problem : undefined;
};

const readFrom = ({
  featureGates,
  imagePullCredentialsVerificationPolicy: policy,
  preloadedImagesVerificationAllowlist: allowlist,
}: VerificationFields): 'none' | ReturnType<typeof readImageVerification> =>
  isGateOn(featureGates, 'KubeletEnsureSecretPulledImages') ? readImageVerification(policy, allowlist) : 'none';
