import { catchError, defer, EMPTY, type Observable } from 'rxjs';
import { errorText } from '../../model/cri-error.js';
import { containerLogLink } from '../../model/cri/log-paths.js';
import type { PodSyncContext } from './pod-sync-context.js';

interface Instance {
  readonly id: string;
  /** Of the container in its pod. */
  readonly name: string;
}

/**
 * Links to the log of an instance, if it has one, from where collectors of logs look. That it cannot be done is said and
 * harms nobody.
 *
 * Source: pkg/kubelet/kuberuntime/kuberuntime_container.go startContainer
 */
export const linkLog = (context: PodSyncContext, instance: Instance, log: string): Observable<never> => {
  const link = linkOf(context, instance);
  return defer(() => context.ports.files.link(log, link)).pipe(
    catchError((error: unknown) => {
      context.ports.log.error(
        { link, log, error: errorText(error) },
        'no link to the log of a container could be made',
      );
      return EMPTY;
    }),
  );
};

export const unlinkLog = (context: PodSyncContext, instance: Instance): Observable<never> =>
  defer(() => context.ports.files.remove(linkOf(context, instance)));

const linkOf = ({ pod, ports }: PodSyncContext, { id, name }: Instance): string =>
  containerLogLink(ports.node.containerLogsDirectory, pod.metadata, name, id);
