import type { Duplex } from 'node:stream';
import { fromEvent, merge, Subject, takeUntil, tap, type Observable, type SchedulerLike } from 'rxjs';
import { IDLE_MS, probePaused, untilIdle } from './session-timing.js';
import { SpdyConnection } from '../spdy/spdy-connection.js';
import type { SpdyStream } from '../spdy/spdy-stream.js';

export interface SpdySession {
  readonly connection: SpdyConnection;
  /** The streams that the client opens. */
  readonly stream$: Observable<SpdyStream>;
  /** Ends the session when it is idle or its client has gone. Completes with the session. */
  readonly watch$: Observable<unknown>;
}

/** A session over the socket of an upgraded request. `accept` refuses streams without a meaning. */
export const spdySession = (
  socket: Duplex,
  options: {
    readonly streamsMax: number;
    readonly accept: (stream: SpdyStream) => boolean;
    readonly scheduler: SchedulerLike;
  },
): SpdySession => {
  const { scheduler, accept, streamsMax } = options;
  const opened$ = new Subject<SpdyStream>();
  let lastMs = scheduler.now();
  const connection = new SpdyConnection(socket, {
    side: 'server',
    streamsMax,
    onActivity: () => (lastMs = scheduler.now()),
    accept: (stream) => {
      if (!accept(stream)) return false;
      opened$.next(stream);
      return true;
    },
  });
  connection.gone.addEventListener('abort', () => opened$.complete(), { once: true });
  const idle$ = untilIdle(() => lastMs, IDLE_MS, scheduler).pipe(tap({ complete: () => connection.destroy() }));
  const probes$ = probePaused(
    () => connection.isPaused,
    () => connection.ping(),
    scheduler,
  );
  return {
    connection,
    stream$: opened$.asObservable(),
    watch$: merge(idle$, probes$).pipe(takeUntil(fromEvent(connection.gone, 'abort'))),
  };
};
