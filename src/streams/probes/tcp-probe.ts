import { catchError, defer, endWith, merge, type Observable, of, type SchedulerLike, take, timer, map } from 'rxjs';
import { errorText } from '../../model/cri-error.js';
import { hostAndPort, resolvePort } from '../../model/http-get.js';
import type { Probe } from '../../model/pod.js';
import type { ProbeOutcome, ProbeTarget, TcpConnect } from '../ports.js';
import { hostOf } from './host-of.js';

/**
 * Opens a connection; that it opens counts. Whatever goes wrong with it is a failure.
 *
 * Errors: a port that is none; a pod without an address.
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
      catchError((error: unknown) => of(failure(errorText(error)))),
    );
    const late$ = timer(target.timeoutSeconds * 1000, scheduler).pipe(
      map(() => failure(`dial tcp ${hostAndPort(address)}: i/o timeout`)),
    );
    return merge(connection$, late$).pipe(take(1));
  });

const failure = (output: string): ProbeOutcome => ({ result: 'failure', output });
