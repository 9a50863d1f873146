import { type Container, isSidecar, type Pod, type Probe } from '../pod/pod.js';
import { type ProbePace, probePace } from './probe-pace.js';
import { PROBE_TYPES, type ProbeType } from './probe-type.js';
import { allNamed } from '../values/indexed-lists.js';

export { PROBE_TYPES, type ProbeType };

/** The probe's result for an instance. A startup probe begins with `unknown`. */
export type ProbeResult = 'success' | 'failure' | 'unknown';

/** One probe of one container, from the time when its worker was created: probes of a pod never change. */
export interface ProbeWorker {
  readonly type: ProbeType;
  readonly pod: Pod;
  readonly container: Container;
  readonly probe: Probe;
  readonly pace: ProbePace;
}

/**
 * Returns the workers that a pod needs: for every regular container, then for every sidecar. Other init containers and
 * ephemeral containers are not probed.
 *
 * Source: pkg/kubelet/prober/prober_manager.go AddPod
 */
export const probeWorkersOf = (pod: Pod): readonly ProbeWorker[] =>
  [...pod.spec.containers, ...(pod.spec.initContainers ?? []).filter(isSidecar)].flatMap((container) =>
    PROBE_TYPES.flatMap((type): readonly ProbeWorker[] => {
      const probe = probeOf(container, type);
      return probe ? [{ type, pod, container, probe, pace: probePace(pod, container.name, type, probe) }] : [];
    }),
  );

export const probeOf = (container: Container, type: ProbeType): Probe | undefined => container[`${type}Probe`];

/** Returns the container of this pod that such workers probe. */
export const isProbed = (pod: Pod, containerName: string, type: ProbeType): boolean =>
  [
    ...allNamed(pod.spec.containers, containerName),
    ...allNamed(pod.spec.initContainers ?? [], containerName).filter(isSidecar),
  ].some((container) => probeOf(container, type) !== undefined);
