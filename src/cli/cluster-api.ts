import { filter, ignoreElements, NEVER, type Observable, scan, type SchedulerLike, tap } from 'rxjs';
import { certificateKeys } from '../api/certificate-keys.js';
import { certificateStore } from '../api/certificate-store.js';
import { type KubeApi, kubeApi, type KubeApiOptions } from '../api/kube-api.js';
import { lateKubeApi } from '../api/late-kube-api.js';
import { nodeIdentity } from '../api/node-identity.js';
import { clientCertificates } from '../streams/certificates/client-certificates.js';
import type { Logger, Metrics, Random, WallClock } from '../streams/ports.js';

export interface ClusterApiOptions {
  readonly nodeName: string;
  /** `--kubeconfig`. */
  readonly kubeconfig: string;
  /** `--bootstrap-kubeconfig`; empty for none. */
  readonly bootstrapKubeconfig: string;
  /** `--cert-dir`, or what stands for it. */
  readonly certDir: string;
  /** `rotateCertificates`. */
  readonly rotate: boolean;
  readonly userAgent: string;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly scheduler: SchedulerLike;
  readonly random: Random;
  readonly wallClock: WallClock;
}

export interface ClusterApi {
  readonly api: KubeApi;
  /** Gets and renews the client certificate, where that is this agent's business, while it is subscribed. Emits nothing, never ends. */
  readonly certificates$: Observable<never>;
  /** Breaks all connections. */
  readonly close: () => void;
}

/**
 * The API server as the kubeconfig says, or as a bootstrap kubeconfig says until there is a certificate. When there is a new
 * certificate, all connections are broken, so that nobody goes on under the old one.
 *
 * Errors: a kubeconfig that is needed cannot be used.
 */
export const clusterApi = async (options: ClusterApiOptions): Promise<ClusterApi> => {
  const { nodeName, rotate, userAgent, log, metrics, scheduler, random, wallClock } = options;
  const store = certificateStore(options.certDir, { now: wallClock, log });
  const { identity, bootstrap, isManaged, writeKubeconfig } = await nodeIdentity({
    ...options,
    ...{ store, now: wallClock },
  });
  const to: KubeApiOptions = { userAgent, log, metrics };
  if (!isManaged) {
    const api = kubeApi(identity, to);
    return { api, certificates$: NEVER, close: api.close };
  }
  const api = lateKubeApi(identity, to);
  const bootstrapApi = bootstrap && kubeApi(bootstrap, to);
  const certificate$ = clientCertificates(
    {
      ...{ api, store, keys: certificateKeys(), scheduler, random, wallClock, log, metrics },
      ...(bootstrapApi && { bootstrapApi }),
      ...(writeKubeconfig && { writeKubeconfig }),
    },
    { nodeName, rotate, host: api.host },
  );
  return {
    api,
    certificates$: certificate$.pipe(
      scan((count) => count + 1, 0),
      filter((count) => count > 1),
      tap(() => api.resetConnections()),
      ignoreElements(),
    ),
    close: () => {
      bootstrapApi?.close();
      api.close();
    },
  };
};
