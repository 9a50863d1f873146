import { readFileSync } from 'node:fs';
import { createSecureContext, type SecureContext } from 'node:tls';
import { isAbsence } from '../model/values/file-error.js';
import type { ApiIdentity } from './api-identity.js';
import { pemSource } from './pem-source.js';

/** A certificate of the client with its key, PEM. */
export interface CertificatePair {
  readonly cert: string;
  readonly key: string;
}

export interface TlsSource {
  /**
   * Returns the current certificates: the same object until one has changed. `brought` is the pair of a program, which replaces that of
   * the identity. If a file has become unusable, or only one of the pair is renewed yet, the last certificates stay.
   */
  readonly current: (brought?: CertificatePair) => SecureContext;
  /** The PEM of the server's authority; undefined for those of the machine. */
  readonly ca: () => string | undefined;
}

/** The files of trusted authorities in distributions. Source: crypto/x509/root_linux.go of Go */
const SYSTEM_CAS = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/pki/tls/cacert.pem',
  '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem',
  '/etc/ssl/cert.pem',
];

/**
 * Makes the source of the certificates of an identity, which are renewed. Errors: the first certificates cannot be used.
 *
 * Source: staging/src/k8s.io/client-go/transport/cert_rotation.go
 */
export const tlsSource = (
  { ca, user }: ApiIdentity,
  onStale: (error: unknown) => void,
  onRenewed: () => void,
): TlsSource => {
  const caOf = ca ? pemSource(ca) : () => undefined;
  const certOf = user.certificate && pemSource(user.certificate);
  const keyOf = user.key && pemSource(user.key);
  let made: { readonly pems: readonly (string | undefined)[]; readonly context: SecureContext } | undefined;
  let complaint = '';

  const renewed = (brought?: CertificatePair): SecureContext => {
    const pems = [caOf(), brought?.cert ?? certOf?.(), brought?.key ?? keyOf?.()];
    if (made?.pems.every((pem, index) => pem === pems[index])) return made.context;
    const [ca = systemCas(), cert, key] = pems;
    const context = createSecureContext({ ca, cert, key });
    if (made) onRenewed();
    made = { pems, context };
    complaint = '';
    return context;
  };
  return {
    ca: caOf,
    current: (brought) => {
      try {
        return renewed(brought);
      } catch (error) {
        if (!made) throw error;
        // Logged once: this runs for every request.
        if (complaint !== String(error)) onStale(error);
        complaint = String(error);
        return made.context;
      }
    },
  };
};

/** Returns the trusted authorities of the machine; undefined means those that Node.js was built with. */
const systemCas = (): string | undefined => {
  for (const path of SYSTEM_CAS) {
    try {
      return readFileSync(path, 'utf8');
    } catch (error) {
      // Another list must not replace one that cannot be read just now.
      if (!isAbsence(error)) throw error;
    }
  }
  return undefined;
};
