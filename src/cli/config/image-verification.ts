import { type ImageVerification, readImageVerification } from '../../model/images/image-verification.js';
import { isGateOn } from './feature-gates.js';
import type { AgentConfig } from './kubelet-configuration.js';

type VerificationFields = Pick<
  AgentConfig,
  'featureGates' | 'imagePullCredentialsVerificationPolicy' | 'preloadedImagesVerificationAllowlist'
>;

/** Which images have to be verified by a configuration; `none` without the gate `KubeletEnsureSecretPulledImages`. Errors: throws for one that `imageVerificationProblem` refuses. */
export const imageVerificationOf = (config: VerificationFields): ImageVerification | 'none' => {
  const read = readFrom(config);
  if (read !== 'none' && 'problem' in read) throw new Error(read.problem);
  return read;
};

/** What is wrong with these fields, in the words of the kubelet; undefined when they are fine. */
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
