/** PEM, or a file with it, which may be renewed. */
export type Pem = { readonly pem: string } | { readonly file: string };

/** A program that prints credentials. Source: staging/src/k8s.io/client-go/pkg/apis/clientauthentication */
export interface ExecPlugin {
  /** `client.authentication.k8s.io/v1` or `/v1beta1`. */
  readonly apiVersion: string;
  /** A path, or a name that is looked up in PATH. */
  readonly command: string;
  readonly args: readonly string[];
  /** Variables in addition to the environment of the agent. */
  readonly env: Readonly<Record<string, string>>;
  /** A part of the error if the program does not exist. */
  readonly installHint: string;
  /** Whether the program receives the address of the cluster. */
  readonly provideClusterInfo: boolean;
  /** `spec.cluster.config` of its input. */
  readonly clusterConfig?: unknown;
}

/** The credentials of the agent. A program is only run if there is no certificate, no token and no password. */
export interface IdentityUser {
  readonly certificate?: Pem;
  readonly key?: Pem;
  readonly token?: string;
  /** An absolute path; the file is read again every minute, and after a refusal of its token. `token` is used if it cannot be read. */
  readonly tokenFile?: string;
  readonly basic?: { readonly username: string; readonly password: string };
  readonly exec?: ExecPlugin;
  readonly impersonate?: {
    readonly user: string;
    /** Empty if there is none. */
    readonly uid: string;
    readonly groups: readonly string[];
    readonly extra: Readonly<Record<string, readonly string[]>>;
  };
}

/** The address of an API server, the certificates that identify it, and the credentials of the agent. */
export interface ApiIdentity {
  /** `https://10.0.0.1:6443`, possibly with a prefix for all paths of the API; without a slash at the end. */
  readonly server: string;
  /** The authority of the server's certificate. Default: those that the machine trusts. */
  readonly ca?: Pem;
  readonly insecureSkipTlsVerify?: boolean;
  /** The name in the certificate of the server, if it is not that of the URL. */
  readonly tlsServerName?: string;
  /** The proxy. Default: the variables of the environment. */
  readonly proxyUrl?: string;
  readonly user: IdentityUser;
}
