import { lookup } from 'node:dns/promises';
import { defer } from 'rxjs';
import type { LookupHost } from '../streams/ports.js';

/** Asks the system's resolver, files such as `/etc/hosts` before servers where the system is set so. Errors: Node's own. */
export const lookupHost: LookupHost = (name) =>
  defer(async () => (await lookup(name, { all: true, order: 'verbatim' })).map(({ address }) => address));
