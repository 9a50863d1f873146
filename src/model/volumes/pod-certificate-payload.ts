import type { PodCertificateProjection } from '../references/pod-certificate-source.js';
import type { PodCredential } from '../references/pod-certificate-state.js';
import type { VolumeFile, VolumePayload } from './volume-payload.js';

/**
 * Returns the files of a credential: the key and then the certificates in one file, and each in a file of its own, as the source asks.
 *
 * Source: pkg/volume/projected/projected.go collectData
 */
export const podCertificatePayload = (
  { credentialBundlePath, keyPath, certificateChainPath }: PodCertificateProjection,
  { privateKey, certificateChain }: PodCredential,
  fileOf: (text: string) => VolumeFile,
): VolumePayload => {
  const texts: readonly (readonly [path: string | undefined, text: string])[] = [
    [credentialBundlePath, `${privateKey}${certificateChain}`],
    [keyPath, privateKey],
    [certificateChainPath, certificateChain],
  ];
  return new Map(texts.flatMap(([path, text]) => (path ? [[path, fileOf(text)] as const] : [])));
};
