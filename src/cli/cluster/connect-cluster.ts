import { arch } from 'node:os';
import { defer, from, ignoreElements, NEVER, type Observable } from 'rxjs';
import { certificateKeys } from '../../kube-api/certificate-keys.js';
import { certificateStore } from '../../kube-api/certificate-store.js';
import { type KubeApi, kubeApi, type KubeApiOptions } from '../../kube-api/kube-api.js';
import { lateKubeApi } from '../../kube-api/late-kube-api.js';
import { nodeIdentity } from '../../kube-api/node-identity.js';
import { monotonicScheduler } from '../../host/monotonic-scheduler.js';
import { clientCertificates } from '../../streams/certificates/client-certificates.js';
import type { Logger } from '../../streams/ports/logger.js';
import type { Metrics } from '../../streams/ports/metrics.js';
import type { ClusterFlags } from './cluster-flags.js';

export interface ClusterConnection {
  /**
   * The client with the credentials of the node. Before the first certificate, requests fail like those without a
   * reply.
   */
  readonly api: KubeApi;
  /**
   * Requests certificates, and renews them in time, while it is subscribed; emits nothing. Errors: none. Ends: never.
   */
  readonly certificates$: Observable<never>;
  readonly close: () => void;
}

export interface ClusterConnectionOptions {
  readonly flags: ClusterFlags;
  readonly nodeName: string;
  readonly version: string;
  /** `rotateCertificates`. */
  readonly rotate: boolean;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/**
 * The connection to the API server of the flags; emits once, before any request.
 *
 * Errors: a needed kubeconfig cannot be used; the error names its field and the expected value.
 */
export const connectCluster = ({
  flags,
  nodeName,
  version,
  rotate,
  log,
  metrics,
}: ClusterConnectionOptions): Observable<ClusterConnection> =>
  defer(() => {
    const now = (): number => Date.now();
    const store = certificateStore(flags.certDir, { now, log });
    return from(nodeIdentity({ ...flags, rotate, store, now, log }).then(connect));

    function connect({
      identity,
      bootstrap,
      isManaged,
      writeKubeconfig,
    }: Awaited<ReturnType<typeof nodeIdentity>>): ClusterConnection {
      const options: KubeApiOptions = {
        userAgent: `rx-kubelet/${version} (linux/${arch() === 'x64' ? 'amd64' : arch()})`,
        log,
        metrics,
        scheduler: monotonicScheduler,
      };
      const api = (isManaged ? lateKubeApi : kubeApi)(identity, options);
      if (!isManaged) return { api, certificates$: NEVER, close: api.close };
      const bootstrapApi = bootstrap && kubeApi(bootstrap, options);
      return {
        api,
        certificates$: clientCertificates(
          {
            api,
            store,
            keys: certificateKeys(),
            log,
            metrics,
            ...(bootstrapApi && { bootstrapApi }),
            ...(writeKubeconfig && { writeKubeconfig }),
            scheduler: monotonicScheduler,
            random: Math.random,
            wallClock: now,
          },
          { nodeName, rotate, host: api.host },
        ).pipe(ignoreElements()),
        close: () => {
          api.close();
          bootstrapApi?.close();
        },
      };
    }
  });
