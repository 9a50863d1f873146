import { catchError, concat, concatMap, defer, EMPTY, map, type Observable, of, toArray } from 'rxjs';
import type { DeepPartial, Mount } from '../../generated/runtime/v1/api.js';
import { absolutePath } from '../../model/cri/absolute-path.js';
import { HOSTS_PATH, hostNetworkHostsContent, podHostsContent, wantsHostsFile } from '../../model/cri/hosts-file.js';
import { errorText } from '../../model/cri/cri-error.js';
import type { Container, EphemeralContainer } from '../../model/pod/pod.js';
import { POD_DIRECTORY_MODE, podContainerDirectory, podHostsFile } from '../../model/pod/pod-paths.js';
import type { Random } from '../ports/random.js';
import type { PodSyncContext } from './pod-sync-context.js';

const HOSTS_MODE = 0o644;
/** Every user of the container may write a message. */
const MESSAGE_MODE = 0o666;

/**
 * Writes the agent's own files for a new instance of a container, and emits their mounts once: the pod's hosts file, then the file
 * for the termination message. Emits no mounts on a runtime that cannot mount files.
 *
 * Errors: Node's own if the hosts file cannot be written. A file for the termination message that fails is left out and logged.
 * Source: pkg/kubelet/kubelet_pods.go GenerateRunContainerOptions, pkg/kubelet/kuberuntime/kuberuntime_container.go makeMounts
 */
export const agentMounts = (
  context: PodSyncContext,
  container: Container | EphemeralContainer,
  podIps: readonly string[],
): Observable<readonly DeepPartial<Mount>[]> =>
  context.ports.node.canMount
    ? concat(hostsMount(context, container, podIps), messageMount(context, container)).pipe(toArray())
    : of([]);

const hostsMount = (
  context: PodSyncContext,
  container: Container | EphemeralContainer,
  podIps: readonly string[],
): Observable<DeepPartial<Mount>> =>
  defer(() => {
    const {
      pod,
      ports: { node, podFiles },
    } = context;
    if (!wantsHostsFile(pod, container, podIps)) return EMPTY;
    const hostPath = podHostsFile(node.rootDirectory, pod.metadata.uid);
    const content$ = pod.spec.hostNetwork
      ? podFiles.read(HOSTS_PATH).pipe(map((content) => hostNetworkHostsContent(pod, content)))
      : of(podHostsContent(pod, podIps, node));
    return content$.pipe(
      concatMap((content) =>
        concat(podFiles.write(hostPath, content, HOSTS_MODE), of(mount(context, hostPath, HOSTS_PATH))),
      ),
    );
  });

/** Every instance has a file of its own, so that it does not show the message of an earlier instance. */
const messageMount = (
  context: PodSyncContext,
  { name, terminationMessagePath }: Container | EphemeralContainer,
): Observable<DeepPartial<Mount>> =>
  defer(() => {
    const {
      pod,
      ports: { files, node, podFiles, random, log },
    } = context;
    if (!terminationMessagePath) return EMPTY;
    const directory = podContainerDirectory(node.rootDirectory, pod.metadata.uid, name);
    const hostPath = `${directory}/${randomName(random)}`;
    return concat(
      files.makeDirectory(directory, POD_DIRECTORY_MODE),
      podFiles.write(hostPath, '', MESSAGE_MODE),
      of(mount(context, hostPath, absolutePath(terminationMessagePath))),
    ).pipe(
      catchError((error: unknown) => {
        log.warn({ container: name, error: errorText(error) }, 'a container gets no file for its termination message');
        return EMPTY;
      }),
    );
  });

const mount = ({ ports: { node } }: PodSyncContext, hostPath: string, containerPath: string): DeepPartial<Mount> => ({
  hostPath,
  containerPath,
  ...(node.hasSelinux === true && { selinuxRelabel: true }),
});

/** Eight hexadecimal digits. */
const randomName = (random: Random): string =>
  Math.floor(random() * 2 ** 32)
    .toString(16)
    .padStart(8, '0');
