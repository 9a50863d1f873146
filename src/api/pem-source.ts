import { readFileSync, statSync } from 'node:fs';
import type { Pem } from './api-identity.js';

/**
 * Gives the PEM as it is now: a file is read again once it has changed, or a link leads to another. Errors: it cannot be read.
 */
export const pemSource = (pem: Pem): (() => string) => {
  if ('pem' in pem) return () => pem.pem;
  let read: { readonly version: string; readonly content: string } | undefined;
  return () => {
    const { mtimeNs, size, ino } = statSync(pem.file, { bigint: true });
    const version = `${mtimeNs} ${size} ${ino}`;
    if (read?.version !== version) read = { version, content: readFileSync(pem.file, 'utf8') };
    return read.content;
  };
};
