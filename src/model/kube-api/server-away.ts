import { ApiError } from './api-error.js';

/**
 * Whether an error reports nothing about the requested object: the server did not reply, or could not. Any other error
 * is the server's decision, and overrides earlier knowledge.
 */
export const isServerAway = (error: unknown): boolean =>
  error instanceof ApiError && (error.code === undefined || error.code === 429 || error.code >= 500);
