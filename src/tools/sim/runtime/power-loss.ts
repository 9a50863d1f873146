import { type SimulatedContainer, UNKNOWN_END } from './container.js';
import type { RuntimeParts } from './runtime-parts.js';

/** The records of the runtime that a loss of power takes. */
export interface RuntimeLoss {
  /** Starts and ends of this time before are lost. Milliseconds. */
  readonly forgetsMs: number;
  /** How containers that were created within that time show, whose status is lost altogether; as they are by default. */
  readonly newShow?: 'unknown' | 'gone';
}

/**
 * Ends every process and sandbox with the machine; the returned function is the boot, from which the ends have their time. Afterwards the
 * runtime shows its records: a container whose end is recorded as it ended, any other that was started with the exit code 255 and the reason
 * `Unknown`, and one that was never started as created.
 *
 * Metadata of containers and sandboxes are in a database that syncs each transaction: none is lost. The status of a container is a file that is
 * synced and renamed, but its directory is not synced: starts and ends of the last `forgetsMs` are lost, so that the older record counts.
 * If that of the creation is lost as well, containerd shows a container of an unknown state, and CRI-O removes it at the boot.
 *
 * Source: containerd internal/cri/server/restart.go loadContainer, internal/cri/store/container/status.go
 */
export const powerLoss = (
  { world, store, processes, stamp }: RuntimeParts,
  { forgetsMs, newShow }: RuntimeLoss,
): (() => void) => {
  const { scheduler, tell } = world;
  const at = scheduler.now();
  const isRecorded = (time: number | undefined): boolean => time !== undefined && time <= at - forgetsMs;
  const ends: SimulatedContainer[] = [];
  const endUnknown = (container: SimulatedContainer): void =>
    container.ended({ at: stamp(), ...UNKNOWN_END }, scheduler.now());

  for (const container of [...store.containers.values()]) {
    processes.vanish(container);
    const { state, createdAtMs, startedAtMs, endedAtMs, told } = container;
    if (newShow !== undefined && !isRecorded(createdAtMs)) {
      tell({ kind: 'container-exited', at, exitCode: UNKNOWN_END.exitCode, ...told });
      tell({ kind: 'container-status-lost', at, ...told });
      if (newShow === 'unknown') {
        container.loseStatus();
      } else {
        store.removeContainer(container);
        tell({ kind: 'container-removed', at, ...told });
      }
      continue;
    }
    if (state === 'CONTAINER_CREATED' || (state === 'CONTAINER_EXITED' && isRecorded(endedAtMs))) continue;
    if (isRecorded(startedAtMs)) {
      endUnknown(container);
      ends.push(container);
      tell({ kind: 'container-exited', at, exitCode: UNKNOWN_END.exitCode, ...told });
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
