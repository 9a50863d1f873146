import type { AuthenticationRules } from './authenticate.js';

/** The fields of the configuration that decide about the ports. */
export interface ServerSettings {
  readonly enableServer: boolean;
  /** 0 for none. */
  readonly port: number;
  readonly authentication: {
    readonly x509: { readonly clientCAFile: string };
    readonly webhook: { readonly enabled: boolean };
    readonly anonymous: { readonly enabled: boolean };
  };
  readonly authorization: { readonly mode: string };
}

/** Whether the port with authentication opens, and by which rules; else the reason. */
export type ServerAccess =
  | {
      readonly kind: 'open';
      readonly authentication: AuthenticationRules;
      /** Whether the API server reviews each access; else every user has access. */
      readonly reviewsAccess: boolean;
    }
  | { readonly kind: 'closed'; readonly reason: string };

const closed = (reason: string): ServerAccess => ({ kind: 'closed', reason });

/**
 * Decides whether the port opens. It opens only if some client can pass it: an open port that refuses every request is
 * of no use. Reviews need an API server; a node without one does not trust unknown clients instead.
 *
 * Source: cmd/kubelet/app/auth.go, which ends the kubelet for webhooks without an API server
 */
export const serverAccess = (
  { enableServer, port, authentication, authorization: { mode } }: ServerSettings,
  hasApiServer: boolean,
): ServerAccess => {
  if (!enableServer) return closed('enableServer is false');
  if (port === 0) return closed('the port is 0');
  const reviewsAccess = mode === 'Webhook';
  if (reviewsAccess && !hasApiServer) {
    return closed(
      'authorization.mode Webhook needs an API server; AlwaysAllow gives access to each authenticated user',
    );
  }
  const rules: AuthenticationRules = {
    reviewsTokens: authentication.webhook.enabled && hasApiServer,
    allowsAnonymous: authentication.anonymous.enabled,
  };
  if (!rules.reviewsTokens && !rules.allowsAnonymous && authentication.x509.clientCAFile === '') {
    return closed(
      'no client can authenticate: expected authentication.x509.clientCAFile, or webhook with an API server',
    );
  }
  return { kind: 'open', authentication: rules, reviewsAccess };
};
