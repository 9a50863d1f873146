const ABSENCES: ReadonlySet<unknown> = new Set(['ENOENT', 'ENOTDIR']);
const SHORTAGES: ReadonlySet<unknown> = new Set([
  ...['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS', 'EAGAIN', 'EINTR', 'EIO', 'ESTALE', 'ETIMEDOUT'],
]);

/** `os.networkInterfaces()` hides it in `info`. */
const codeOf = (error: unknown): unknown => {
  const { code, info } = (error ?? {}) as { readonly code?: unknown; readonly info?: { readonly code?: unknown } };
  return info?.code ?? code;
};

/** There is no such file. After any other error it is unknown whether the file exists. */
export const isAbsence = (error: unknown): boolean => ABSENCES.has(codeOf(error));

/** The machine lacks a resource or has failed. The error reports nothing about the file; the next read may succeed. */
export const isShortage = (error: unknown): boolean => SHORTAGES.has(codeOf(error));
