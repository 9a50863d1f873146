import { defer, map, type Observable, of, timer } from 'rxjs';
import type { PodFigures, SignalObservations } from '../../../model/eviction/figures.js';
import { uidsOf } from '../../../model/pod/pod.js';
import type { EvictionFigures } from '../../../streams/ports/eviction-figures.js';
import type { ResourceUse } from '../histories/history.js';
import type { SimulatedContainer } from '../runtime/container.js';
import type { VirtualScheduler } from '../world/virtual-scheduler.js';
import type { TellWorld } from '../world/world-event.js';
import type { AgentLife } from './agent-life.js';

/** What each container takes, by its name. */
export type ContainerUse = Readonly<Record<string, ResourceUse>>;

/** The units of each resource of a simulated node. */
export const NODE_UNITS = 1_000;
/** The bytes of images that take one unit of the disk. */
const BYTES_PER_UNIT = 1_000_000n;
/** The time of every reply, in milliseconds. */
const REPLY_MS = 1;

export interface SimulatedResourcesOptions {
  readonly scheduler: VirtualScheduler;
  readonly tell: TellWorld;
  readonly use: ContainerUse;
  /** Those of the runtime, ended ones included. */
  readonly containers: () => Iterable<SimulatedContainer>;
  readonly imageBytes: () => bigint;
  readonly wallClock: () => number;
}

/** The memory, the disk and the process IDs of a simulated node. Images, the node and its containers share one disk. */
export interface SimulatedResources {
  /** The port of one life of the agent. */
  readonly figures: (life: AgentLife) => EvictionFigures;
  /** Takes some units for something beside the pods, or gives them back. */
  readonly fill: (resource: keyof ResourceUse, amount: number) => void;
}

const NOTHING: ResourceUse = { memory: 0, disk: 0, pids: 0 };

export const simulatedResources = (options: SimulatedResourcesOptions): SimulatedResources => {
  const { scheduler, tell, use, containers, imageBytes, wallClock } = options;
  let filled = NOTHING;
  const useOf = ({ told }: SimulatedContainer): ResourceUse => use[told.container] ?? NOTHING;
  const taken = (resource: keyof ResourceUse): number =>
    [...containers()]
      // A container that has ended still has its files.
      .filter(({ isRunning }) => isRunning || resource === 'disk')
      .reduce((sum, container) => sum + useOf(container)[resource], filled[resource]);
  const observe = (): SignalObservations => {
    const timeMs = wallClock();
    const of = (used: number) => ({ available: Math.max(0, NODE_UNITS - used), capacity: NODE_UNITS, timeMs });
    const disk = of(taken('disk') + Number(imageBytes() / BYTES_PER_UNIT));
    return {
      'memory.available': of(taken('memory')),
      'nodefs.available': disk,
      'imagefs.available': disk,
      'pid.available': of(taken('pids')),
    };
  };
  const measure = (uids: ReadonlySet<string>): readonly PodFigures[] => {
    const byUid = new Map<string, SimulatedContainer[]>();
    for (const container of containers())
      if (container.isRunning) byUid.set(container.told.uid, [...(byUid.get(container.told.uid) ?? []), container]);
    return [...byUid]
      .filter(([uid]) => uids.has(uid))
      .map(([uid, running]) => ({
        uid,
        workingSet: running.reduce((sum, container) => sum + useOf(container).memory, 0),
        processes: running.reduce((sum, container) => sum + useOf(container).pids, 0),
        containers: running.map((container) => ({
          name: container.told.container,
          workingSet: useOf(container).memory,
          rootfs: { bytes: useOf(container).disk },
          logs: { bytes: 0 },
        })),
        volumes: [],
      }));
  };
  return {
    figures: (life) => {
      const reply = <T>(read: () => T): Observable<T> =>
        defer(() => timer(REPLY_MS, life.scheduler)).pipe(map(() => read()));
      return {
        node: () =>
          reply(() => {
            const observations = observe();
            tell({ kind: 'node-measured', at: scheduler.now(), observations });
            return observations;
          }),
        pods: (pods) =>
          reply(() => {
            const figures = measure(uidsOf(pods));
            tell({ kind: 'pods-measured', at: scheduler.now(), figures });
            return figures;
          }),
        devices: () => of({ node: 'disk', images: 'disk', containers: 'disk' }),
      };
    },
    fill: (resource, amount) => {
      filled = { ...filled, [resource]: filled[resource] + amount };
    },
  };
};
