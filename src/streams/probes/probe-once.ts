import { catchError, defer, map, type Observable, of, retry, take, throwError, throwIfEmpty } from 'rxjs';
import { errorText } from '../../model/cri-error.js';
import { ProbeErrored } from '../../model/probes/probe-errored.js';
import type { ProbeEnd } from '../../model/probes/probe-event.js';
import type { ProbeWorker } from '../../model/probes/probe-worker.js';
import { formatPod } from '../../model/pod.js';
import type { ProbeHandlerKind, ProbeHandlers } from '../ports.js';

/** A probe that finds nothing out is tried so often, one try right after the other. Source: pkg/kubelet/prober/prober.go maxProbeRetries */
export const PROBE_TRIES = 3;

const HANDLERS: readonly ProbeHandlerKind[] = ['exec', 'httpGet', 'tcpSocket', 'grpc'];

/**
 * One probe: emits how it ended and completes. Only a try that finds nothing out is followed by another; a failure is final.
 *
 * Errors: none.
 * Source: pkg/kubelet/prober/prober.go runProbeWithRetries
 */
export const probeOnce = (
  handlers: ProbeHandlers,
  { type, pod, container, probe, pace: { timeoutSeconds } }: ProbeWorker,
  { containerId, podIp }: { readonly containerId: string; readonly podIp: string },
): Observable<ProbeEnd> =>
  defer(() => {
    const kind = HANDLERS.find((handler) => probe[handler] !== undefined);
    if (kind === undefined) {
      return throwError(() => new Error(`missing probe handler for ${formatPod(pod)}:${container.name}`));
    }
    return handlers.probe({ type, kind, probe, pod, container, containerId, podIp, timeoutSeconds });
  }).pipe(
    take(1),
    throwIfEmpty(() => new Error('the probe ended without a result')),
    retry(PROBE_TRIES - 1),
    map(({ result, output }): ProbeEnd => ({ result, output })),
    catchError((error: unknown) =>
      of<ProbeEnd>({ error: errorText(error), state: error instanceof ProbeErrored ? error.state : 'unknown' }),
    ),
  );
