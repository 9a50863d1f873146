import type { Observable, Subscription } from 'rxjs';
import type { ContainerConfig, DeepPartial, PodSandboxConfig } from '../../../src/generated/runtime/v1/api.js';
import { containerAnnotations, containerLabels, sandboxLabels } from '../../../src/model/cri/labels.js';
import { CriError } from '../../../src/model/cri/cri-error.js';
import type { Container } from '../../../src/model/pod/pod.js';
import type { NodeBehaviours } from '../../../src/tools/sim/world/behaviour.js';
import { type NodeClock, nodeClock } from '../../../src/tools/sim/world/node-clock.js';
import { type SimulatedRuntime, simulatedRuntime } from '../../../src/tools/sim/runtime/simulated-runtime.js';
import { type SeededRandom, seededRandom } from '../../../src/tools/sim/world/seeded-random.js';
import { type SimulatedDisk, simulatedDisk } from '../../../src/tools/sim/disk/simulated-disk.js';
import { VirtualScheduler } from '../../../src/tools/sim/world/virtual-scheduler.js';
import type { WorldEvent } from '../../../src/tools/sim/world/world-event.js';
import { aPod } from '../../support/a-pod.js';

/** How a call went. */
export type Heard<T> =
  | { readonly value: T; readonly at: number }
  | { readonly error: string; readonly code: string; readonly at: number }
  | 'nothing yet';

export interface RuntimeStage {
  readonly scheduler: VirtualScheduler;
  readonly clock: NodeClock;
  readonly disk: SimulatedDisk;
  readonly simulated: SimulatedRuntime;
  readonly told: WorldEvent[];
  /** Asks now; the answers show in `heard`. */
  readonly ask: <T>(call$: Observable<T>) => Asked<T>;
  /** Asks, and lets time pass until there is an answer. Errors: that of the call. */
  readonly answer: <T>(call$: Observable<T>) => T;
  readonly sandbox: (sketch?: SandboxSketch) => string;
  readonly create: (sandboxId: string, sketch?: ContainerSketch) => string;
  /** Creates and starts it. */
  readonly run: (sandboxId: string, sketch?: ContainerSketch) => string;
}

export interface Asked<T> {
  readonly heard: () => Heard<T>;
  readonly subscription: Subscription;
}

export interface SandboxSketch {
  readonly uid?: string;
  readonly name?: string;
  readonly attempt?: number;
  readonly isOnNodeNetwork?: boolean;
}

export interface ContainerSketch {
  readonly name?: string;
  readonly attempt?: number;
  readonly spec?: Partial<Container>;
  readonly config?: DeepPartial<ContainerConfig>;
}

/**
 * A runtime whose calls take exactly 2 ms, one on each way, and whose events take 1 ms, unless the behaviours say otherwise. What
 * they leave open is drawn by the seed, if there is one, and else is in the middle.
 */
export const runtimeStage = (behaviours: NodeBehaviours = {}, seed?: number | string): RuntimeStage => {
  const scheduler = new VirtualScheduler({ startMs: 0 });
  const clock = nodeClock(scheduler);
  const told: WorldEvent[] = [];
  const random = seed === undefined ? midway(seededRandom('midway')) : seededRandom(seed);
  const disk = simulatedDisk({ scheduler, random });
  const simulated = simulatedRuntime({
    ...{ scheduler, clock, disk, random },
    behaviours: { callMs: { min: 2, max: 2 }, images: { '*': { isPresent: true } }, ...behaviours },
    nodeName: 'node-1',
    tell: (event) => told.push(event),
  });

  const ask = <T>(call$: Observable<T>): Asked<T> => {
    let heard: Heard<T> = 'nothing yet';
    const subscription = call$.subscribe({
      next: (value) => (heard = { value, at: scheduler.now() }),
      error: (error: unknown) => {
        const { code, message } = error as CriError;
        heard = { error: message, code, at: scheduler.now() };
      },
    });
    return { heard: () => heard, subscription };
  };
  const answer = <T>(call$: Observable<T>): T => {
    const { heard } = ask(call$);
    while (heard() === 'nothing yet' && scheduler.step());
    const end = heard();
    if (end === 'nothing yet') throw new Error('there is no answer');
    if ('error' in end) throw new CriError(end.code as CriError['code'], '', end.error);
    return end.value;
  };

  const sandbox: RuntimeStage['sandbox'] = (sketch = {}) =>
    answer(simulated.runtime.runPodSandbox({ config: sandboxConfig(sketch) })).podSandboxId;
  const create: RuntimeStage['create'] = (podSandboxId, sketch = {}) => {
    const of = simulated.sandboxes().find(({ sandboxId }) => sandboxId === podSandboxId);
    const config = containerConfig(of?.pod ?? 'web', of?.uid ?? 'uid-1', sketch);
    return answer(simulated.runtime.createContainer({ podSandboxId, config })).containerId;
  };
  return {
    ...{ scheduler, clock, disk, simulated, told, ask, answer, sandbox, create },
    run: (sandboxId, sketch) => {
      const containerId = create(sandboxId, sketch);
      answer(simulated.runtime.startContainer({ containerId }));
      return containerId;
    },
  };
};

const midway = (random: SeededRandom): SeededRandom => ({
  ...random,
  integer: (min, max) => Math.floor((min + max) / 2),
  fork: (name) => midway(random.fork(name)),
});

export const sandboxConfig = ({
  uid = 'uid-1',
  name = 'web',
  attempt = 0,
  isOnNodeNetwork = false,
}: SandboxSketch = {}): DeepPartial<PodSandboxConfig> => ({
  metadata: { uid, name, namespace: 'default', attempt },
  labels: sandboxLabels(aPod({ uid, name, labels: { app: name } })),
  annotations: { note: 'kept' },
  logDirectory: `/var/log/pods/default_${name}_${uid}`,
  linux: { securityContext: { namespaceOptions: { network: isOnNodeNetwork ? 'NODE' : 'POD', pid: 'CONTAINER' } } },
});

export const containerConfig = (
  pod: string,
  uid: string,
  { name = 'main', attempt = 0, spec, config }: ContainerSketch = {},
): DeepPartial<ContainerConfig> => {
  const container = { name, image: 'nginx', ...spec };
  const of = aPod({ uid, name: pod, spec: { containers: [container] } });
  return {
    metadata: { name, attempt },
    image: { image: 'nginx', userSpecifiedImage: 'nginx' },
    labels: containerLabels(of, container),
    annotations: containerAnnotations(of, container, attempt),
    logPath: `${name}/${attempt}.log`,
    ...config,
  };
};
