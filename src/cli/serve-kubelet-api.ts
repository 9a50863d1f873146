import { createHash } from 'node:crypto';
import { merge, NEVER, type Observable, tap } from 'rxjs';
import { monotonicScheduler } from '../host/monotonic-scheduler.js';
import { pemSource } from '../kube-api/pem-source.js';
import { type ServerAccess, serverAccess } from '../model/server/server-access.js';
import { tlsSettings } from '../model/server/tls-settings.js';
import type { HealthChecks } from '../server/health.js';
import { kubeletServer } from '../server/kubelet-server.js';
import type { ServerEvent } from '../server/listen-while.js';
import type { MeteredRegistry } from '../server/metrics.js';
import { readOnlyServer } from '../server/read-only-server.js';
import { selfSignedPair } from '../server/self-signed-pair.js';
import type { PemSources } from '../server/server-tls.js';
import { alwaysAllow } from '../streams/ports/authorize-access.js';
import { noToken } from '../streams/ports/authenticate-token.js';
import type { Logger } from '../streams/ports/logger.js';
import { reviewAccess } from '../streams/server/review-access.js';
import { reviewTokens } from '../streams/server/review-tokens.js';
import { configurationView } from './config/configuration-view.js';
import type { KubeletHandle } from './kubelet-handle.js';
import type { PreparedRun } from './prepare-run.js';

export interface KubeletApiInputs {
  readonly prepared: Pick<PreparedRun, 'config' | 'nodeName' | 'certDir' | 'cluster'>;
  readonly kubelet: Pick<KubeletHandle, 'pods' | 'runningPods' | 'reviewApi' | 'findRunning' | 'streaming'>;
  readonly healthChecks: HealthChecks;
  readonly meters: Pick<MeteredRegistry, 'registry' | 'probeRegistry' | 'countRequests'>;
  readonly log: Logger;
}

/**
 * Serves the kubelet API on the ports of the configuration, and logs where, or the reason why not.
 *
 * Errors: none. Ends: never.
 */
export const serveKubeletApi = (inputs: KubeletApiInputs): Observable<unknown> => {
  const { prepared, log } = inputs;
  const { config, cluster } = prepared;
  const access = serverAccess(config, cluster !== undefined);
  if (access.kind === 'closed') logClosed(inputs, access.reason);
  return merge(
    access.kind === 'closed'
      ? NEVER
      : kubeletServer(serverOptions(inputs, access)).pipe(tap((event) => logServer('port', event, log))),
    config.readOnlyPort === 0 ? NEVER : readOnly(inputs).pipe(tap((event) => logServer('read-only-port', event, log))),
  );
};

const view = ({ kubelet, healthChecks, meters }: KubeletApiInputs) => ({
  pods: kubelet.pods,
  metrics: meters.registry,
  probeMetrics: meters.probeRegistry,
  countRequests: meters.countRequests,
  healthChecks,
});

const readOnly = (inputs: KubeletApiInputs): Observable<ServerEvent> => {
  const { address, readOnlyPort: port } = inputs.prepared.config;
  return readOnlyServer({ ...view(inputs), address, port });
};

const serverOptions = (inputs: KubeletApiInputs, access: Extract<ServerAccess, { kind: 'open' }>) => {
  const { prepared, kubelet, log } = inputs;
  const { config, nodeName } = prepared;
  const { authentication, authorization } = config;
  const timing = { scheduler: monotonicScheduler, random: Math.random };
  const api = kubelet.reviewApi;
  return {
    ...view(inputs),
    address: config.address,
    port: config.port,
    pems: () => pemSources(prepared),
    tls: tlsSettings(config.tlsMinVersion, config.tlsCipherSuites),
    switches: config,
    runningPods: kubelet.runningPods,
    streams: { findRunning: kubelet.findRunning, streaming: kubelet.streaming, scheduler: monotonicScheduler },
    configz: () => configurationView(config),
    guard: {
      nodeName,
      rules: access.authentication,
      authenticateToken: access.authentication.reviewsTokens
        ? reviewTokens({ api, cacheTtlMs: authentication.webhook.cacheTTLMs, digest, ...timing })
        : noToken,
      authorizeAccess: access.reviewsAccess
        ? reviewAccess({
            api,
            allowedTtlMs: authorization.webhook.cacheAuthorizedTTLMs,
            deniedTtlMs: authorization.webhook.cacheUnauthorizedTTLMs,
            ...timing,
          })
        : alwaysAllow,
      now: () => Date.now(),
      log,
    },
  };
};

const digest = (token: string): string => createHash('sha256').update(token).digest('base64');

const pemSources = async ({
  config: { tlsCertFile, tlsPrivateKeyFile, authentication },
  nodeName,
  certDir,
}: KubeletApiInputs['prepared']): Promise<PemSources> => {
  const { clientCAFile } = authentication.x509;
  const { certFile, keyFile } =
    tlsCertFile === ''
      ? await selfSignedPair({ directory: certDir, host: nodeName, now: () => Date.now() })
      : { certFile: tlsCertFile, keyFile: tlsPrivateKeyFile };
  return {
    cert: pemSource({ file: certFile }),
    key: pemSource({ file: keyFile }),
    ...(clientCAFile !== '' && { clientCa: pemSource({ file: clientCAFile }) }),
  };
};

/** A standalone node without settings for the port is closed on purpose, and so is a port that is turned off. */
const logClosed = ({ prepared: { config, cluster }, log }: KubeletApiInputs, reason: string): void => {
  const { x509, anonymous } = config.authentication;
  const isOff = !config.enableServer || config.port === 0;
  const isExpected = isOff || (!cluster && x509.clientCAFile === '' && !anonymous.enabled);
  log[isExpected ? 'debug' : 'warn']({ reason }, 'the kubelet API is not served');
};

const logServer = (flag: 'port' | 'read-only-port', event: ServerEvent, log: Logger): void => {
  const what = flag === 'port' ? 'the kubelet API' : 'the read-only kubelet API';
  if (event.kind === 'listening') return log.info({ at: event.at }, `${what} is served`);
  const elsewhere = event.problem.includes('EADDRINUSE') ? `; --${flag} names another port, 0 for none` : '';
  log.error({ error: event.problem, retryInMs: event.retryInMs }, `cannot serve ${what}${elsewhere}`);
};
