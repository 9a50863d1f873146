import { lookup } from 'node:dns/promises';
import { defer } from 'rxjs';
import type { LookupHost } from '../streams/ports/lookup-host.js';

/** Asks the resolver of the system, which may read `/etc/hosts` before it asks a server. Errors: Node's own. */
export const lookupHost: LookupHost = (name) =>
  defer(async () => (await lookup(name, { all: true, order: 'verbatim' })).map(({ address }) => address));
