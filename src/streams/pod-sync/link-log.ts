import { catchError, defer, EMPTY, type Observable } from 'rxjs';
import { errorText } from '../../model/cri/cri-error.js';
import { containerLogLink } from '../../model/cri/log-paths.js';
import type { PodSyncContext } from './pod-sync-context.js';

interface Instance {
  readonly id: string;
  /** The name of the container in its pod. */
  readonly name: string;
}

/**
 * Links the log of an instance into the directory that log collectors read. A failure is logged.
 *
 * Source: pkg/kubelet/kuberuntime/kuberuntime_container.go startContainer
 */
export const linkLog = (context: PodSyncContext, instance: Instance, log: string): Observable<never> => {
  const link = linkOf(context, instance);
  return defer(() => context.ports.files.link(log, link)).pipe(
    catchError((error: unknown) => {
      context.ports.log.error({ link, log, error: errorText(error) }, 'cannot link the log of a container');
      return EMPTY;
    }),
  );
};

export const unlinkLog = (context: PodSyncContext, instance: Instance): Observable<never> =>
  defer(() => context.ports.files.remove(linkOf(context, instance)));

const linkOf = ({ pod, ports }: PodSyncContext, { id, name }: Instance): string =>
  containerLogLink(ports.node.containerLogsDirectory, pod.metadata, name, id);
