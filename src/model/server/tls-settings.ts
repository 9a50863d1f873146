/** Names of Go by those of OpenSSL. Source: staging/src/k8s.io/component-base/cli/flag/ciphersuites_flag.go */
const VERSIONS = {
  VersionTLS10: 'TLSv1',
  VersionTLS11: 'TLSv1.1',
  VersionTLS12: 'TLSv1.2',
  VersionTLS13: 'TLSv1.3',
} as const;

export type TlsVersion = (typeof VERSIONS)[keyof typeof VERSIONS];

export const TLS_VERSIONS: readonly string[] = Object.keys(VERSIONS);

/** Suites of TLS 1.3 cannot be chosen in Go, so they stay on. */
const TLS13_SUITES = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'];

/** The suites of Go that OpenSSL 3 has, too, by their names there. Source: crypto/tls/cipher_suites.go of Go */
const SUITES: Readonly<Record<string, string>> = {
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: 'ECDHE-ECDSA-AES128-GCM-SHA256',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'ECDHE-RSA-AES128-GCM-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: 'ECDHE-ECDSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: 'ECDHE-RSA-AES256-GCM-SHA384',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: 'ECDHE-ECDSA-AES128-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256: 'ECDHE-ECDSA-AES128-SHA256',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: 'ECDHE-RSA-AES128-SHA',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256: 'ECDHE-RSA-AES128-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: 'ECDHE-ECDSA-AES256-SHA',
  TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: 'ECDHE-RSA-AES256-SHA',
  TLS_RSA_WITH_AES_128_CBC_SHA: 'AES128-SHA',
  TLS_RSA_WITH_AES_128_CBC_SHA256: 'AES128-SHA256',
  TLS_RSA_WITH_AES_128_GCM_SHA256: 'AES128-GCM-SHA256',
  TLS_RSA_WITH_AES_256_CBC_SHA: 'AES256-SHA',
  TLS_RSA_WITH_AES_256_GCM_SHA384: 'AES256-GCM-SHA384',
};

/** The suites that Go uses without a choice: those with forward secrecy, and of these no CBC with SHA-256. */
const DEFAULT_SUITES = Object.keys(SUITES).filter(
  (name) => name.startsWith('TLS_ECDHE') && !name.endsWith('CBC_SHA256'),
);

export interface TlsSettings {
  readonly minVersion: TlsVersion;
  /** Names of OpenSSL, separated by colons. */
  readonly ciphers: string;
}

/** The first name that is no suite; undefined if all are. */
export const unknownSuite = (names: readonly string[]): string | undefined =>
  names.find((name) => !Object.hasOwn(SUITES, name) && !TLS13_SUITES.includes(name));

/**
 * Returns the settings in the words of OpenSSL. Without a choice TLS 1.2 is the oldest version. Names that are not valid
 * are left out: the configuration refuses them.
 */
export const tlsSettings = (minVersion: string, suites: readonly string[]): TlsSettings => {
  const chosen = suites.flatMap((name) => SUITES[name] ?? []);
  const older = chosen.length > 0 ? chosen : DEFAULT_SUITES.flatMap((name) => SUITES[name] ?? []);
  return {
    minVersion: VERSIONS[minVersion as keyof typeof VERSIONS] ?? 'TLSv1.2',
    ciphers: [...TLS13_SUITES, ...new Set(older)].join(':'),
  };
};
