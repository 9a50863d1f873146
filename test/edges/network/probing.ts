import { asyncScheduler, firstValueFrom, type SchedulerLike, throwError } from 'rxjs';
import type { Probe } from '../../../src/model/pod/pod.js';
import { checkHealth } from '../../../src/network/check-health.js';
import { httpRequest } from '../../../src/network/http-request.js';
import { tcpConnect } from '../../../src/network/tcp-connect.js';
import { type ProbeFeatures, probeHandlers } from '../../../src/streams/probes/probe-handlers.js';
import type { ProbeHandlerKind } from '../../../src/streams/ports/probe-handlers.js';
import type { ProbeOutcome } from '../../../src/model/probes/probe-outcome.js';
import { aPod } from '../../support/a-pod.js';

const ports = {
  runtime: { execSync: () => throwError(() => new Error('there is no runtime')) },
  httpRequest: httpRequest(),
  ...{ tcpConnect, checkHealth },
};

/** Probes the loopback over real sockets. Without a time of its own it has one that no test lives to see the end of. */
export const probeOnce = (
  probe: Probe,
  timeoutSeconds = 600,
  scheduler: SchedulerLike = asyncScheduler,
  features: ProbeFeatures = {},
): Promise<ProbeOutcome> =>
  firstValueFrom(
    probeHandlers({ ...ports, scheduler }, features).probe({
      type: 'liveness',
      kind: (['exec', 'httpGet', 'tcpSocket', 'grpc'] satisfies ProbeHandlerKind[]).find((kind) => kind in probe)!,
      ...{ probe, timeoutSeconds },
      pod: aPod(),
      container: { name: 'main' },
      containerId: 'id',
      podIp: '127.0.0.1',
    }),
  );

/** Soon enough for a test, and what messages call it. */
export const SHORT = { seconds: 0.05, text: '50ms' };
