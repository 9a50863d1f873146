import type { Readable, Writable } from 'node:stream';
import type { Observable } from 'rxjs';
import type { CommandFailure } from './command-status.js';
import type { TerminalSize } from './terminal-size.js';

/** The streams that a request asks for. */
export interface WantedStreams {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

/** The client's side of a command or an attachment, over any transport. */
export interface RemoteStreams {
  /** Ends with the client's half-close. */
  readonly stdin: Readable | undefined;
  readonly stdout: Writable | undefined;
  readonly stderr: Writable | undefined;
  readonly size$: Observable<TerminalSize>;
  /** Fires when the client has gone. */
  readonly gone: AbortSignal;
  /** Writes the end to the client and closes the session; resolves when all is written or the client has gone. */
  readonly finish: (failure: CommandFailure | undefined) => Promise<void>;
}

/** Ends the streams; resolves when all that was written to them has been sent, or they are destroyed. */
export const endAll = async (streams: readonly Writable[]): Promise<void> => {
  // Node calls no callback for the end of a stream that is destroyed already.
  const open = streams.filter(({ destroyed }) => !destroyed);
  await Promise.all(open.map((stream) => new Promise<void>((resolve) => stream.end(() => resolve()))));
};
