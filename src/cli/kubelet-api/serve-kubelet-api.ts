import { createHash } from 'node:crypto';
import { concatMap, connect, ignoreElements, merge, NEVER, type Observable, take, tap } from 'rxjs';
import { monotonicScheduler } from '../../host/monotonic-scheduler.js';
import { type ServerAccess, serverAccess } from '../../model/server/server-access.js';
import { tlsSettings } from '../../model/server/tls-settings.js';
import { SpdyConnection } from '../../runtime/embedded/streaming/spdy/spdy-connection.js';
import { healthSlis, type HealthSlis } from '../../server/routes/health-slis.js';
import type { HealthChecks } from '../../server/routes/health.js';
import { kubeletServer } from '../../server/kubelet-server.js';
import type { ServerEvent } from '../../server/listening/listen-while.js';
import type { MeteredRegistry } from '../../server/metrics/metrics.js';
import { readOnlyServer } from '../../server/read-only-server.js';
import type { OpenSpdy } from '../../server/streaming/convert-command.js';
import { alwaysAllow } from '../../streams/ports/authorize-access.js';
import { noToken } from '../../streams/ports/authenticate-token.js';
import type { Logger } from '../../streams/ports/logger.js';
import { reviewAccess } from '../../streams/server/review-access.js';
import { reviewTokens } from '../../streams/server/review-tokens.js';
import { configurationView } from '../config/document/configuration-view.js';
import { isGateOn } from '../config/fields/feature-gates.js';
import { debugPaths } from './debug-paths.js';
import { diagnosticPaths, type ProcessView } from './diagnostic-paths.js';
import type { KubeletHandle } from '../kubelet/kubelet-handle.js';
import type { PreparedRun } from '../arguments/prepare-run.js';
import { hasSigner, pemSources } from './pem-sources.js';

export interface KubeletApiInputs {
  readonly prepared: Pick<PreparedRun, 'config' | 'nodeName' | 'certDir' | 'cluster' | 'paths'>;
  readonly kubelet: KubeletHandle;
  readonly healthChecks: HealthChecks;
  readonly meters: Pick<MeteredRegistry, 'registry' | 'probeRegistry' | 'countRequests' | 'countConversion'>;
  /** The process, for `/statusz` and `/flagz`. */
  readonly process: ProcessView;
  /** Names and addresses of the node. */
  readonly names: readonly string[];
  readonly log: Logger;
}

/** Both ports count the same health checks. */
type ServedInputs = KubeletApiInputs & { readonly slis: HealthSlis };

/**
 * Serves the kubelet API on the ports of the configuration, and logs where, or the reason why not.
 *
 * Errors: none. Ends: never.
 */
export const serveKubeletApi = (given: KubeletApiInputs): Observable<unknown> => {
  const inputs = { ...given, slis: healthSlis() };
  const { prepared, log } = inputs;
  const { config, cluster } = prepared;
  const access = serverAccess(config, cluster !== undefined);
  if (access.kind === 'closed') logClosed(inputs, access.reason);
  if (config.serverTLSBootstrap && !cluster) log.warn({}, WITHOUT_SIGNER);
  const { x509, anonymous } = config.authentication;
  if (access.kind === 'open' && cluster && x509.clientCAFile === '' && !anonymous.enabled)
    log.warn({}, WITHOUT_CLIENT_CA);
  return merge(
    access.kind === 'closed' ? NEVER : served(inputs, access).pipe(tap((event) => logServer('port', event, log))),
    config.readOnlyPort === 0 ? NEVER : readOnly(inputs).pipe(tap((event) => logServer('read-only-port', event, log))),
  );
};

const WITHOUT_SIGNER =
  'serverTLSBootstrap: there is no API server to request a certificate from; the kubelet API uses the other certificate';

/** The API server presents its client certificate, and no token. */
const WITHOUT_CLIENT_CA =
  'the kubelet API accepts no client certificate, so kubectl gets no logs, exec or port-forward of this node: --client-ca-file names the authority of the client certificates of the API server, such as /etc/kubernetes/pki/ca.crt';

type OpenAccess = Extract<ServerAccess, { kind: 'open' }>;

/** With a signer the port opens as soon as there is a certificate. Until then every handshake would fail. */
const served = (inputs: ServedInputs, access: OpenAccess): Observable<ServerEvent> => {
  const server$ = kubeletServer(serverOptions(inputs, access));
  if (!hasSigner(inputs.prepared)) return server$;
  return inputs.kubelet.servingCertificate$.pipe(
    connect((certificate$) =>
      merge(
        certificate$.pipe(ignoreElements()),
        certificate$.pipe(
          take(1),
          concatMap(() => server$),
        ),
      ),
    ),
  );
};

const view = ({ kubelet, healthChecks, meters, slis }: ServedInputs) => ({
  slis,
  pods: kubelet.pods,
  stats: kubelet.stats,
  metrics: meters.registry,
  probeMetrics: meters.probeRegistry,
  countRequests: meters.countRequests,
  healthChecks,
});

const readOnly = (inputs: ServedInputs): Observable<ServerEvent> => {
  const { address, readOnlyPort: port } = inputs.prepared.config;
  return readOnlyServer({ ...view(inputs), address, port, names: inputs.names });
};

const serverOptions = (inputs: ServedInputs, access: OpenAccess) => {
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
    streams: {
      ...{ findRunning: kubelet.findRunning, podChange$: kubelet.podChange$ },
      ...{ streaming: kubelet.streaming, scheduler: monotonicScheduler },
      convert: isGateOn(config.featureGates, 'ExtendWebSocketsToKubelet')
        ? { count: inputs.meters.countConversion, openSpdy: spdyClient }
        : undefined,
    },
    configz: () => configurationView(config),
    debugPaths: [...debugPaths(inputs), ...diagnosticPaths(inputs)],
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

const spdyClient: OpenSpdy = (connection) =>
  new SpdyConnection(connection, { side: 'client', streamsMax: 0, accept: () => false, arrivedData: 'keep' });

const digest = (token: string): string => createHash('sha256').update(token).digest('base64');

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
