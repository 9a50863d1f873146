import { catchError, defer, map, type Observable, of } from 'rxjs';
import { HttpFailure } from '../../model/config/http-failure.js';
import { httpGetRequest } from '../../model/config/http-get.js';
import type { HttpGetAction } from '../../model/pod/pod.js';
import { MAX_OUTPUT_BYTES } from '../../model/probes/cut-output.js';
import { httpOutcome } from '../../model/probes/http-outcome.js';
import { isOwnShortage } from '../../model/probes/own-shortage.js';
import { ProbeErrored } from '../../model/probes/probe-errored.js';
import type { HttpRequest } from '../ports/http-request.js';
import type { ProbeOutcome } from '../../model/probes/probe-outcome.js';
import type { ProbeTarget } from '../ports/probe-handlers.js';
import { hostOf } from './host-of.js';

/**
 * Sends a GET to a server and emits the outcome of its status. No answer is a failure; an answer with an incomplete body is an
 * error, and so is the lack of a resource of the node.
 *
 * Errors: `ProbeErrored`; an invalid port; a pod without an address.
 * Source: pkg/probe/http/http.go
 */
export const httpProbe = (
  httpRequest: HttpRequest,
  action: HttpGetAction,
  target: ProbeTarget,
): Observable<ProbeOutcome> =>
  defer(() => {
    const plain = httpGetRequest(action, {
      container: target.container,
      podIp: hostOf(action, target),
      purpose: 'probe',
    });
    const request = action.protocol === 'HTTP2' ? ({ ...plain, protocol: 'HTTP2' } as const) : plain;
    const options = { timeoutMs: target.timeoutSeconds * 1000, maxBodyBytes: MAX_OUTPUT_BYTES };
    return httpRequest(request, options).pipe(
      map(httpOutcome),
      catchError((error: unknown) => {
        if (!(error instanceof HttpFailure)) throw error;
        if (isOwnShortage(error)) throw new ProbeErrored(error.message, 'unknown', { cause: error });
        if (error.stage === 'body') throw new ProbeErrored(error.message, 'failure', { cause: error });
        return of<ProbeOutcome>({ result: 'failure', output: error.message });
      }),
    );
  });
