import type { ServerWritableStream } from '@grpc/grpc-js';
import {
  ContainerConfig,
  PodSandboxConfig,
  type ContainerEventResponse,
  type GetEventsRequest,
  type RuntimeServiceServer,
} from '../../../generated/runtime/v1/api.js';
import type { Logger } from '../../../streams/ports/logger.js';
import { nowNs } from '../machine/clock.js';
import type { Containers } from '../containers/containers.js';
import type { EventHub } from './events.js';
import { execSync } from '../containers/exec.js';
import { unary, unsupportedStream, unsupportedUnary, type Answer } from '../grpc-adapter.js';
import type { Isolation } from '../confinement/isolation.js';
import { hasLabels, type Sandbox, type Sandboxes } from '../sandboxes/sandboxes.js';
import { Stats } from './stats.js';
import type { StreamingCalls } from '../streaming/streaming-calls.js';

const VERSION = '0.1.0';
const METRICS = 'use the statistics calls';
const LISTS = 'use the unary call';

export interface RuntimeServiceParts {
  readonly isolation: Isolation;
  readonly sandboxes: Sandboxes;
  readonly containers: Containers;
  readonly events: EventHub;
  readonly streaming: StreamingCalls;
  readonly stateDirectory: string;
  readonly log: Logger;
}

