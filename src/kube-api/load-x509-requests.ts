import { keptProgram } from '../processes/kept-program.js';
import type * as X509Requests from './x509-requests.js';

/** The functions that make certificate requests. They take 13 MiB of memory once they are loaded, so that this is done on demand. */
export type LoadX509Requests = () => Promise<typeof X509Requests>;

/** Reads their program now, and loads it on demand. Errors: the program is missing. */
export const loadX509Requests = (): LoadX509Requests => {
  const program = keptProgram('x509-requests.js');
  return () => (program ? (import(program.href) as ReturnType<LoadX509Requests>) : import('./x509-requests.js'));
};
