import { distinctUntilChanged, ignoreElements, type OperatorFunction, pipe, skip, startWith, tap } from 'rxjs';
import type { Logger } from '../ports/logger.js';
import type { RecordJournal } from '../ports/record-journal.js';

/**
 * Records and logs each change of the health, with its reason; emits nothing. Without a word before, the runtime counts as healthy.
 *
 * Source: pkg/kubelet/kubelet.go syncLoop
 */
export const journalHealth = ({
  record,
  log,
}: {
  readonly record: RecordJournal;
  readonly log: Logger;
}): OperatorFunction<string | undefined, never> =>
  pipe(
    startWith(undefined),
    distinctUntilChanged(),
    skip(1),
    tap((message) => {
      record({ kind: 'runtime-health', healthy: message === undefined, message, causes: [] });
      if (message === undefined) log.info({}, 'the runtime is healthy, pods are synced');
      else log.error({ error: message }, 'the runtime is not healthy, pods are not synced');
    }),
    ignoreElements(),
  );
