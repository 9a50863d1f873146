import { isIP } from 'node:net';
import { TLS_VERSIONS, unknownSuite } from '../../../model/server/tls-settings.js';
import type { ConfigurationRule } from './configuration-rule.js';

const RULES: readonly ConfigurationRule[] = [
  ({ address }) => isIP(address) === 0 && `address (--address) ${JSON.stringify(address)} must be an IP address`,
  ({ authorization: { mode } }) =>
    !['Webhook', 'AlwaysAllow'].includes(mode) && `unknown authorization mode ${mode}, expected Webhook or AlwaysAllow`,
  ({ tlsMinVersion: version }) =>
    version !== '' &&
    !TLS_VERSIONS.includes(version) &&
    `unknown tls version ${JSON.stringify(version)}, expected one of ${TLS_VERSIONS.join(', ')}`,
  ({ tlsCipherSuites }) => {
    const unknown = unknownSuite(tlsCipherSuites);
    return unknown !== undefined && `Cipher suite ${unknown} not supported or doesn't exist`;
  },
  ({ tlsCertFile, tlsPrivateKeyFile }) =>
    (tlsCertFile === '') !== (tlsPrivateKeyFile === '') &&
    'tlsCertFile (--tls-cert-file) and tlsPrivateKeyFile (--tls-private-key-file) must be specified together',
];

/**
 * Settings of the kubelet API.
 *
 * Source: cmd/kubelet/app/auth.go, cmd/kubelet/app/server.go InitializeTLS,
 * staging/src/k8s.io/component-base/cli/flag/ciphersuites_flag.go
 */
export const SERVER_RULES: readonly ConfigurationRule[] = [...RULES];
