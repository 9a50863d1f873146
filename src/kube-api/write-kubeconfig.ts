import { defer, from, ignoreElements, type Observable } from 'rxjs';
import { stringify } from 'yaml';
import { replaceFile } from '../processes/replace-file.js';
import type { ApiIdentity } from './api-identity.js';

/**
 * Writes a kubeconfig with the server of the identity, and a user whose certificate and key are in one file, and completes. The file is
 * replaced atomically and is readable for its owner only. Errors: Node's own, which name the path.
 *
 * Source: pkg/kubelet/certificate/bootstrap/bootstrap.go writeKubeconfigFromBootstrapping, which leaves out the name of the server's
 *         certificate and the proxy
 */
export const writeKubeconfig = (path: string, identity: ApiIdentity, certificatePath: string): Observable<never> =>
  defer(() => {
    const text = kubeconfigText(identity, certificatePath);
    return from(replaceFile(path, text, { mode: 0o600, directoryMode: 0o755 })).pipe(ignoreElements());
  });

const kubeconfigText = (
  { server, ca, insecureSkipTlsVerify, tlsServerName, proxyUrl }: ApiIdentity,
  certificatePath: string,
): string =>
  stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'default-cluster',
        cluster: {
          server,
          ...(ca && 'file' in ca && { 'certificate-authority': ca.file }),
          ...(ca && 'pem' in ca && { 'certificate-authority-data': Buffer.from(ca.pem).toString('base64') }),
          ...(insecureSkipTlsVerify && { 'insecure-skip-tls-verify': true }),
          ...(tlsServerName !== undefined && { 'tls-server-name': tlsServerName }),
          ...(proxyUrl !== undefined && { 'proxy-url': proxyUrl }),
        },
      },
    ],
    users: [{ name: 'default-auth', user: { 'client-certificate': certificatePath, 'client-key': certificatePath } }],
    contexts: [
      { name: 'default-context', context: { cluster: 'default-cluster', namespace: 'default', user: 'default-auth' } },
    ],
    'current-context': 'default-context',
  });
