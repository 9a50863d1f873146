import { catchError, EMPTY, finalize, merge, type Observable, switchMap } from 'rxjs';
import { forgetLastKnown, lastKnownFiles } from '../../host/files/last-known-files.js';
import { machineFacts } from '../../host/facts/machine-facts.js';
import { errorText } from '../../model/cri/cri-error.js';
import { podCertificateKeys } from '../../kube-api/pod-certificate-keys.js';
import { lookupHost } from '../../network/lookup-host.js';
import type { ChangeDetection } from '../../streams/references/pod-references.js';
import { alongside } from '../../streams/operators/alongside.js';
import type { ClusterOptions, ClusterPorts } from '../../streams/cluster/cluster-node.js';
import type { KubeletEnvironment } from '../kubelet/kubelet-handle.js';
import { packageVersion } from '../process/version.js';
import type { ClusterFlags } from './cluster-flags.js';
import { connectCluster } from './connect-cluster.js';
import { nodeObjectSettings } from './node-object-settings.js';

/** The parts that make an agent a node of a cluster. */
export interface JoinedCluster {
  readonly ports: ClusterPorts;
  readonly options: ClusterOptions;
  /** The directory of certificates. */
  readonly certDir: string;
}

/**
 * Runs an agent as a node of the cluster of the flags, and renews certificates beside it; the connection is closed at
 * the end.
 *
 * Errors: those of `agent`; a needed kubeconfig cannot be used.
 * Ends:   with `agent`.
 */
export const joinCluster = (
  { config, nodeName, paths, log, metrics }: KubeletEnvironment,
  flags: ClusterFlags,
  agent: (cluster: JoinedCluster) => Observable<unknown>,
): Observable<unknown> => {
  const version = packageVersion();
  return connectCluster({ flags, nodeName, version, rotate: config.rotateCertificates, log, metrics }).pipe(
    switchMap(({ api, certificates$, close }) => {
      const ports: ClusterPorts = {
        api,
        resetConnections: api.resetConnections,
        readMachine: machineFacts(paths.rootDir),
        lookupHost,
        podCertificateKeys: podCertificateKeys(),
        ...(flags.lastKnownState !== 'none' && {
          lastKnown: lastKnownFiles({
            rootDirectory: paths.rootDir,
            nodeName,
            server: api.server,
            keepsSecrets: flags.lastKnownState === 'all',
            log,
          }),
        }),
      };
      const options: ClusterOptions = {
        node: nodeObjectSettings(config, flags, { nodeName, version }),
        registerNode: config.registerNode,
        nodeStatusUpdateFrequencyMs: config.nodeStatusUpdateFrequencyMs,
        nodeStatusReportFrequencyMs: config.nodeStatusReportFrequencyMs,
        nodeLeaseDurationSeconds: config.nodeLeaseDurationSeconds,
        qps: config.kubeAPIQPS,
        burst: config.kubeAPIBurst,
        eventQps: config.eventRecordQPS,
        eventBurst: config.eventBurst,
        // The validation has refused all other values.
        changeDetection: config.configMapAndSecretChangeDetectionStrategy as ChangeDetection,
        host: api.host,
      };
      // State that is not to be kept any more is removed.
      const forgotten$ = flags.lastKnownState === 'none' ? forget(paths.rootDir, log) : EMPTY;
      return agent({ ports, options, certDir: flags.certDir }).pipe(
        alongside(merge(certificates$, forgotten$)),
        finalize(close),
      );
    }),
  );
};

const forget = (rootDir: string, log: KubeletEnvironment['log']): Observable<never> =>
  forgetLastKnown(rootDir).pipe(
    catchError((error: unknown) => {
      log.warn({ error: errorText(error) }, 'cannot remove the saved state of the cluster');
      return EMPTY;
    }),
  );
