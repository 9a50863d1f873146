import { catchError, of } from 'rxjs';
import type { KubeletPorts } from '../../../kubelet-options.js';
import { errorText } from '../../../model/cri/cri-error.js';
import { lateExecOutcome } from '../../../model/probes/exec-outcome.js';
import { ProbeErrored } from '../../../model/probes/probe-errored.js';
import type { CriCall } from '../../../streams/ports/runtime-service.js';
import type { ProbeHandlers } from '../../../streams/ports/probe-handlers.js';
import type { SeededRandom } from '../world/seeded-random.js';
import { arm, type FaultSide } from './armed-fault.js';
import { faultyApi } from './api-faults.js';
import { faultyCalls, type WrapCall } from './call-faults.js';
import { faultyDisk } from './disk-faults.js';
import { faultyEvents } from './event-faults.js';
import type {
  ApiCallFault,
  ApiWayFault,
  CallFault,
  DiskFault,
  EventFault,
  Fault,
  FaultKind,
  NetworkFault,
} from './fault.js';
import { faultyNetwork, type FaultyNetwork } from './network-faults.js';

/** Puts the faults of a history between an agent and its world. */
export type WithFaults = (ports: KubeletPorts, side: FaultSide) => KubeletPorts;

/**
 * Faults for every life of the agent in one world: the draws go on from one life to the next. Faults of the agent
 * itself, of sources and of the machine concern no port, and are left out here.
 */
export const withFaults = (faults: readonly Fault[], random: SeededRandom): WithFaults => {
  const armedFor = <F extends Fault>(kinds: readonly F['kind'][]) => arm(faults.filter(isOneOf<F>(kinds)), random);
  const ofCalls = armedFor<CallFault>(CALL_FAULTS);
  const ofEvents = armedFor<EventFault>(EVENT_FAULTS);
  const ofDisk = armedFor<DiskFault>(['disk-fails']);
  const ofNetwork = armedFor<NetworkFault>(['network-slow', 'network-silent']);
  const ofApi = {
    calls: armedFor<ApiCallFault>(API_CALL_FAULTS),
    way: faults.filter(isOneOf<ApiWayFault>(['api-cut', 'api-watches-break'])),
  };
  return (ports, side) => {
    const wrapCluster = faultyApi(ofApi, side);
    const wrapCall = faultyCalls(ofCalls, side);
    const eventsWithFaults = faultyEvents(ofEvents, side);
    const wrapDisk = faultyDisk(ofDisk, side);
    const network = faultyNetwork(ofNetwork, side);
    const wrapCalls = <Port extends object>(port: Port): Port =>
      Object.fromEntries(
        Object.entries(port as Calls).map(([name, ask]) => [name, wrapCall(criMethod(name), ask)]),
      ) as typeof port;
    const { containerEvents, ...calls } = ports.runtime;
    const { probeHandlers, probeRecords, cluster } = ports;
    return {
      ...ports,
      runtime: { ...wrapCalls(calls), containerEvents: () => eventsWithFaults(containerEvents()) },
      images: wrapCalls(ports.images),
      files: wrapDisk(ports.files),
      podFiles: wrapDisk(ports.podFiles),
      volumeFiles: wrapDisk(ports.volumeFiles),
      logFiles: wrapDisk(ports.logFiles),
      pullRecords: wrapDisk(ports.pullRecords),
      ...(probeRecords && { probeRecords: wrapDisk(probeRecords) }),
      ...(probeHandlers && { probeHandlers: faultyProbes(probeHandlers, wrapCall, network) }),
      httpRequest: network.httpRequest(ports.httpRequest),
      ...(cluster && {
        cluster: {
          ...wrapCluster(cluster),
          ...(cluster.lastKnown && { lastKnown: wrapDisk(cluster.lastKnown) }),
        },
      }),
    };
  };
};

type Calls = Readonly<Record<string, CriCall<object, unknown>>>;

const CALL_FAULTS: readonly CallFault['kind'][] = [
  ...(['late-request', 'late-reply', 'refused', 'reply-lost', 'hangs', 'cancel-unheard'] as const),
];
const EVENT_FAULTS: readonly EventFault['kind'][] = ['event-lost', 'event-doubled', 'event-late', 'events-break'];

const API_CALL_FAULTS: readonly ApiCallFault['kind'][] = [
  ...(['api-late', 'api-refused', 'api-reply-lost', 'api-silent', 'api-gone'] as const),
];

const isOneOf =
  <F extends Fault>(kinds: readonly FaultKind[]) =>
  (fault: Fault): fault is F =>
    kinds.includes(fault.kind);

/** The CRI name of the port's call: `startContainer` is `StartContainer`. */
const criMethod = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

/** A probe by a command is a call of the runtime; any other goes over the network. */
const faultyProbes = ({ probe }: ProbeHandlers, wrapCall: WrapCall, network: FaultyNetwork): ProbeHandlers => {
  const overNetwork = network.probe(probe);
  return {
    probe: (target) => {
      if (target.kind !== 'exec') return overNetwork(target);
      const { timeoutSeconds } = target;
      const ask = wrapCall('ExecSync', () => probe(target));
      return ask({ timeout: BigInt(timeoutSeconds) }).pipe(
        catchError((error: unknown) => {
          if (error instanceof ProbeErrored) throw error;
          const late = lateExecOutcome(error, target.probe.exec?.command ?? [], timeoutSeconds);
          if (late) return of(late);
          throw new ProbeErrored(errorText(error), 'unknown', { cause: error });
        }),
      );
    },
  };
};
