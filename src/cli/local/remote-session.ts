import { finished } from 'node:stream/promises';
import { text } from 'node:stream/consumers';
import type { Readable, Writable } from 'node:stream';
import { from, type Observable, type Subscription, switchMap, take, tap } from 'rxjs';
import { type RemoteEnd, remoteEnd } from '../../model/server/remote-end.js';
import type { SpdyConnection } from '../../runtime/embedded/streaming/spdy/spdy-connection.js';
import type { TerminalSize } from '../../runtime/embedded/streaming/terminal-size.js';
import { dialStream } from './dial-stream.js';

export interface RemoteIo {
  /** Its end is the end of the remote input. */
  readonly stdin?: Readable | undefined;
  readonly stdout: Writable;
  /** Absent with a terminal, whose output carries both. */
  readonly stderr?: Writable | undefined;
  /** The sizes of the terminal; absent without one. */
  readonly size$?: Observable<TerminalSize> | undefined;
}

export interface RemoteSession extends RemoteIo {
  readonly socketPath: string;
  readonly path: string;
}

/**
 * Runs a command or an attachment, and emits its end when all its output has been passed on. Outputs are not ended. The session
 * ends with the subscription; then the runtime ends its command.
 *
 * Errors: the session is refused.
 * Source: staging/src/k8s.io/client-go/tools/remotecommand/v4.go
 */
export const remoteSession = ({ socketPath, path, ...io }: RemoteSession): Observable<RemoteEnd> =>
  dialStream({ socketPath, path, protocol: 'v4.channel.k8s.io' }).pipe(
    switchMap((connection) => streamsOf(connection, io)),
    take(1),
  );

const streamsOf = (connection: SpdyConnection, { stdin, stdout, stderr, size$ }: RemoteIo): Observable<RemoteEnd> => {
  const open = (type: string) => connection.open(new Map([['streamtype', type]]));
  const report = text(open('error'));
  if (stdin) stdin.pipe(open('stdin'));
  const outputs = [stdout, stderr].flatMap((output, index) => {
    if (!output) return [];
    const stream = open(index === 0 ? 'stdout' : 'stderr');
    stream.pipe(output, { end: false });
    return [finished(stream, { writable: false })];
  });
  let sizes: Subscription | undefined;
  if (size$) {
    const resize = open('resize');
    sizes = size$.subscribe(({ width, height }) => void resize.write(sizeText(width, height)));
  }
  return from(Promise.all([report, ...outputs]).then(([ending]) => remoteEnd(ending))).pipe(
    tap({ finalize: () => sizes?.unsubscribe() }),
  );
};

const sizeText = (width: number, height: number): string => `${JSON.stringify({ Width: width, Height: height })}\n`;
