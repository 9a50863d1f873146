import type { Observable } from 'rxjs';
import { monotonicScheduler } from '../../host/monotonic-scheduler.js';
import { certificateKeys } from '../../kube-api/certificate-keys.js';
import { certificateStore } from '../../kube-api/certificate-store.js';
import type { NodeCertificate } from '../../model/certificates/node-certificate.js';
import type { NodeAddress } from '../../model/node/node.js';
import { servingCertificates } from '../../streams/certificates/serving-certificates.js';
import type { KubeletEnvironment } from '../kubelet/kubelet-handle.js';
import type { JoinedCluster } from './join-cluster.js';

/**
 * Keeps a serving certificate in the directory of certificates, and emits the one in use. The files of the configuration are used until
 * a signer has issued one. `addresses$` has those of the Node, none before they are known.
 *
 * Errors: none. Ends: never.
 */
export const keepServingCertificate = (
  { config, nodeName, log, metrics }: KubeletEnvironment,
  { ports: { api }, options: { host }, certDir }: JoinedCluster,
  addresses$: Observable<readonly NodeAddress[]>,
): Observable<NodeCertificate> => {
  const { tlsCertFile: certFile, tlsPrivateKeyFile: keyFile } = config;
  const wallClock = (): number => Date.now();
  const store = certificateStore(certDir, {
    use: 'serving',
    ...(certFile !== '' && { fallback: { certFile, keyFile } }),
    now: wallClock,
    log,
  });
  return servingCertificates(
    {
      ...{ api, store, keys: certificateKeys(), wallClock, log, metrics },
      scheduler: monotonicScheduler,
      random: Math.random,
    },
    { nodeName, addresses$, ...(host !== undefined && { host }) },
  );
};
