import type { KubeletPorts } from '../../kubelet.js';
import type { CriCall } from '../../streams/ports.js';
import { faultyCalls } from './call-faults.js';
import { faultyDisk } from './disk-faults.js';
import { faultyEvents } from './event-faults.js';
import type { CallFault, DiskFault, EventFault, Fault, FaultKind, NetworkFault } from './fault.js';
import type { FaultStage } from './fault-stage.js';
import { faultyNetwork, type NetworkPorts } from './network-faults.js';

/** The ports behind which the world lies: what the runtime, the disk and the network of the pods have to say. */
export type WorldPorts = NetworkPorts &
  Pick<KubeletPorts, 'runtime' | 'images' | 'files' | 'podFiles' | 'logFiles' | 'diskSpace' | 'pullRecords'> &
  Required<Pick<KubeletPorts, 'probeRecords'>>;

/**
 * The same world with what goes wrong between it and the agent. Faults of the agent itself, of sources and of the machine are
 * not for ports, and are left out here.
 */
export const withFaults = (ports: WorldPorts, faults: readonly Fault[], stage: FaultStage): WorldPorts => {
  const wrapCall = faultyCalls(faults.filter(isOneOf<CallFault>(CALL_FAULTS)), stage);
  const withEventFaults = faultyEvents(faults.filter(isOneOf<EventFault>(EVENT_FAULTS)), stage);
  const wrapDisk = faultyDisk(faults.filter(isOneOf<DiskFault>(['disk-fails'])), stage);
  const network = faultyNetwork(faults.filter(isOneOf<NetworkFault>(NETWORK_FAULTS)), stage, ports);
  const { containerEvents, ...calls } = ports.runtime;
  const wrapCalls = <Port extends object>(port: Port): Port =>
    Object.fromEntries(
      Object.entries(port as Calls).map(([name, ask]) => [name, wrapCall(criMethod(name), ask)]),
    ) as typeof port;
  return {
    ...network,
    runtime: { ...wrapCalls(calls), containerEvents: () => withEventFaults(containerEvents()) },
    images: wrapCalls(ports.images),
    files: wrapDisk(ports.files),
    podFiles: wrapDisk(ports.podFiles),
    logFiles: wrapDisk(ports.logFiles),
    pullRecords: wrapDisk(ports.pullRecords),
    probeRecords: wrapDisk(ports.probeRecords),
    diskSpace: ports.diskSpace,
  };
};

type Calls = Readonly<Record<string, CriCall<object, unknown>>>;

const CALL_FAULTS: readonly FaultKind[] = [
  ...(['late-request', 'late-reply', 'refused', 'reply-lost', 'hangs', 'cancel-unheard'] satisfies FaultKind[]),
];
const EVENT_FAULTS: readonly FaultKind[] = ['event-lost', 'event-doubled', 'event-late', 'events-break'];
const NETWORK_FAULTS: readonly FaultKind[] = ['network-slow', 'network-silent'];

const isOneOf =
  <F extends Fault>(kinds: readonly FaultKind[]) =>
  (fault: Fault): fault is F =>
    kinds.includes(fault.kind);

/** The name of the port's call in the CRI: `startContainer` is `StartContainer`. */
const criMethod = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);
