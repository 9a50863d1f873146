/** PEM that stands here, or a file with it that may be written anew. */
export type Pem = { readonly pem: string } | { readonly file: string };

/** A program that prints credentials. Source: staging/src/k8s.io/client-go/pkg/apis/clientauthentication */
export interface ExecPlugin {
  /** `client.authentication.k8s.io/v1` or `/v1beta1`. */
  readonly apiVersion: string;
  /** A path, or a name that is looked for along PATH. */
  readonly command: string;
  readonly args: readonly string[];
  /** On top of the environment of the agent. */
  readonly env: Readonly<Record<string, string>>;
  /** What a user is told when there is no such program. */
  readonly installHint: string;
  /** It is told where the cluster is. */
  readonly provideClusterInfo: boolean;
  /** Given to it as `spec.cluster.config`. */
  readonly clusterConfig?: unknown;
}

/** As whom the agent comes. A program is only asked where there is neither a certificate nor a token nor a password. */
export interface ApiUser {
  readonly certificate?: Pem;
  readonly key?: Pem;
  readonly token?: string;
  /** Absolute; read again every minute, and when the server refuses what it held. `token` is for when it cannot be read. */
  readonly tokenFile?: string;
  readonly basic?: { readonly username: string; readonly password: string };
  readonly exec?: ExecPlugin;
  readonly impersonate?: {
    readonly user: string;
    /** Empty: not said. */
    readonly uid: string;
    readonly groups: readonly string[];
    readonly extra: Readonly<Record<string, readonly string[]>>;
  };
}

/** Where an API server is, how to know that it is the right one, and as whom to come. */
export interface ApiIdentity {
  /** `https://10.0.0.1:6443`, perhaps with a path before all paths of the API; no slash at its end. */
  readonly server: string;
  /** Who signs the certificate of the server; unless given, whom the machine trusts. */
  readonly ca?: Pem;
  readonly insecureSkipTlsVerify?: boolean;
  /** The name in the certificate of the server, where it is not that of the URL. */
  readonly tlsServerName?: string;
  /** Instead of what the environment says. */
  readonly proxyUrl?: string;
  readonly user: ApiUser;
}
