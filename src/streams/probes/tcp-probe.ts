import { catchError, defer, endWith, merge, type Observable, of, type SchedulerLike, take, timer, map } from 'rxjs';
import { errorText } from '../../model/cri/cri-error.js';
import { hostAndPort, resolvePort } from '../../model/config/http-get.js';
import { isOwnShortage } from '../../model/probes/own-shortage.js';
import { ProbeErrored } from '../../model/probes/probe-errored.js';
import type { Probe } from '../../model/pod/pod.js';
import type { ProbeOutcome } from '../../model/probes/probe-outcome.js';
import type { ProbeTarget } from '../ports/probe-handlers.js';
import type { TcpConnect } from '../ports/tcp-connect.js';
import { hostOf } from './host-of.js';

/**
 * Opens a connection: success if it opens, failure otherwise.
 *
 * Errors: `ProbeErrored` if the node lacks a resource for it; an invalid port; a pod without an address.
 * Source: pkg/probe/tcp/tcp.go
 */
export const tcpProbe = (
  tcpConnect: TcpConnect,
  action: NonNullable<Probe['tcpSocket']>,
  target: ProbeTarget,
  scheduler: SchedulerLike,
): Observable<ProbeOutcome> =>
  defer(() => {
    const address = { host: hostOf(action, target), port: resolvePort(action.port, target.container) };
    const connection$ = tcpConnect(address).pipe(
      endWith<ProbeOutcome>({ result: 'success', output: '' }),
      catchError((error: unknown) => {
        if (isOwnShortage(error)) throw new ProbeErrored(errorText(error), 'unknown', { cause: error });
        return of(failure(errorText(error)));
      }),
    );
    const late$ = timer(target.timeoutSeconds * 1000, scheduler).pipe(
      map(() => failure(`dial tcp ${hostAndPort(address)}: i/o timeout`)),
    );
    return merge(connection$, late$).pipe(take(1));
  });

const failure = (output: string): ProbeOutcome => ({ result: 'failure', output });
