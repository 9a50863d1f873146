import type { ContainerStatus } from '../../generated/runtime/v1/api.js';
import type { RuntimePod } from '../pleg/runtime-pod.js';
import { podContainerDirectory } from '../pod/pod-paths.js';
import { absolutePath } from './absolute-path.js';
import { parseContainerAnnotations, POD_UID } from './labels.js';

/** Source: pkg/kubelet/container/runtime.go MaxContainerTerminationMessageLength and its neighbours. */
export const MESSAGE_FILE_BYTES = 4096;
export const MESSAGE_LOG = { maxBytes: 2048, maxLines: 80 } as const;

/** The files with the termination message of an ended container. */
export interface TerminationFiles {
  /** The file that the container was given for it; absent if it was given none. */
  readonly file?: string;
  /** The container's log, if it replaces a file that is missing or empty. */
  readonly log?: string;
}

/**
 * Returns the files with a container's termination message; none while the container has not ended. A container that
 * could not be started has no log.
 *
 * Source: pkg/kubelet/kuberuntime/kuberuntime_container.go convertToKubeContainerStatus, getTerminationMessage
 */
export const terminationFilesOf = (status: ContainerStatus): TerminationFiles => {
  if (status.state !== 'CONTAINER_EXITED') return {};
  const { terminationMessagePath: path, terminationMessagePolicy } = parseContainerAnnotations(status.annotations);
  const mount = path === '' ? undefined : status.mounts.find((one) => one.containerPath === absolutePath(path));
  const usesLog =
    terminationMessagePolicy === 'FallbackToLogsOnError' &&
    status.exitCode !== 0 &&
    status.reason !== 'ContainerCannotRun';
  return {
    ...(mount && mount.hostPath !== '' && { file: mount.hostPath }),
    ...(usesLog && status.logPath !== '' && { log: status.logPath }),
  };
};

/** Returns the end of a file as text, without a character that was split at its beginning. */
export const messageText = (tail: Uint8Array): string => {
  const isWhole = tail.length < MESSAGE_FILE_BYTES;
  let start = 0;
  // A byte 10xxxxxx continues the character before it; no character has more than three of them.
  while (!isWhole && start < 3 && ((tail[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(tail.subarray(start));
};

/** Joins the runtime's message about the end and the container's own message. */
export const joinMessages = (ofRuntime: string, ofContainer: string): string =>
  [ofRuntime, ofContainer].filter((text) => text !== '').join(': ');

/**
 * Returns the file that the agent gave this instance for its termination message, which can be removed after the
 * instance; undefined for any other file, such as a file of a volume or of another pod.
 */
export const terminationLogOf = (
  { labels, metadata, mounts }: Pick<ContainerStatus, 'labels' | 'metadata' | 'mounts'>,
  root: string,
): string | undefined => {
  const prefix = `${podContainerDirectory(root, labels[POD_UID] ?? '', metadata?.name ?? '')}/`;
  return mounts
    .map(({ hostPath }) => hostPath)
    .find((path) => path.startsWith(prefix) && /^[0-9a-f]{8}$/.test(path.slice(prefix.length)));
};

/**
 * Returns the ids of the containers whose message is no longer needed: those that are not among `pods`, a listing of all items. While there
 * are no more messages than items, few of them are outdated, and these are forgotten later.
 */
export const outdatedMessages = (
  known: ReadonlyMap<string, string>,
  pods: readonly Pick<RuntimePod, 'items'>[],
): readonly string[] => {
  const count = pods.reduce((sum, { items }) => sum + items.length, 0);
  if (known.size <= count) return [];
  const ids = new Set(pods.flatMap(({ items }) => items.map(({ id }) => id)));
  return [...known.keys()].filter((id) => !ids.has(id));
};
