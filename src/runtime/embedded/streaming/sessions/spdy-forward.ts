import type { Duplex } from 'node:stream';
import {
  fromEvent,
  from,
  ignoreElements,
  merge,
  mergeMap,
  type Observable,
  type SchedulerLike,
  switchMap,
  takeUntil,
  tap,
} from 'rxjs';
import { forwardErrorText, forwardPort, type ForwardTarget } from './forward-port.js';
import { endAll } from '../remote-streams.js';
import { closeLater, pairedStreams } from './session-timing.js';
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
 * Forwards the connections of one client until it has gone or the pod has ended. Each has an error stream and a data stream; a stream
 * without the other one is reset after half a minute.
 */
export const spdyForward = (
  socket: Duplex,
  { target, scheduler }: { readonly target: ForwardTarget; readonly scheduler: SchedulerLike },
): { readonly session$: Observable<never>; readonly destroy: () => void } => {
  const { connection, stream$, watch$ } = spdySession(socket, {
    streamsMax: STREAMS_MAX,
    scheduler,
    accept: (stream) =>
      !target.over.aborted && ['error', 'data'].includes(typeOf(stream)) && portOf(stream) !== undefined,
  });
  const over$ = fromEvent(target.over, 'abort');
  const gone$ = fromEvent(connection.gone, 'abort');
  // The connections that are open are cut by themselves.
  const accepted$ = stream$.pipe(takeUntil(over$));
  const connections$ = accepted$.pipe(
    pairedStreams(requestOf, scheduler),
    mergeMap((streams) => from(serve(streams, target, connection.gone))),
    tap({ complete: () => connection.end() }),
  );
  const close$ = over$.pipe(
    switchMap(() => closeLater(gone$, () => connection.destroy(), scheduler)),
    takeUntil(gone$),
  );
  return {
    session$: merge(watch$, connections$, close$).pipe(ignoreElements()),
    destroy: () => connection.destroy(),
  };
};

const serve = async (streams: readonly SpdyStream[], target: ForwardTarget, gone: AbortSignal): Promise<void> => {
  const [error, data] = ['error', 'data'].map((type) => streams.find((stream) => typeOf(stream) === type));
  if (!error || !data) return streams.forEach((stream) => void stream.destroy());
  error.resume();
  const port = portOf(data) ?? 0;
  try {
    await forwardPort(target, port, data, gone);
  } catch (failure) {
    error.write(forwardErrorText(port, target.sandboxId, failure));
  }
  await endAll([data, error]);
};
