import type { SimulatedContainer } from './container.js';
import type { RuntimeParts } from './runtime-parts.js';

const UNKNOWN_EXIT_CODE = 255;
const UNKNOWN = 'Unknown';

/**
 * Ends every process and sandbox with the machine; the returned function is the boot, from which the ends have their time. Afterwards the
 * runtime shows its records: a container whose end is recorded as it ended, any other that was started with the exit code 255 and the reason
 * `Unknown`, and one that was never started as created.
 *
 * Metadata of containers and sandboxes are in a database that syncs each transaction: none is lost. The status of a container is a file that is
 * synced and renamed, but its directory is not synced: starts and ends of the last `forgetsMs` are lost, so that the older record counts.
 *
 * Source: containerd internal/cri/server/restart.go loadContainer, internal/cri/store/container/status.go
 */
export const powerLoss = ({ world, store, processes, stamp }: RuntimeParts, forgetsMs: number): (() => void) => {
  const { scheduler, tell } = world;
  const at = scheduler.now();
  const isRecorded = (time: number | undefined): boolean => time !== undefined && time <= at - forgetsMs;
  const ends: SimulatedContainer[] = [];
  const endUnknown = (container: SimulatedContainer): void =>
    container.ended({ at: stamp(), exitCode: UNKNOWN_EXIT_CODE, reason: UNKNOWN, message: '' }, scheduler.now());

  for (const container of store.containers.values()) {
    processes.vanish(container);
    const { state, startedAtMs, endedAtMs, told } = container;
    if (state === 'CONTAINER_CREATED' || (state === 'CONTAINER_EXITED' && isRecorded(endedAtMs))) continue;
    if (isRecorded(startedAtMs)) {
      endUnknown(container);
      ends.push(container);
      tell({ kind: 'container-exited', at, exitCode: UNKNOWN_EXIT_CODE, ...told });
    } else {
      container.forgetStart();
      tell({ kind: 'container-start-lost', at, ...told });
    }
  }
  for (const sandbox of store.sandboxes.values()) {
    if (!sandbox.isReady) continue;
    sandbox.stop();
    tell({ kind: 'sandbox-stopped', at, ...sandbox.told });
  }
  return () => ends.forEach(endUnknown);
};
