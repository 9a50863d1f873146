import { arch } from 'node:os';
import { defer, from, ignoreElements, NEVER, type Observable } from 'rxjs';
import { certificateKeys } from '../../api/certificate-keys.js';
import { certificateStore } from '../../api/certificate-store.js';
import { type KubeApi, kubeApi, type KubeApiOptions } from '../../api/kube-api.js';
import { lateKubeApi } from '../../api/late-kube-api.js';
import { nodeIdentity } from '../../api/node-identity.js';
import { monotonicScheduler } from '../../host/monotonic-scheduler.js';
import { clientCertificates } from '../../streams/certificates/client-certificates.js';
import type { Logger, Metrics } from '../../streams/ports.js';
import type { ClusterFlags } from './cluster-flags.js';

export interface ClusterConnection {
  /** As the node. Where a first certificate is still to come, requests fail as if nobody answered. */
  readonly api: KubeApi;
  /** Gets certificates, and the next ones in time, while it is subscribed; emits nothing. Errors: none. Ends: never. */
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
 * The way to the API server that the flags name; emits once. Nothing is asked of the server yet.
 *
 * Errors: a kubeconfig that is needed cannot be used; it is named with the field and what was expected.
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
        ...{ log, metrics },
      };
      const api = (isManaged ? lateKubeApi : kubeApi)(identity, options);
      if (!isManaged) return { api, certificates$: NEVER, close: api.close };
      const bootstrapApi = bootstrap && kubeApi(bootstrap, options);
      return {
        api,
        certificates$: clientCertificates(
          {
            ...{ api, store, keys: certificateKeys(), log, metrics },
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
