import { errorText } from '../../../model/cri/cri-error.js';
import type { Logger } from '../../../streams/ports/logger.js';
import { delayMs } from './clock.js';

/** The wait after a failed attempt. */
export const RETRY_MS = 1_000;

/**
 * Tries until it succeeds. Logs the first failure. Resolves with undefined when `isOver` returns true. Errors: none.
 */
export const untilDone = async <T>(
  attempt: () => T | Promise<T>,
  { what, fields, log, isOver }: { what: string; fields: object; log: Logger; isOver: () => boolean },
): Promise<T | undefined> => {
  for (let tries = 0; !isOver(); tries += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (tries === 0) log.warn({ ...fields, error: errorText(error) }, `${what}, will retry`);
      await delayMs(RETRY_MS);
    }
  }
  return undefined;
};
