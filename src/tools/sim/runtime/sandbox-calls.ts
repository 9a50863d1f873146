import { CriError } from '../../../model/cri/cri-error.js';
import type { RuntimeService } from '../../../streams/ports/runtime-service.js';
import { removeContainer } from './container-calls.js';
import { infoOf } from './info-of.js';
import type { RuntimeParts } from './runtime-parts.js';
import { isOnNodeNetwork, SimulatedSandbox } from './sandbox.js';
import { sandboxName, selects } from './runtime-store.js';

type SandboxCalls = Pick<
  RuntimeService,
  | 'runPodSandbox'
  | 'stopPodSandbox'
  | 'removePodSandbox'
  | 'podSandboxStatus'
  | 'listPodSandbox'
  | 'updatePodSandboxResources'
>;

/** The runtime's calls for sandboxes. Source: containerd internal/cri/server/sandbox_*.go */
export const sandboxCalls = (parts: RuntimeParts): SandboxCalls => {
  const { world, transport, store, events, newId, stamp } = parts;
  const { scheduler, tell, behaviours, random, daemon } = world;
  const making = random.fork('sandboxes');
  const givenUp = random.fork('given-up-sandboxes');
  let addresses = 0;
  const nextAddress = (): string => {
    addresses += 1;
    return `10.${88 + (addresses >> 16)}.${(addresses >> 8) & 255}.${addresses & 255}`;
  };

  return {
    runPodSandbox: transport.unary('RunPodSandbox', ({ config = {}, runtimeHandler = '' }, answer) => {
      const { name, namespace, uid } = config.metadata ?? {};
      if (!name || !namespace || !uid) {
        throw new CriError('invalid-argument', 'RunPodSandbox', 'sandbox config must include metadata');
      }
      const id = newId();
      const attempt = config.metadata?.attempt ?? 0;
      const reserved = sandboxName({ pod: name, namespace, uid, attempt });
      store.reserve('RunPodSandbox', 'sandbox', reserved, id);
      const { min, max } = behaviours.sandboxMs ?? { min: 0, max: 0 };
      const make = () => {
        const ip = isOnNodeNetwork(config) ? '' : nextAddress();
        const sandbox = new SimulatedSandbox(id, config, runtimeHandler, stamp(), ip);
        store.addSandbox(sandbox);
        tell({ kind: 'sandbox-created', at: scheduler.now(), ...sandbox.told });
        events.send('CREATED', id, sandbox);
        events.send('STARTED', id, sandbox);
        answer.value({ podSandboxId: id });
      };
      const takesMs = making.integer(min, max);
      if (takesMs === 0) make();
      else {
        const made = daemon().schedule(make, takesMs);
        answer.whenGivenUp(() => {
          if (store.sandboxes.has(id) || !givenUp.chance(behaviours.breaksOffGivenUp ?? 0)) return;
          made.unsubscribe();
          store.release(reserved);
        });
      }
    }),
    stopPodSandbox: transport.sync('StopPodSandbox', ({ podSandboxId = '' }) => {
      const sandbox = store.sandboxes.get(podSandboxId);
      if (sandbox) stopSandbox(parts, sandbox);
      return {};
    }),
    // The cgroup of the pod is the agent's: the runtime only takes note.
    updatePodSandboxResources: transport.sync('UpdatePodSandboxResources', ({ podSandboxId }) => {
      store.sandbox('UpdatePodSandboxResources', podSandboxId);
      return {};
    }),
    removePodSandbox: transport.sync('RemovePodSandbox', ({ podSandboxId = '' }) => {
      const sandbox = store.sandboxes.get(podSandboxId);
      if (!sandbox) return {};
      stopSandbox(parts, sandbox);
      for (const container of store.containersIn(sandbox)) removeContainer(parts, container, 'RemovePodSandbox');
      store.removeSandbox(sandbox);
      tell({ kind: 'sandbox-removed', at: scheduler.now(), ...sandbox.told });
      events.send('DELETED', sandbox.id, sandbox);
      return {};
    }),
    podSandboxStatus: transport.sync('PodSandboxStatus', ({ podSandboxId, verbose }) => ({
      status: store.sandbox('PodSandboxStatus', podSandboxId).status,
      info: infoOf(verbose),
      containersStatuses: [],
      timestamp: 0n,
    })),
    listPodSandbox: transport.sync('ListPodSandbox', ({ filter = {} }) => {
      const { id, state, labelSelector } = filter;
      const items = [];
      for (const sandbox of store.sandboxesFor(labelSelector)) {
        const { listed } = sandbox;
        if (id && listed.id !== id) continue;
        if (state && listed.state !== (state.state ?? 'SANDBOX_READY')) continue;
        if (labelSelector && !selects(labelSelector, listed.labels)) continue;
        items.push(listed);
      }
      return { items };
    }),
  };
};

/** Kills its containers and removes its network. Does nothing if it has stopped already. */
export const stopSandbox = ({ world, store, events, processes }: RuntimeParts, sandbox: SimulatedSandbox): void => {
  for (const container of store.containersIn(sandbox)) processes.kill(container);
  if (!sandbox.isReady) return;
  sandbox.stop();
  world.tell({ kind: 'sandbox-stopped', at: world.scheduler.now(), ...sandbox.told });
  events.send('STOPPED', sandbox.id, sandbox);
};
