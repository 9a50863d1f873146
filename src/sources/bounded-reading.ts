import {
  catchError,
  type MonoTypeOperatorFunction,
  of,
  type SchedulerLike,
  throwError,
  timeout,
  TimeoutError,
} from 'rxjs';
import { errorText } from '../model/cri/cri-error.js';
import type { ManifestReading } from '../model/manifest/parse-manifest.js';

/**
 * The machine has no free memory or thread to read a text. The text itself may be fine, and the next try may succeed.
 */
export class NoReader extends Error {
  override readonly name = 'NoReader';
}

/** The time limit for reading one text. */
export const READING_MS = 10_000;

/**
 * Passes a reading on. A reading that fails or takes too long becomes a problem of its file.
 *
 * Errors: `NoReader`.
 * Ends:   with the source, or with the problem. A reading that takes too long is unsubscribed.
 */
export const boundedReading =
  (file: string, scheduler: SchedulerLike): MonoTypeOperatorFunction<ManifestReading> =>
  (source) =>
    source.pipe(
      timeout({ first: READING_MS, scheduler }),
      catchError((error: unknown) => (error instanceof NoReader ? throwError(() => error) : of(refused(file, error)))),
    );

const refused = (file: string, error: unknown): ManifestReading => {
  const reason = errorText(error);
  const isLate = error instanceof TimeoutError;
  const message = isLate ? `takes more than ${READING_MS / 1000} s to read` : `could not be read: ${reason}`;
  return {
    pods: [],
    objects: [],
    problems: [{ file, document: 1, line: 1, column: 1, field: '', message }],
    warnings: [],
  };
};
