import { readFileSync, statSync } from 'node:fs';
import { type FileStatus, fileStamp } from '../model/values/file-stamp.js';
import type { Pem } from './api-identity.js';

/** The calls to the machine; a test replaces them. */
export interface PemDisk {
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly stat: (path: string) => FileStatus;
}

const DISK: PemDisk = { now: () => Date.now(), stat: (path) => statSync(path, { bigint: true }) };

/**
 * Returns a function that returns the current PEM: a file is read again if it, or the target of a link, has changed or may have changed.
 * Errors: it cannot be read.
 */
export const pemSource = (pem: Pem, { now, stat }: PemDisk = DISK): (() => string) => {
  if ('pem' in pem) return () => pem.pem;
  let read: { readonly stamp: string | undefined; readonly content: string } | undefined;
  return () => {
    const stamp = fileStamp(stat(pem.file), now());
    if (stamp === undefined || read?.stamp !== stamp) read = { stamp, content: readFileSync(pem.file, 'utf8') };
    return read.content;
  };
};
