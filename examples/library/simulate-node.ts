import { type KubeletOptions, type Pod, type RecordingEntry, recordKubelet, kubelet } from 'rx-kubelet';
import { type NodeBehaviours, simulatedNode, simulatedSource, VirtualScheduler, type WorldEvent } from 'rx-kubelet/sim';

/** The pods run on this node: one with another `spec.nodeName` is rejected, and the simulation throws its name and the reason. */
export const NODE_NAME = 'edge-1';

/** Every start of a container with its time, such as `12.345 web/main`, and the recording of the agent. */
export interface SimulatedDay {
  readonly starts: readonly string[];
  readonly recording: readonly RecordingEntry[];
}

/** Runs an agent with these pods for `seconds` of virtual time, and records it. The same seed gives the same day. */
export const simulateNode = (
  pods: readonly Pod[],
  behaviours: NodeBehaviours,
  { seed, seconds, ...options }: { readonly seed: number; readonly seconds: number } & Partial<KubeletOptions>,
): SimulatedDay => {
  const scheduler = new VirtualScheduler();
  const begin = scheduler.now();
  const starts: string[] = [];
  const recording: RecordingEntry[] = [];

  const node = simulatedNode({
    seed,
    scheduler,
    nodeName: NODE_NAME,
    behaviours,
    options,
    sources: { file: simulatedSource('file', { scheduler }, pods).event$ },
    tell: (event: WorldEvent) => {
      if (event.kind === 'container-started') {
        starts.push(`${((event.at - begin) / 1000).toFixed(3)} ${event.pod}/${event.container}`);
      }
    },
    makeKubelet: (ports, all) =>
      recordKubelet(kubelet, ports, all, { by: 'an example', write: (entry) => recording.push(entry) }),
  });
  node.start();
  scheduler.runUntil(begin + seconds * 1000);
  node.dispose();
  return { starts, recording };
};
