import type { Duplex } from 'node:stream';
import { EMPTY, firstValueFrom, fromEvent, type SchedulerLike } from 'rxjs';
import { statusText } from '../command-status.js';
import type { CommandProtocol } from '../negotiate.js';
import { endAll, type RemoteStreams, type WantedStreams } from '../remote-streams.js';
import { closeLater, expectedStreams } from './session-timing.js';
import { spdySession } from './spdy-session.js';
import type { SpdyStream } from '../spdy/spdy-stream.js';
import { terminalSizesOf } from '../terminal-size.js';

/** The streams that a client has to open, one of each. Source: remotecommand/httpstream.go createStreams */
const expectedTypes = (wanted: WantedStreams, protocol: CommandProtocol): ReadonlySet<string> =>
  new Set([
    'error',
    ...(['stdin', 'stdout', 'stderr'] as const).filter((type) => wanted[type]),
    ...(wanted.tty && (protocol === 'v4.channel.k8s.io' || protocol === 'v3.channel.k8s.io') ? ['resize'] : []),
  ]);

const typeOf = (stream: SpdyStream): string => (stream.headers.get('streamtype') ?? '').toLowerCase();

/**
 * The streams of a command over SPDY, when the client has opened all of them. Errors: it did not in time, or has gone;
 * the connection is closed then.
 */
export const spdyCommand = async (
  socket: Duplex,
  { wanted, protocol, scheduler }: { wanted: WantedStreams; protocol: CommandProtocol; scheduler: SchedulerLike },
): Promise<RemoteStreams> => {
  const expected = expectedTypes(wanted, protocol);
  const found = new Map<string, SpdyStream>();
  const { connection, stream$, watch$ } = spdySession(socket, {
    scheduler,
    // One more, which is refused by its type.
    streamsMax: expected.size + 1,
    accept: (stream) => {
      const type = typeOf(stream);
      if (!expected.has(type) || found.has(type)) return false;
      found.set(type, stream);
      return true;
    },
  });
  watch$.subscribe();
  try {
    await firstValueFrom(stream$.pipe(expectedStreams(expected.size, scheduler)));
    if (found.size < expected.size) throw new Error('the client has gone');
  } catch (error) {
    connection.destroy();
    throw error;
  }
  // The client writes only to these two.
  for (const [type, stream] of found) if (type !== 'stdin' && type !== 'resize') stream.resume();
  const resize = found.get('resize');
  return {
    stdin: found.get('stdin'),
    stdout: found.get('stdout'),
    stderr: found.get('stderr'),
    size$: resize ? terminalSizesOf(resize) : EMPTY,
    gone: connection.gone,
    finish: async (failure) => {
      const error = found.get('error');
      const text = statusText(failure, protocol === 'v4.channel.k8s.io');
      if (text !== '') error?.write(text);
      // Later bytes of the client have no reader any more.
      for (const stream of found.values()) stream.resume();
      await endAll([...found.values()]);
      connection.end();
      const gone$ = fromEvent(connection.gone, 'abort');
      closeLater(gone$, () => connection.destroy(), scheduler).subscribe();
    },
  };
};
