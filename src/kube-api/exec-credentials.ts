import { execFile } from 'node:child_process';
import * as z from 'zod';
import type { ApiIdentity, ExecPlugin } from './api-identity.js';

/** The output of a program: a token, a certificate with its key, or both. */
export interface ExecCredential {
  readonly token?: string;
  readonly certificate?: { readonly cert: string; readonly key: string };
  /** The expiry, in Unix milliseconds. Absent: valid until the server refuses it. */
  readonly expiresAt?: number;
}

export interface ExecCredentials {
  /** Returns the last output unless it has expired, else runs the program. Errors: the program failed; the message names it. */
  readonly current: () => Promise<ExecCredential>;
  /** Call it after a refusal of the server: the program is run again, unless there is a newer output. */
  readonly refuse: (refused: ExecCredential) => void;
  /** Kills the program if it runs. */
  readonly close: () => void;
}

export interface ExecOptions {
  readonly now: () => number;
  readonly env: NodeJS.ProcessEnv;
  /** The time after which a program is killed. */
  readonly timeoutMs: number;
  /** The PEM of the cluster's certificate authority, for the input of the program. */
  readonly ca: () => string | undefined;
}

const MAX_OUTPUT_BYTES = 1024 * 1024;

const reply = z.object({
  apiVersion: z.string(),
  kind: z.literal('ExecCredential'),
  status: z.object({
    token: z.string().optional(),
    clientCertificateData: z.string().optional(),
    clientKeyData: z.string().optional(),
    expirationTimestamp: z.iso.datetime({ offset: true }).nullish(),
  }),
});

/**
 * Makes the credentials of a program. One run serves all callers that wait; two runs never overlap.
 *
 * Source: staging/src/k8s.io/client-go/plugin/pkg/client/auth/exec/exec.go
 */
export const execCredentials = (
  plugin: ExecPlugin,
  identity: ApiIdentity,
  { now, env, timeoutMs, ca }: ExecOptions,
): ExecCredentials => {
  let credential: ExecCredential | undefined;
  let running: Promise<ExecCredential> | undefined;
  const stop = new AbortController();
  const run = async (): Promise<ExecCredential> => {
    const output = await outputOf(plugin, {
      env: { ...env, ...plugin.env, KUBERNETES_EXEC_INFO: JSON.stringify(askFor(plugin, identity, ca)) },
      timeout: timeoutMs,
      signal: stop.signal,
    });
    return readReply(plugin, output);
  };
  return {
    current: () => {
      if (credential && (credential.expiresAt === undefined || now() <= credential.expiresAt)) {
        return Promise.resolve(credential);
      }
      running ??= run()
        .then((fresh) => (credential = fresh))
        .finally(() => (running = undefined));
      return running;
    },
    refuse: (refused) => {
      if (credential === refused) credential = undefined;
    },
    close: () => stop.abort(),
  };
};

/** The input of the program: an ExecCredential in its environment. */
const askFor = (
  { apiVersion, provideClusterInfo, clusterConfig }: ExecPlugin,
  { server, tlsServerName, insecureSkipTlsVerify, proxyUrl }: ApiIdentity,
  ca: () => string | undefined,
) => {
  const pem = provideClusterInfo ? ca() : undefined;
  const cluster = {
    server,
    ...(tlsServerName && { 'tls-server-name': tlsServerName }),
    ...(insecureSkipTlsVerify && { 'insecure-skip-tls-verify': true }),
    ...(pem !== undefined && { 'certificate-authority-data': Buffer.from(pem).toString('base64') }),
    ...(proxyUrl && { 'proxy-url': proxyUrl }),
    ...(clusterConfig !== undefined && { config: clusterConfig }),
  };
  return {
    kind: 'ExecCredential',
    apiVersion,
    spec: { interactive: false, ...(provideClusterInfo && { cluster }) },
  };
};

const outputOf = (
  { command, args, installHint }: ExecPlugin,
  options: { readonly env: NodeJS.ProcessEnv; readonly timeout: number; readonly signal: AbortSignal },
): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = execFile(
      command,
      args,
      { ...options, maxBuffer: MAX_OUTPUT_BYTES, killSignal: 'SIGKILL' },
      (error, stdout, stderr) => {
        if (!error) return resolve(stdout);
        reject(
          new Error(`exec: ${reasonOf(error, command, options.timeout, installHint)}${lastLine(stderr)}`, {
            cause: error,
          }),
        );
      },
    );
    child.stdin?.end();
  });

const reasonOf = (
  error: Error & { code?: unknown; killed?: boolean },
  command: string,
  timeoutMs: number,
  hint: string,
) => {
  if (error.code === 'ENOENT') return `executable ${command} not found${hint === '' ? '' : `: ${hint}`}`;
  if (typeof error.code === 'number') return `executable ${command} failed with exit code ${error.code}`;
  if (error.killed) return `executable ${command} was killed, it took longer than ${timeoutMs / 1_000} s`;
  return `executable ${command}: ${error.message}`;
};

const lastLine = (stderr: string): string => {
  const line = stderr.trim().split('\n').at(-1) ?? '';
  return line === '' ? '' : `: ${line.slice(0, 500)}`;
};

const readReply = ({ command, apiVersion }: ExecPlugin, output: string): ExecCredential => {
  const fail = (message: string): never => {
    throw new Error(`exec: executable ${command}: ${message}`);
  };
  let json: unknown;
  try {
    json = JSON.parse(output);
  } catch {
    // The output is not quoted, since it may contain a secret.
    return fail('expected an ExecCredential in JSON on its standard output');
  }
  const parsed = reply.safeParse(json);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return fail(`${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`);
  }
  const { status } = parsed.data;
  if (parsed.data.apiVersion !== apiVersion) {
    return fail(`apiVersion: expected ${JSON.stringify(apiVersion)}, found ${JSON.stringify(parsed.data.apiVersion)}`);
  }
  const { token = '', clientCertificateData: cert = '', clientKeyData: key = '', expirationTimestamp } = status;
  if ((cert === '') !== (key === '')) return fail('status: expected both a certificate and its key, or neither');
  if (token === '' && cert === '') return fail('status: expected a token, or a certificate and its key');
  return {
    ...(token !== '' && { token }),
    ...(cert !== '' && { certificate: { cert, key } }),
    ...(expirationTimestamp && { expiresAt: Date.parse(expirationTimestamp) }),
  };
};
