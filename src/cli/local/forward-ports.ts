import {
  concat,
  defer,
  from,
  ignoreElements,
  merge,
  mergeMap,
  type Observable,
  of,
  share,
  switchMap,
  throwError,
} from 'rxjs';
import type { LocalAddress, LocalPort } from '../../model/server/local-ports.js';
import type { SpdyConnection } from '../../runtime/embedded/streaming/spdy/spdy-connection.js';
import { dialStream } from './dial-stream.js';
import { forwardConnection } from './forward-connection.js';
import { listenLocal } from './listen-local.js';

export interface ForwardRequest {
  readonly socketPath: string;
  readonly path: string;
  readonly ports: readonly LocalPort[];
  readonly addresses: readonly LocalAddress[];
}

/** A line for an output. */
export interface ForwardLine {
  readonly to: 'stdout' | 'stderr';
  readonly text: string;
}

const out = (text: string): ForwardLine => ({ to: 'stdout', text });
const warn = (text: string): ForwardLine => ({ to: 'stderr', text });

/**
 * Forwards ports until it is unsubscribed, over one connection to the agent. Emits the lines that kubectl prints. If a port of the pod
 * refuses a connection, only that connection ends; kubectl itself would end.
 *
 * Errors: the agent refuses the streams; none of the local ports can be opened; the connection to the agent breaks.
 * Source: staging/src/k8s.io/client-go/tools/portforward/portforward.go
 */
export const forwardPorts = ({ socketPath, path, ports, addresses }: ForwardRequest): Observable<ForwardLine> => {
  const dialed$ = dialStream({ socketPath, path, protocol: 'portforward.k8s.io' }).pipe(share());
  return merge(
    dialed$.pipe(switchMap((connection) => forwardOver(connection, ports, addresses))),
    concat(
      dialed$.pipe(ignoreElements()),
      throwError(() => new Error('lost connection to pod')),
    ),
  );
};

const forwardOver = (
  connection: SpdyConnection,
  ports: readonly LocalPort[],
  addresses: readonly LocalAddress[],
): Observable<ForwardLine> =>
  defer(() => {
    let requestId = 0;
    let failed = 0;
    return from(ports).pipe(
      mergeMap(({ local, remote }) =>
        listenLocal(local, addresses).pipe(
          mergeMap((event): Observable<ForwardLine> => {
            switch (event.kind) {
              case 'listening': {
                const { address, port } = event;
                return of(
                  out(`Forwarding from ${address.includes(':') ? `[${address}]` : address}:${port} -> ${remote}`),
                );
              }
              case 'tried': {
                if (event.problem === undefined) return from([]);
                failed += 1;
                const line = warn(
                  `Unable to listen on port ${local}: Listeners failed to create with the following errors: [${event.problem}]`,
                );
                return failed < ports.length
                  ? of(line)
                  : concat(
                      of(line),
                      throwError(() => noneOf(ports)),
                    );
              }
              case 'connection': {
                const { port, socket } = event;
                requestId += 1;
                return concat(
                  of(out(`Handling connection for ${port}`)),
                  from(forwardConnection({ connection, socket, remote, requestId })).pipe(
                    mergeMap((problem) =>
                      problem === '' ? [] : [warn(`an error occurred forwarding ${port} -> ${remote}: ${problem}`)],
                    ),
                  ),
                );
              }
            }
          }),
        ),
      ),
    );
  });

const noneOf = (ports: readonly LocalPort[]): Error =>
  new Error(
    `unable to listen on any of the requested ports: [${ports.map(({ local, remote }) => `{${local} ${remote}}`).join(' ')}]`,
  );
