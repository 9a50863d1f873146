import type { Observable } from 'rxjs';

/** Emits once the addresses of a host, from the resolver of the system. Errors: there are none, or the resolver does not answer. */
export type LookupHost = (name: string) => Observable<readonly string[]>;