/** `runtime.v1.RuntimeService` over the parts. Lists and statuses come from memory. */
export const runtimeService = (parts: RuntimeServiceParts): RuntimeServiceServer => {
  const { isolation, sandboxes, containers, events, streaming, log } = parts;
  const stats = new Stats(parts.stateDirectory);
  const serve = <Request, Response>(name: string, answer: Answer<Request, Response>) => unary(name, log, answer);

  const stopSandbox = async (sandbox: Sandbox): Promise<void> => {
    const wasReady = await sandboxes.retire(sandbox);
    await Promise.all(containers.ofSandbox(sandbox.id).map((container) => containers.stop(container, 0)));
    await sandboxes.stop(sandbox);
    if (wasReady) emitSandbox(sandbox, 'CONTAINER_STOPPED_EVENT');
  };
  const emitSandbox = (sandbox: Sandbox, type: ContainerEventResponse['containerEventType']): void =>
    events.emit(sandbox.id, type, () => ({
      sandbox: sandboxes.status(sandbox),
      containers: containers.ofSandbox(sandbox.id).map(containers.status),
    }));
  const info = (verbose: boolean, details: object): { [key: string]: string } =>
    verbose ? { info: JSON.stringify(details) } : {};

  return {
    version: serve('Version', () => ({
      version: VERSION,
      runtimeName: 'rx-embedded',
      runtimeVersion: VERSION,
      runtimeApiVersion: 'v1',
    })),
    status: serve('Status', ({ verbose }) => ({
      status: {
        conditions: ['RuntimeReady', 'NetworkReady'].map((type) => ({ type, status: true, reason: '', message: '' })),
      },
      info: info(verbose, {
        notIsolated: isolation.missing,
        namespaces: [...isolation.namespaces],
        mounts: isolation.namespaces.has('mount'),
        keepsStarts: true,
        sharesNetwork: true,
        securityNotApplied: isolation.securityNotApplied,
      }),
      runtimeHandlers: [
        { name: '', features: { recursiveReadOnlyMounts: isolation.namespaces.has('mount'), userNamespaces: false } },
      ],
      features: { supplementalGroupsPolicy: isolation.isRoot, userNamespacesHostNetwork: false },
    })),
    updateRuntimeConfig: serve('UpdateRuntimeConfig', () => ({})),
    runtimeConfig: serve('RuntimeConfig', () => ({ linux: { cgroupDriver: 'CGROUPFS' as const } })),

    runPodSandbox: serve('RunPodSandbox', async ({ config, runtimeHandler }) => {
      const sandbox = await sandboxes.run(config ?? PodSandboxConfig.create(), runtimeHandler);
      emitSandbox(sandbox, 'CONTAINER_CREATED_EVENT');
      emitSandbox(sandbox, 'CONTAINER_STARTED_EVENT');
      return { podSandboxId: sandbox.id };
    }),
    stopPodSandbox: serve('StopPodSandbox', async ({ podSandboxId }) => {
      const sandbox = sandboxes.find(podSandboxId);
      if (sandbox) await stopSandbox(sandbox);
      return {};
    }),
    removePodSandbox: serve('RemovePodSandbox', async ({ podSandboxId }) => {
      const sandbox = sandboxes.find(podSandboxId);
      if (!sandbox) return {};
      await stopSandbox(sandbox);
      const inside = containers.ofSandbox(podSandboxId);
      await Promise.all(inside.map((container) => containers.remove(container)));
      await sandboxes.remove(sandbox);
      for (const { id } of [sandbox, ...inside]) stats.forget(id);
      emitSandbox(sandbox, 'CONTAINER_DELETED_EVENT');
      return {};
    }),
    podSandboxStatus: serve('PodSandboxStatus', ({ podSandboxId, verbose }) => {
      const sandbox = sandboxes.get(podSandboxId);
      return {
        status: sandboxes.status(sandbox),
        info: info(verbose, {
          pid: sandbox.record.holder?.pid,
          namespaces: [...sandbox.kinds],
          notIsolated: isolation.missing,
        }),
        containersStatuses: containers.ofSandbox(podSandboxId).map(containers.status),
        timestamp: nowNs(),
      };
    }),
    listPodSandbox: serve('ListPodSandbox', ({ filter }) => ({ items: sandboxes.list(filter) })),
    updatePodSandboxResources: unsupportedUnary(
      'UpdatePodSandboxResources',
      "a pod's limits are those of the cgroup that the agent made for it",
    ),

    createContainer: serve('CreateContainer', ({ podSandboxId, config }) => ({
      containerId: containers.create(podSandboxId, config ?? ContainerConfig.create()).id,
    })),
    startContainer: serve('StartContainer', async ({ containerId }) => {
      await containers.start(containerId);
      return {};
    }),
    stopContainer: serve('StopContainer', async ({ containerId, timeout }) => {
      await containers.stop(containers.get(containerId), Number(timeout));
      return {};
    }),
    removeContainer: serve('RemoveContainer', async ({ containerId }) => {
      const container = containers.find(containerId);
      if (container) await containers.remove(container);
      stats.forget(containerId);
      return {};
    }),
    listContainers: serve('ListContainers', ({ filter }) => ({ containers: containers.list(filter) })),
    containerStatus: serve('ContainerStatus', ({ containerId, verbose }) => {
      const container = containers.get(containerId);
      const { record, notEnforced } = container;
      return {
        status: containers.status(container),
        info: info(verbose, {
          sandboxID: record.sandboxId,
          // The number of an ended process may belong to another one.
          pid: record.state === 'running' ? record.main?.pid : undefined,
          limitsNotEnforced: notEnforced,
          notIsolated: isolation.missing,
        }),
      };
    }),
    updateContainerResources: serve('UpdateContainerResources', async ({ containerId, linux }) => {
      await containers.updateResources(containerId, linux);
      return {};
    }),
    reopenContainerLog: serve('ReopenContainerLog', ({ containerId }) => {
      containers.reopenLog(containerId);
      return {};
    }),
    execSync: serve('ExecSync', ({ containerId, cmd, timeout }, signal) => {
      const container = containers.getRunning(containerId);
      const scratchDirectory = containers.directory(containerId);
      const groups = containers.commandGroups;
      return execSync(container, cmd, Number(timeout), { isolation, groups, scratchDirectory, signal, log });
    }),

    getContainerEvents: (call: ServerWritableStream<GetEventsRequest, ContainerEventResponse>) => {
      const stopListening = events.listen((event) => call.write(event));
      call.on('cancelled', stopListening);
      call.on('error', stopListening);
      call.on('close', stopListening);
    },

    containerStats: serve('ContainerStats', ({ containerId }) => ({
      stats: stats.container(containers.get(containerId)),
    })),
    listContainerStats: serve('ListContainerStats', ({ filter }) => ({
      stats: containers
        .all()
        .filter(({ id, sandbox, record, config }) => {
          if (record.state !== 'running') return false;
          if (filter?.id && !id.startsWith(filter.id)) return false;
          if (filter?.podSandboxId && sandbox.id !== filter.podSandboxId) return false;
          return hasLabels(config.labels, filter?.labelSelector ?? {});
        })
        .map((container) => stats.container(container)),
    })),
    podSandboxStats: serve('PodSandboxStats', ({ podSandboxId }) => ({
      stats: stats.sandbox(sandboxes.get(podSandboxId), running(containers, podSandboxId)),
    })),
    listPodSandboxStats: serve('ListPodSandboxStats', ({ filter }) => ({
      stats: sandboxes
        .all()
        .filter(({ id, record, config }) => {
          if (record.state !== 'ready' || (filter?.id && !id.startsWith(filter.id))) return false;
          return hasLabels(config.labels, filter?.labelSelector ?? {});
        })
        .map((sandbox) => stats.sandbox(sandbox, running(containers, sandbox.id))),
    })),

    exec: serve('Exec', streaming.exec),
    attach: serve('Attach', streaming.attach),
    portForward: serve('PortForward', streaming.portForward),
    checkpointContainer: unsupportedUnary('CheckpointContainer', 'host processes cannot be checkpointed'),
    listMetricDescriptors: unsupportedUnary('ListMetricDescriptors', METRICS),
    listPodSandboxMetrics: unsupportedUnary('ListPodSandboxMetrics', METRICS),
    streamPodSandboxMetrics: unsupportedStream('StreamPodSandboxMetrics', METRICS),
    streamPodSandboxes: unsupportedStream('StreamPodSandboxes', LISTS),
    streamContainers: unsupportedStream('StreamContainers', LISTS),
    streamContainerStats: unsupportedStream('StreamContainerStats', LISTS),
    streamPodSandboxStats: unsupportedStream('StreamPodSandboxStats', LISTS),
  };
};

const running = (containers: Containers, sandboxId: string) =>
  containers.ofSandbox(sandboxId).filter(({ record }) => record.state === 'running');
