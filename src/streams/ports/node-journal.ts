import type { Observable } from 'rxjs';
import type { ServiceLogQuery } from '../../model/server/node-log-query.js';
import type { PodLogReply } from './read-pod-log.js';

/** Completes when the client can take more. */
type Ready = () => Observable<unknown>;

/** The journal of this machine. Each call starts on subscribe, and unsubscribing ends it. */
export interface NodeJournal {
  /** Emits the names of the units that have entries, and completes. Errors: there is no journal. */
  readonly units: () => Observable<ReadonlySet<string>>;
  /** Emits the output of journalctl with these arguments, its problems too, and completes. Errors: it cannot be started. */
  readonly read: (args: readonly string[], ready: Ready) => Observable<Uint8Array>;
}

/** Emits the content of a regular file below the directory of logs. Errors: those of files; a missing one has an absence as its code. */
export type ReadLogFile = (path: string, ready: Ready) => Observable<Uint8Array>;

/** Emits the reply to a query of services. Errors: none. Ends: with the reply. */
export type ReadNodeLogs = (query: ServiceLogQuery, ready: Ready) => Observable<PodLogReply>;
