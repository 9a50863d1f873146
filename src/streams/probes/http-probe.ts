import { catchError, defer, map, type Observable, of } from 'rxjs';
import { HttpFailure } from '../../model/http-failure.js';
import { type HttpGetAction, httpGetRequest } from '../../model/http-get.js';
import { MAX_OUTPUT_BYTES } from '../../model/probes/cut-output.js';
import { httpOutcome } from '../../model/probes/http-outcome.js';
import { ProbeErrored } from '../../model/probes/probe-errored.js';
import type { HttpRequest, ProbeOutcome, ProbeTarget } from '../ports.js';
import { hostOf } from './host-of.js';

/**
 * Asks a server for a page; the status counts. No answer is a failure, but an answer whose body breaks off is an error.
 *
 * Errors: `ProbeErrored`; a port that is none; a pod without an address.
 * Source: pkg/probe/http/http.go
 */
export const httpProbe = (
  httpRequest: HttpRequest,
  action: HttpGetAction,
  target: ProbeTarget,
): Observable<ProbeOutcome> =>
  defer(() => {
    const request = httpGetRequest(action, {
      container: target.container,
      podIp: hostOf(action, target),
      purpose: 'probe',
    });
    const options = { timeoutMs: target.timeoutSeconds * 1000, maxBodyBytes: MAX_OUTPUT_BYTES };
    return httpRequest(request, options).pipe(
      map(httpOutcome),
      catchError((error: unknown) => {
        if (!(error instanceof HttpFailure)) throw error;
        if (error.stage === 'body') throw new ProbeErrored(error.message, 'failure', { cause: error });
        return of<ProbeOutcome>({ result: 'failure', output: error.message });
      }),
    );
  });
