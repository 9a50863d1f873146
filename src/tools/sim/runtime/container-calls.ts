import { CriError } from '../../../model/cri/cri-error.js';
import type { RuntimeService } from '../../../streams/ports/runtime-service.js';
import { instanceBehaviour } from './behaviour-of.js';
import { SimulatedContainer } from './container.js';
import { infoOf } from './info-of.js';
import type { RuntimeParts } from './runtime-parts.js';
import { containerName, selects } from './runtime-store.js';

type ContainerCalls = Pick<
  RuntimeService,
  | 'createContainer'
  | 'startContainer'
  | 'stopContainer'
  | 'removeContainer'
  | 'listContainers'
  | 'containerStatus'
  | 'updateContainerResources'
  | 'containerStats'
  | 'reopenContainerLog'
>;

/** The runtime's calls for containers. Source: containerd internal/cri/server/container_*.go */
export const containerCalls = (parts: RuntimeParts): ContainerCalls => {
  const { world, transport, store, events, processes, images, newId, stamp } = parts;
  const { scheduler, tell, behaviours, nodeName, daemon, disk, random } = world;
  const givenUp = random.fork('given-up-starts');
  /** The number of instances, by pod and container. */
  const instances = new Map<string, number>();

  return {
    createContainer: transport.sync('CreateContainer', ({ podSandboxId, config = {} }) => {
      const sandbox = store.sandbox('CreateContainer', podSandboxId);
      const { name: container = '', attempt = 0 } = config.metadata ?? {};
      const wanted = config.image?.image ?? '';
      const id = newId();
      const { uid, pod, namespace } = sandbox.told;
      const name = containerName({ uid, pod, namespace, container, attempt });
      store.reserve('CreateContainer', 'container', name, id);
      const found = images.find(wanted);
      if (!found) {
        store.release(name);
        const why = `failed to resolve image "${wanted}": image "${wanted}": not found`;
        throw new CriError('not-found', 'CreateContainer', why);
      }
      const index = instances.get(`${uid}/${container}`) ?? 0;
      instances.set(`${uid}/${container}`, index + 1);
      const made = new SimulatedContainer({
        id,
        sandbox,
        config,
        createdAt: stamp(),
        createdAtMs: scheduler.now(),
        image: { id: found.id, name: found.repoTags[0] ?? found.id, ref: found.repoDigests[0] ?? found.id },
        behaviour: instanceBehaviour(behaviours, { uid, pod, container, index, nodeName }),
      });
      store.addContainer(made);
      tell({ kind: 'container-created', at: scheduler.now(), ...made.told });
      events.send('CREATED', id, sandbox);
      return { containerId: id };
    }),
    startContainer: transport.unary('StartContainer', ({ containerId }, answer) => {
      const container = store.container('StartContainer', containerId);
      const problem = startProblem(container);
      if (problem !== undefined) throw new CriError('unknown', 'StartContainer', problem);
      const breakOff = processes.start(container, (error) => (error ? answer.error(error) : answer.value({})));
      answer.whenGivenUp(() => {
        if (givenUp.chance(behaviours.breaksOffGivenUp ?? 0)) breakOff(givenUp.pick(['ends', 'stays']));
      });
    }),
    stopContainer: transport.unary('StopContainer', ({ containerId = '', timeout = 0n }, answer) => {
      const container = store.containers.get(containerId);
      if (!container) return answer.value({});
      const graceSeconds = Math.max(0, Number(timeout));
      tell({ kind: 'container-stopping', at: scheduler.now(), graceSeconds, ...container.told });
      if (container.state === 'CONTAINER_UNKNOWN') processes.endUnknown(container);
      if (!container.isRunning) return answer.value({});
      const kill = daemon().schedule(() => processes.kill(container), graceSeconds * 1000);
      const done = () => {
        kill.unsubscribe();
        answer.value({});
      };
      container.whenExited.add(done);
      if (graceSeconds === 0) processes.kill(container);
      else processes.askToStop(container);
      answer.whenGivenUp(() => {
        container.whenExited.delete(done);
        if (!behaviours.stopOutlivesCaller) kill.unsubscribe();
      });
    }),
    removeContainer: transport.sync('RemoveContainer', ({ containerId = '' }) => {
      const container = store.containers.get(containerId);
      if (container) removeContainer(parts, container, 'RemoveContainer');
      return {};
    }),
    listContainers: transport.sync('ListContainers', ({ filter = {} }) => {
      const { id, state, podSandboxId, labelSelector } = filter;
      const containers = [];
      for (const { listed } of store.containersFor(labelSelector)) {
        if (id && listed.id !== id) continue;
        if (podSandboxId && listed.podSandboxId !== podSandboxId) continue;
        if (state && listed.state !== (state.state ?? 'CONTAINER_CREATED')) continue;
        if (labelSelector && !selects(labelSelector, listed.labels)) continue;
        containers.push(listed);
      }
      return { containers };
    }),
    containerStatus: transport.sync('ContainerStatus', ({ containerId, verbose }) => ({
      status: store.container('ContainerStatus', containerId).status,
      info: infoOf(verbose),
    })),
    updateContainerResources: transport.sync('UpdateContainerResources', ({ containerId, linux }) => {
      store.container('UpdateContainerResources', containerId).updated(linux);
      return {};
    }),
    // No simulated process uses memory that anything depends on.
    containerStats: transport.sync('ContainerStats', ({ containerId }) => {
      store.container('ContainerStats', containerId);
      return { stats: undefined };
    }),
    reopenContainerLog: transport.sync('ReopenContainerLog', ({ containerId }) => {
      const container = store.container('ReopenContainerLog', containerId);
      if (!container.isRunning) throw new CriError('unknown', 'ReopenContainerLog', 'container is not running');
      disk.writeLog(container.logPath, container.behaviour.logBytesPerSecond ?? 0);
      return {};
    }),
  };
};

const startProblem = ({ state, isStarting, isRemoved }: SimulatedContainer): string | undefined => {
  if (isRemoved) return 'container is in removing state, can not be started';
  if (isStarting) return 'container is already in starting state';
  return state === 'CONTAINER_CREATED' ? undefined : `container is in ${state} state`;
};

/** Kills a running container first. Errors: it is being started. */
export const removeContainer = (
  { world, store, events, processes }: RuntimeParts,
  container: SimulatedContainer,
  call: string,
): void => {
  if (container.state === 'CONTAINER_UNKNOWN') processes.endUnknown(container);
  processes.kill(container);
  if (container.isStarting) {
    const why = `failed to set removing state for container "${container.id}": container is in starting state, can't be removed`;
    throw new CriError('unknown', call, why);
  }
  container.isRemoved = true;
  store.removeContainer(container);
  world.tell({ kind: 'container-removed', at: world.scheduler.now(), ...container.told });
  events.send('DELETED', container.id, container.sandbox);
};
