import type { SecureContext } from 'node:tls';
import type { ApiIdentity, IdentityUser } from './api-identity.js';
import { execCredentials, type ExecOptions } from './exec-credentials.js';
import { tlsSource } from './tls-source.js';
import { tokenFile } from './token-file.js';

/** The credentials of one request. */
export interface ApiCredential {
  /** Absent without TLS. */
  readonly tls?: SecureContext;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** Call it after an answer 401: credentials that can be renewed are renewed for the next request. */
  readonly refuse: () => void;
}

export interface ApiCredentials {
  /** Returns the current credentials. Errors: a program or a file has none; the message names it. */
  readonly current: () => Promise<ApiCredential>;
  readonly close: () => void;
}

export interface CredentialOptions extends Omit<ExecOptions, 'ca'> {
  readonly log: {
    readonly info: (fields: object, message: string) => void;
    readonly warn: (fields: object, message: string) => void;
  };
}

/**
 * Makes the credentials of an identity, which are renewed. They are not sent to a server without TLS. Errors: a certificate or a key
 * cannot be used.
 *
 * Source: staging/src/k8s.io/client-go/rest/transport.go, transport/round_trippers.go
 */
export const apiCredentials = (identity: ApiIdentity, { log, ...options }: CredentialOptions): ApiCredentials => {
  const { user } = identity;
  if (!identity.server.startsWith('https:')) {
    return { current: () => Promise.resolve({ headers: {}, refuse: () => undefined }), close: () => undefined };
  }
  const tls = tlsSource(
    identity,
    (error) =>
      log.warn({ error: String(error) }, 'a renewed certificate cannot be used yet, going on with the last one'),
    () => log.info({}, 'the certificate for the API server was renewed'),
  );
  const file =
    user.tokenFile === undefined
      ? undefined
      : tokenFile(user.tokenFile, options.now, (error) =>
          log.warn({ error: String(error) }, 'the token cannot be read again, going on with the last one'),
        );
  const isGiven = user.certificate ?? user.token ?? user.tokenFile ?? user.basic;
  const exec = user.exec && !isGiven ? execCredentials(user.exec, identity, { ...options, ca: tls.ca }) : undefined;
  // Fails before the first request if a file is not valid.
  if (!exec) tls.current();
  const impersonation = impersonationOf(user);

  return {
    current: async () => {
      const brought = await exec?.current();
      const authorization = authorizationOf(user, brought?.token ?? tokenOf(user, file?.token));
      return {
        tls: tls.current(brought?.certificate),
        headers: { ...impersonation, ...(authorization !== undefined && { authorization }) },
        refuse: () => {
          file?.refuse();
          if (brought) exec?.refuse(brought);
        },
      };
    },
    close: () => exec?.close(),
  };
};

const tokenOf = ({ token }: IdentityUser, read: (() => string) | undefined): string | undefined => {
  if (!read) return token;
  try {
    return read();
  } catch (error) {
    if (token === undefined) throw error;
    return token;
  }
};

const authorizationOf = ({ basic }: IdentityUser, token: string | undefined): string | undefined => {
  if (token !== undefined) return `Bearer ${token}`;
  return basic && `Basic ${Buffer.from(`${basic.username}:${basic.password}`).toString('base64')}`;
};

const impersonationOf = ({ impersonate }: IdentityUser): Readonly<Record<string, string | readonly string[]>> => {
  if (!impersonate) return {};
  const { user, uid, groups, extra } = impersonate;
  return {
    'Impersonate-User': user,
    ...(uid !== '' && { 'Impersonate-Uid': uid }),
    ...(groups.length > 0 && { 'Impersonate-Group': groups }),
    ...Object.fromEntries(
      Object.entries(extra).map(([key, values]) => [`Impersonate-Extra-${encodeURIComponent(key)}`, values]),
    ),
  };
};
