import { existsSync } from 'node:fs';
import { currentCertificatePath } from '../../kube-api/certificate-store.js';
import { pemSource } from '../../kube-api/pem-source.js';
import { selfSignedPair } from '../../server/tls/self-signed-pair.js';
import type { PemSources } from '../../server/tls/server-tls.js';
import type { PreparedRun } from '../arguments/prepare-run.js';

export type ServingInputs = Pick<PreparedRun, 'config' | 'nodeName' | 'certDir' | 'cluster'>;

/** Whether the certificate is requested from the API server. */
export const hasSigner = ({ config, cluster }: ServingInputs): boolean =>
  config.serverTLSBootstrap && cluster !== undefined;

/**
 * Finds or makes the certificate of the kubelet API: that of the signer, that of the configuration, or a self-signed one.
 *
 * Errors: a self-signed certificate cannot be made.
 */
export const pemSources = async (prepared: ServingInputs): Promise<PemSources> => {
  const { clientCAFile } = prepared.config.authentication.x509;
  return {
    ...(await pairSources(prepared)),
    ...(clientCAFile !== '' && { clientCa: pemSource({ file: clientCAFile }) }),
  };
};

const pairSources = async (prepared: ServingInputs): Promise<Pick<PemSources, 'cert' | 'key'>> => {
  const { config, nodeName, certDir } = prepared;
  const { tlsCertFile, tlsPrivateKeyFile } = config;
  const ofFiles = (certFile: string, keyFile: string) => ({
    cert: pemSource({ file: certFile }),
    key: pemSource({ file: keyFile }),
  });
  if (hasSigner(prepared)) {
    const path = currentCertificatePath(certDir, 'serving');
    const signed = ofFiles(path, path);
    if (tlsCertFile === '') return signed;
    const given = ofFiles(tlsCertFile, tlsPrivateKeyFile);
    const present = () => (existsSync(path) ? signed : given);
    return { cert: () => present().cert(), key: () => present().key() };
  }
  if (tlsCertFile !== '') return ofFiles(tlsCertFile, tlsPrivateKeyFile);
  const made = await selfSignedPair({ directory: certDir, host: nodeName, now: () => Date.now() });
  return ofFiles(made.certFile, made.keyFile);
};
