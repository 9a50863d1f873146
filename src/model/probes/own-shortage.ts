const SHORTAGES: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS', 'EAGAIN', 'EADDRNOTAVAIL']);

/**
 * Whether a probe could not be sent because this process or machine is short of descriptors, memory or ports. The error
 * reports nothing about the container. The error's causes count, too. Upstream treats it as a failure of the container,
 * and restarts healthy ones.
 */
export const isOwnShortage = (error: unknown): boolean =>
  error instanceof Error && (SHORTAGES.has((error as NodeJS.ErrnoException).code) || isOwnShortage(error.cause));
