import { catchError, concatMap, defer, firstValueFrom, map, type Observable, of, throwError } from 'rxjs';
import { readJournal } from '../../journal/journal-reader.js';
import { isCriError } from '../../model/cri/cri-error.js';
import { parseContainerAnnotations, POD_UID } from '../../model/cri/labels.js';
import { chooseContainer, DEFAULT_CONTAINER_ANNOTATION } from '../../model/logs/choose-container.js';
import { isContainerRunning } from '../../streams/logs/is-container-running.js';
import { nodesIn } from '../../tools/why/find-pod.js';
import { choosePods } from './choose-pod.js';
import type { FoundLog, LogPlaces, LogRequest } from './found-log.js';
import { containersWithLogs, logPathByFiles, newestPod, podsWithLogs } from './log-directories.js';
import { orderedContainers } from './ordered-containers.js';

/**
 * Finds a log without an agent, by the names of folders and files. The previous instance is the one before the newest that
 * has a log. The journal has the order of the containers, and the runtime, if it runs, the default one.
 */
export const findByFiles = async (request: LogRequest, { paths, runtime }: LogPlaces): Promise<FoundLog> => {
  const { podLogsDir } = paths;
  const { entries } = readJournal(paths.journalDir);
  const pod = await newestPod(podLogsDir, choosePods(await podsWithLogs(podLogsDir), request, nodesIn(entries)));
  const names = await containersWithLogs(podLogsDir, pod);
  const preferred = request.container === undefined ? await defaultContainer(runtime, pod.uid) : undefined;
  const choice = chooseContainer(
    { pod: pod.name, ...orderedContainers(names, entries, pod.uid), ...(preferred && { preferred }) },
    request.container,
  );
  if ('problem' in choice) throw new Error(choice.problem);
  const { container, notes } = choice;
  const { path, restartCount } = await logPathByFiles(podLogsDir, pod, container, request.previous);
  return { path, notes, isRunning: () => isInstanceRunning(runtime, { uid: pod.uid, container, restartCount }) };
};

const defaultContainer = (runtime: LogPlaces['runtime'], uid: string): Promise<string | undefined> =>
  firstValueFrom(
    defer(() => runtime.listPodSandbox({ filter: { labelSelector: { [POD_UID]: uid } } })).pipe(
      map(({ items }) => items[0]?.annotations[DEFAULT_CONTAINER_ANNOTATION]),
      catchError(() => of(undefined)),
    ),
  );

interface Instance {
  readonly uid: string;
  readonly container: string;
  readonly restartCount: number;
}

/** As `isContainerRunning`, for an instance whose id is not known. */
const isInstanceRunning = (
  runtime: LogPlaces['runtime'],
  { uid, container, restartCount }: Instance,
): Observable<boolean> =>
  defer(() => runtime.listContainers({ filter: { labelSelector: { [POD_UID]: uid } } })).pipe(
    concatMap(({ containers }) => {
      const found = containers.find(
        ({ metadata, annotations }) =>
          metadata?.name === container && parseContainerAnnotations(annotations).restartCount === restartCount,
      );
      return found ? isContainerRunning(runtime, found.id) : of(false);
    }),
    catchError((error: unknown) =>
      isCriError(error, 'unavailable') || isCriError(error, 'deadline-exceeded') ? of(true) : throwError(() => error),
    ),
  );
