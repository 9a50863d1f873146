import { catchError, defer, EMPTY, finalize, merge, type Observable, Subject, switchMap, takeUntil } from 'rxjs';
import { forgetLastKnown, lastKnownFiles } from '../../host/last-known-files.js';
import { machineFacts } from '../../host/machine-facts.js';
import { errorText } from '../../model/cri-error.js';
import { lookupHost } from '../../network/lookup-host.js';
import type { ChangeDetection } from '../../streams/api/pod-references.js';
import type { ClusterOptions, ClusterPorts } from '../../streams/cluster/cluster-node.js';
import type { KubeletEnvironment } from '../kubelet-handle.js';
import { packageVersion } from '../version.js';
import type { ClusterFlags } from './cluster-flags.js';
import { connectCluster } from './connect-cluster.js';
import { nodeObjectSettings } from './node-object-settings.js';

/** What makes an agent a node of a cluster. */
export interface JoinedCluster {
  readonly ports: ClusterPorts;
  readonly options: ClusterOptions;
}

/**
 * Runs an agent as a node of the cluster that the flags name, with certificates kept in time beside it; the connection is closed at
 * the end.
 *
 * Errors: those of `agent`; a kubeconfig that is needed cannot be used.
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
        // Any other word has been refused.
        changeDetection: config.configMapAndSecretChangeDetectionStrategy as ChangeDetection,
        host: api.host,
      };
      // What is not to be kept any more is not to lie about either.
      const forgotten$ = flags.lastKnownState === 'none' ? forget(paths.rootDir, log) : EMPTY;
      return beside(merge(certificates$, forgotten$), agent({ ports, options })).pipe(finalize(close));
    }),
  );
};

const forget = (rootDir: string, log: KubeletEnvironment['log']): Observable<never> =>
  forgetLastKnown(rootDir).pipe(
    catchError((error: unknown) => {
      log.warn({ error: errorText(error) }, 'what an earlier agent kept of the cluster cannot be removed');
      return EMPTY;
    }),
  );

/** Both, and the end of the second one. */
const beside = (side$: Observable<never>, main$: Observable<unknown>): Observable<unknown> =>
  defer(() => {
    const ended$ = new Subject<void>();
    return merge(side$.pipe(takeUntil(ended$)), main$.pipe(finalize(() => ended$.next())));
  });
