import { of } from 'rxjs';
import type { ContainerStatus, Pod, Probe } from '../../src/model/pod/pod.js';
import type { ProbeOutcome } from '../../src/model/probes/probe-outcome.js';
import type { ProbeTarget } from '../../src/streams/ports/probe-handlers.js';
import { pod, type Stage } from './virtual-node.js';

export const good = of<ProbeOutcome>({ result: 'success', output: 'fine' });
export const bad = of<ProbeOutcome>({ result: 'failure', output: 'no' });
/** The port of a probe names its type. */
const PORTS = { startup: 1, readiness: 2, liveness: 3 } as const;
export const typeOf = ({ probe }: ProbeTarget): keyof typeof PORTS =>
  (Object.keys(PORTS) as (keyof typeof PORTS)[]).find((type) => PORTS[type] === probe.tcpSocket?.port)!;
export const probe = (type: keyof typeof PORTS, rest: Probe = {}): Probe => ({
  tcpSocket: { port: PORTS[type] },
  ...{ periodSeconds: 10, timeoutSeconds: 1, successThreshold: 1, failureThreshold: 3 },
  ...rest,
});
export const probedPod = (
  probes: { startupProbe?: Probe; readinessProbe?: Probe; livenessProbe?: Probe },
  rest: Parameters<typeof pod>[1] = {},
): Pod => pod({ containers: [{ name: 'main', image: 'host', ...probes }] }, rest);

/** What the status shows of `main`: it does not run, its startup is not over, it is not ready, or it and its pod are ready. */
export const SHOWN = {
  n: 'not running',
  s: 'started=false ready=false Ready=False',
  u: 'started=true ready=false Ready=False',
  r: 'started=true ready=true Ready=True',
};

/** Each change of what the status shows of `main`, as text of `SHOWN` with the time. Reads the status at the end of each millisecond. */
export const watchMain = ({ scheduler }: Stage, pods: () => readonly Pod[], untilMs: number): string[] => {
  const seen: string[] = [];
  let last = '';
  const look = (): void => {
    const status = pods()[0]?.status;
    const all = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
    const main: ContainerStatus | undefined = all.find(({ name }) => name === 'main');
    const ready = status?.conditions?.find(({ type }) => type === 'Ready')?.status;
    const text = main?.state?.running ? `started=${main.started} ready=${main.ready} Ready=${ready}` : 'not running';
    if (text !== last) seen.push(`${Math.floor(scheduler.now())} ${text}`);
    last = text;
    if (scheduler.now() < untilMs) scheduler.schedule(look, 1);
  };
  scheduler.schedule(look, 0.5);
  return seen;
};
