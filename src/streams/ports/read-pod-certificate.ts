import type { PodCertificateSource } from '../../model/references/pod-certificate-source.js';
import type { PodCredential } from '../../model/references/pod-certificate-state.js';

/**
 * Returns the current credential of a source of a registered pod. Errors: throws if it is not issued yet, or never will be for this pod.
 */
export type ReadPodCertificate = (source: Pick<PodCertificateSource, 'key'>) => PodCredential;
