import type { KubeConfig } from '@kubernetes/client-node';
import { formatFieldPath } from '../model/manifest/field-issue.js';
import type { ApiIdentity } from './api-identity.js';
import { identityIn } from './kubeconfig.js';

/** A `KubeConfig` of the Kubernetes client for JavaScript, in any version that the program has. */
export type LoadedKubeConfig = Pick<KubeConfig, 'exportConfig'>;

/** The user of a pod's service account, as `loadFromCluster` describes it. */
interface TokenFileProvider {
  readonly name: 'tokenFile';
  readonly config: { readonly tokenFile: string };
}
interface Exported {
  readonly users: readonly { readonly name: string; readonly user: { readonly 'auth-provider'?: TokenFileProvider } }[];
}

/**
 * The cluster and the user of the current context of a `KubeConfig`. The client has found, read and merged the files. Connections,
 * programs that bring credentials and proxies are those of `kubeApi`: the client's open a connection for each request and run the
 * program without saying which cluster it is for.
 *
 * Errors: `invalid kubeconfig: KubeConfig: <field>: <what was expected>` for each thing that is wrong.
 */
export const kubeConfigIdentity = (config: LoadedKubeConfig): ApiIdentity => {
  const exported = JSON.parse(config.exportConfig()) as Exported;
  const users = exported.users.map(({ name, user }) => {
    const { 'auth-provider': provider, ...rest } = user;
    return { name, user: provider?.name === 'tokenFile' ? { ...rest, tokenFile: provider.config.tokenFile } : user };
  });
  return identityIn(
    { ...exported, users },
    process.cwd(),
    (path, message) => `KubeConfig: ${path.length === 0 ? '' : `${formatFieldPath(path)}: `}${message}`,
  );
};

/** The identity in the first argument of `kubeApi`. */
export const identityOf = (identity: ApiIdentity | LoadedKubeConfig): ApiIdentity =>
  'exportConfig' in identity ? kubeConfigIdentity(identity) : identity;
