import type { HttpGetAnswer } from '../config/http-get.js';
import type { ProbeOutcome } from './probe-outcome.js';

/**
 * Returns the outcome of an HTTP reply. A redirect that was not followed leads to another host. A failure never
 * contains the body, which may hold secrets.
 *
 * Source: pkg/probe/http/http.go DoHTTPProbe
 */
export const httpOutcome = ({ status, body }: HttpGetAnswer): ProbeOutcome => {
  if (status >= 200 && status < 300) return { result: 'success', output: body };
  if (status >= 300 && status < 400) {
    return { result: 'warning', output: `Probe terminated redirects, Response body: ${body}` };
  }
  return { result: 'failure', output: `HTTP probe failed with statuscode: ${status}` };
};
