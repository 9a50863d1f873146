import { catchError, concat, defer, defaultIfEmpty, EMPTY, filter, map, type Observable, of, take, tap } from 'rxjs';
import type { ContainerStatus } from '../../generated/runtime/v1/api.js';
import { LOG_TAIL_BYTES, lastLogLines } from '../../model/cri/log-line.js';
import {
  joinMessages,
  type TerminationFiles,
  terminationFilesOf,
  MESSAGE_FILE_BYTES,
  MESSAGE_LOG,
  messageText,
  outdatedMessages,
} from '../../model/cri/termination-message.js';
import { errorText } from '../../model/cri/cri-error.js';
import type { RuntimePod } from '../../model/pleg/runtime-pod.js';
import type { PodFiles } from '../ports/pod-files.js';

/** The termination messages of containers. */
export interface TerminationMessages {
  /** Emits the status once, its `message` completed by the termination message. Errors: none; the message contains a failure to read it. */
  readonly complete: (status: ContainerStatus) => Observable<ContainerStatus>;
  /** Forgets the messages of containers that are not among these pods, a listing of all items. */
  readonly retain: (pods: readonly RuntimePod[]) => void;
}

/** Reads no files: leaves the messages of the runtime as they are. */
export const messagesOfRuntime: TerminationMessages = { complete: (status) => of(status), retain: () => undefined };

/**
 * Reads messages from the files and logs of this node. Each is read once and kept while the runtime has the container, since an
 * ended container writes no more. A failed read is retried.
 *
 * Source: pkg/kubelet/kuberuntime/kuberuntime_container.go convertToKubeContainerStatus
 */
export const terminationMessages = (files: Pick<PodFiles, 'readTail'>): TerminationMessages => {
  const known = new Map<string, string>();

  const read = (id: string, { file, log }: TerminationFiles): Observable<string> => {
    const keep = (text: string) => known.set(id, text);
    const inFile$ = defer(() => (file === undefined ? EMPTY : fileText(files, file)));
    const inLog$ = defer(() => (log === undefined ? EMPTY : logText(files, log)));
    return concat(attempt(inFile$, fileProblem(file)), attempt(inLog$, logProblem)).pipe(
      filter(({ text }) => text !== ''),
      take(1),
      defaultIfEmpty({ text: '', isFinal: true }),
      tap(({ text, isFinal }) => isFinal && keep(text)),
      map(({ text }) => text),
    );
  };

  return {
    complete: (status) =>
      defer(() => {
        const words = terminationFilesOf(status);
        if (words.file === undefined && words.log === undefined) return of(status);
        const message = known.get(status.id);
        const text$ = message === undefined ? read(status.id, words) : of(message);
        return text$.pipe(map((text) => ({ ...status, message: joinMessages(status.message, text) })));
      }),
    retain: (pods) => {
      for (const id of outdatedMessages(known, pods)) known.delete(id);
    },
  };
};

const fileText = (files: Pick<PodFiles, 'readTail'>, path: string): Observable<string> =>
  files.readTail(path, MESSAGE_FILE_BYTES).pipe(map((tail) => (tail ? messageText(tail) : '')));

const logText = (files: Pick<PodFiles, 'readTail'>, path: string): Observable<string> =>
  files.readTail(path, LOG_TAIL_BYTES).pipe(
    map((tail) => {
      if (!tail) throw new Error(`there is no log ${path}`);
      return lastLogLines(new TextDecoder().decode(tail), MESSAGE_LOG);
    }),
  );

const fileProblem = (path: string | undefined) => (error: unknown) =>
  `Error on reading termination log ${path}: ${errorText(error)}`;
const logProblem = (error: unknown) => `Error on reading termination message from logs: ${errorText(error)}`;

interface Attempt {
  readonly text: string;
  readonly isFinal: boolean;
}

const attempt = (text$: Observable<string>, problem: (error: unknown) => string): Observable<Attempt> =>
  text$.pipe(
    map((text) => ({ text, isFinal: true })),
    catchError((error: unknown) => of({ text: problem(error), isFinal: false })),
  );
