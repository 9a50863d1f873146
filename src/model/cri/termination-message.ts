import type { ContainerStatus } from '../../generated/runtime/v1/api.js';
import { podContainerDirectory } from '../pod-paths.js';
import { absolutePath } from './absolute-path.js';
import { parseContainerAnnotations, POD_UID } from './labels.js';

/** Source: pkg/kubelet/container/runtime.go MaxContainerTerminationMessageLength and its neighbours. */
export const MESSAGE_FILE_BYTES = 4096;
export const MESSAGE_LOG = { maxBytes: 2048, maxLines: 80 } as const;

/** Where the last words of an ended container are. */
export interface LastWords {
  /** The file that it was given for them; absent when it was given none. */
  readonly file?: string;
  /** Its log, if that stands in for a file that is missing or empty. */
  readonly log?: string;
}

/**
 * Where to look for what a container has left to say; nowhere while it has not ended. A container that could not even be started
 * has no log.
 *
 * Source: pkg/kubelet/kuberuntime/kuberuntime_container.go convertToKubeContainerStatus, getTerminationMessage
 */
export const lastWordsOf = (status: ContainerStatus): LastWords => {
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

/** The end of a file as text. Where it was cut within a character, that character is left out. */
export const messageText = (tail: Uint8Array): string => {
  const isWhole = tail.length < MESSAGE_FILE_BYTES;
  let start = 0;
  // A byte 10xxxxxx goes on with the character before it; no character has more than three of them.
  while (!isWhole && start < 3 && ((tail[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(tail.subarray(start));
};

/** What the runtime says of the end, and what the container said itself. */
export const joinMessages = (ofRuntime: string, ofContainer: string): string =>
  [ofRuntime, ofContainer].filter((text) => text !== '').join(': ');

/**
 * The file that the agent gave this instance for its last words and that nobody needs after it; undefined for any other file,
 * such as one of a volume or of another pod.
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
