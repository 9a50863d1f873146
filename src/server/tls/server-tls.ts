import { X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import type { TlsSettings } from '../../model/server/tls-settings.js';
import { certificateBlocks } from '../../model/certificates/certificate-blocks.js';

/** The current content of files, PEM. Errors: a file cannot be read. */
export interface PemSources {
  readonly cert: () => string;
  readonly key: () => string;
  /** The authorities of client certificates; absent if clients have none. */
  readonly clientCa?: () => string;
}

export interface CurrentTls {
  readonly options: SecureContextOptions;
  /** The authorities by which connections are verified from now on. */
  readonly clientCa: string | undefined;
}

/**
 * Returns a function that returns the current settings: the same object until a file has changed. While a file cannot be
 * used, or only one of a pair is replaced yet, the last settings stay, and `onStale` is called once with the error.
 *
 * Errors: the first content cannot be used.
 * Source: staging/src/k8s.io/apiserver/pkg/server/dynamiccertificates, pkg/kubelet/certificate/kubelet.go
 */
export const serverTls = (
  { cert, key, clientCa }: PemSources,
  settings: TlsSettings,
  onStale: (error: unknown) => void,
): (() => CurrentTls) => {
  let made: { readonly pems: readonly (string | undefined)[]; readonly current: CurrentTls } | undefined;
  let complaint = '';
  const read = (): CurrentTls => {
    const pems = [cert(), key(), clientCa?.()];
    if (made?.pems.every((pem, index) => pem === pems[index])) return made.current;
    const [certPem, keyPem, ca] = pems;
    if (ca !== undefined) expectCertificates(ca);
    const options: SecureContextOptions = {
      ...settings,
      cert: certPem,
      key: keyPem,
      ...(ca !== undefined && { ca }),
    };
    // Checks that the pair belongs together.
    createSecureContext(options);
    made = { pems, current: { options, clientCa: ca } };
    complaint = '';
    return made.current;
  };
  return () => {
    try {
      return read();
    } catch (error) {
      if (!made) throw error;
      if (complaint !== String(error)) onStale(error);
      complaint = String(error);
      return made.current;
    }
  };
};

/** Without a certificate in the text Node would trust all public authorities instead. */
const expectCertificates = (pem: string): void => {
  const blocks = certificateBlocks(pem);
  if (blocks.length === 0) throw new Error('the file of client authorities: expected PEM with a certificate');
  for (const block of blocks) new X509Certificate(block);
};
