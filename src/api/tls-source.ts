import { existsSync, readFileSync } from 'node:fs';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { ApiIdentity } from './api-identity.js';
import { pemSource } from './pem-source.js';

/** A certificate of the client with its key, PEM. */
export interface CertificatePair {
  readonly cert: string;
  readonly key: string;
}

export interface TlsSource {
  /**
   * What to come with now: the same object until a certificate has changed. `brought` is what a program gave, instead of what the
   * identity names. Files that have become unusable, or of which only one has been renewed yet, leave it as it was.
   */
  readonly current: (brought?: CertificatePair) => SecureContext;
  /** Of whoever signs for the server; undefined where the machine decides. */
  readonly ca: () => string | undefined;
}

/** Where distributions keep whom they trust. Source: crypto/x509/root_linux.go of Go */
const SYSTEM_CAS = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/pki/tls/cacert.pem',
  '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem',
  '/etc/ssl/cert.pem',
];

/**
 * The certificates of an identity, as they are renewed. Errors: they cannot be used at the very first.
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

  const makeAnew = (brought?: CertificatePair): SecureContext => {
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
        return makeAnew(brought);
      } catch (error) {
        if (!made) throw error;
        // Every request comes by here.
        if (complaint !== String(error)) onStale(error);
        complaint = String(error);
        return made.context;
      }
    },
  };
};

/** Undefined: those that Node.js was built with. */
const systemCas = (): string | undefined => {
  const file = SYSTEM_CAS.find((path) => existsSync(path));
  return file === undefined ? undefined : readFileSync(file, 'utf8');
};
