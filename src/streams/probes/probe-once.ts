import { catchError, defer, map, type Observable, of, retry, type SchedulerLike, throwError } from 'rxjs';
import { errorText } from '../../model/cri/cri-error.js';
import { ProbeErrored } from '../../model/probes/probe-errored.js';
import type { ProbeEnd } from '../../model/probes/probe-event.js';
import type { ProbeWorker } from '../../model/probes/probe-worker.js';
import { formatPod } from '../../model/pod/pod.js';
import type { ProbeHandlerKind, ProbeHandlers } from '../ports/probe-handlers.js';
import { discountHoldUp } from './discount-hold-up.js';

/** The number of attempts of a probe without a result, one right after the other. Source: pkg/kubelet/prober/prober.go maxProbeRetries */
export const PROBE_TRIES = 3;

const HANDLERS: readonly ProbeHandlerKind[] = ['exec', 'httpGet', 'tcpSocket', 'grpc'];

/**
 * Runs one probe, emits its end and completes. Only an attempt without a result is repeated; a failure is final.
 *
 * Errors: none.
 * Source: pkg/kubelet/prober/prober.go runProbeWithRetries
 */
export const probeOnce = (
  handlers: ProbeHandlers,
  { type, pod, container, probe, pace: { timeoutSeconds } }: ProbeWorker,
  { containerId, podIp }: { readonly containerId: string; readonly podIp: string },
  scheduler: SchedulerLike,
): Observable<ProbeEnd> =>
  defer(() => {
    const kind = HANDLERS.find((handler) => probe[handler] !== undefined);
    if (kind === undefined) {
      return throwError(() => new Error(`missing probe handler for ${formatPod(pod)}:${container.name}`));
    }
    return handlers.probe({ type, kind, probe, pod, container, containerId, podIp, timeoutSeconds });
  }).pipe(
    discountHoldUp(timeoutSeconds * 1000, scheduler),
    retry(PROBE_TRIES - 1),
    map(({ result, output }): ProbeEnd => ({ result, output })),
    catchError((error: unknown) =>
      of<ProbeEnd>({ error: errorText(error), state: error instanceof ProbeErrored ? error.state : 'unknown' }),
    ),
  );
