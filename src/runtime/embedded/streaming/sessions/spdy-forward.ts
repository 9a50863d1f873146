import type { Duplex } from 'node:stream';
import { from, ignoreElements, merge, mergeMap, type Observable, type SchedulerLike } from 'rxjs';
import { forwardErrorText, forwardPort } from './forward-port.js';
import { endAll } from '../remote-streams.js';
import { pairedStreams } from './session-timing.js';
import { spdySession } from './spdy-session.js';
import type { SpdyStream } from '../spdy/spdy-stream.js';

/** Two for each connection, some thousand connections. */
const STREAMS_MAX = 4_096;

const typeOf = (stream: SpdyStream): string => (stream.headers.get('streamtype') ?? '').toLowerCase();

/** The port in a stream's headers; undefined for a text that is none. */
const portOf = (stream: SpdyStream): number | undefined => {
  const text = stream.headers.get('port') ?? '';
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return port > 0 && port <= 0xffff ? port : undefined;
};

/** Old clients do not number their requests: they open the data stream right behind the error stream. */
const requestOf = (stream: SpdyStream): string =>
  stream.headers.get('requestid') ?? String(typeOf(stream) === 'data' ? stream.id - 2 : stream.id);

/**
 * Forwards the connections of one client until it has gone. Each has an error stream and a data stream; a stream
 * without the other one is reset after half a minute.
 */
export const spdyForward = (
  socket: Duplex,
  { sandboxId, scheduler }: { readonly sandboxId: string; readonly scheduler: SchedulerLike },
): { readonly session$: Observable<never>; readonly destroy: () => void } => {
  const { connection, stream$, watch$ } = spdySession(socket, {
    streamsMax: STREAMS_MAX,
    scheduler,
    accept: (stream) => ['error', 'data'].includes(typeOf(stream)) && portOf(stream) !== undefined,
  });
  const connections$ = stream$.pipe(
    pairedStreams(requestOf, scheduler),
    mergeMap((streams) => from(serve(streams, sandboxId, connection.gone))),
  );
  return {
    session$: merge(watch$, connections$).pipe(ignoreElements()),
    destroy: () => connection.destroy(),
  };
};

const serve = async (streams: readonly SpdyStream[], sandboxId: string, gone: AbortSignal): Promise<void> => {
  const [error, data] = ['error', 'data'].map((type) => streams.find((stream) => typeOf(stream) === type));
  if (!error || !data) return streams.forEach((stream) => void stream.destroy());
  error.resume();
  const port = portOf(data) ?? 0;
  try {
    await forwardPort(port, data, gone);
  } catch (failure) {
    error.write(forwardErrorText(port, sandboxId, failure));
  }
  await endAll([data, error]);
};
