import type { Observable } from 'rxjs';
import type { LogOptions } from '../../model/logs/log-options.js';
import { sinceInstant } from '../../model/logs/log-time.js';
import { containerLog, type ContainerLogOptions } from './container-log.js';

export interface RequestedLog extends Pick<ContainerLogOptions, 'path' | 'files' | 'ready' | 'scheduler'> {
  readonly options: Omit<LogOptions, 'previous'>;
  /** Unix milliseconds, for `sinceSeconds`. */
  readonly now: number;
  /** Emits once whether the container runs; called for a log that is followed. */
  readonly isRunning: () => Observable<boolean>;
}

/** Emits the log that the options of the API ask for, as `containerLog` does. */
export const requestedLog = ({ options, now, isRunning, ...places }: RequestedLog): Observable<Uint8Array> => {
  const { stream, timestamps, limitBytes, tailLines, follow, sinceSeconds, sinceTime } = options;
  const since = sinceInstant(
    { ...(sinceSeconds !== undefined && { sinceSeconds }), ...(sinceTime !== undefined && { sinceTime }) },
    now,
  );
  return containerLog({
    ...places,
    print: {
      ...{ stream, timestamps },
      ...(since !== undefined && { since }),
      ...(limitBytes !== undefined && { limitBytes }),
    },
    ...(tailLines !== undefined && { tailLines }),
    ...(follow && { follow: { isRunning } }),
  });
};
