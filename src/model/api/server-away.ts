import { ApiError } from './api-error.js';

/**
 * Whether an error says nothing about what was asked for: nobody answered, or the server could not. Anything else is the server's
 * word, and what was known before does not stand against it.
 */
export const isServerAway = (error: unknown): boolean =>
  error instanceof ApiError && (error.code === undefined || error.code === 429 || error.code >= 500);
