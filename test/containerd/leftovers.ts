import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeProcess, processesNaming } from '../embedded/processes.js';
import type { ListedContainer, ListedSandbox } from '../embedded/runtime-view.js';
import type { Watch } from '../embedded/watch.js';
import type { ContainerdNode } from './containerd-node.js';

/**
 * What exists beside what is wanted, in words. `known` belongs to a sandbox that the runtime lists, so the agent is to blame:
 * it could have had it removed. `lost` belongs to nothing that the runtime lists, or to a sandbox that it refuses to remove: a
 * killed containerd has forgotten what it was about to make, and no client can ask it to remove that.
 */
export interface Leftovers {
  readonly known: readonly string[];
  readonly lost: readonly string[];
}

/** Shims, addresses and network namespaces of sandboxes that are not ready, by whether the runtime still knows of them. */
export const leftovers = async (node: ContainerdNode): Promise<Leftovers> => {
  const found = [...shims(node), ...addresses(node)];
  const sandboxes = await node.sandboxes();
  const ready = new Set(sandboxes.filter(({ state }) => state === 'SANDBOX_READY').map(({ id }) => id));
  const stuck = await stuckSandboxes(node);
  const listed = new Set(sandboxes.map(({ id }) => id).filter((id) => !stuck.has(id)));
  const superfluous = found.filter(({ sandbox }) => !ready.has(sandbox));
  const networks = node.networks().length - ready.size;
  return {
    known: superfluous.filter(({ sandbox }) => listed.has(sandbox)).map(({ text }) => text),
    lost: [
      ...superfluous.filter(({ sandbox }) => !listed.has(sandbox)).map(({ text }) => text),
      ...(networks > 0 ? [`${networks} network namespaces too many`] : []),
    ],
  };
};

/**
 * The ids of sandboxes with a container that containerd lists as exited and refuses to remove. Its 1.6 keeps the task of a
 * container whose StartContainer was cancelled after the shim had made it ("failed to get task pid: context canceled"), until it
 * starts again. The agent has tried: its log has the refusals.
 */
export const stuckSandboxes = async (node: ContainerdNode): Promise<ReadonlySet<string>> => {
  const refused = new Set(Array.from(node.log.matchAll(/cannot delete running task ([0-9a-f]{64})/g), ([, id]) => id));
  const containers = await node.containers();
  return new Set(
    containers
      .filter(({ id, state }) => state === 'CONTAINER_EXITED' && refused.has(id))
      .map(({ sandboxId }) => sandboxId),
  );
};

/**
 * Those of the sandboxes that garbage collection has to remove. A killed containerd may lose a sandbox. Its pod has another one
 * then, and the lost one stays while it has the former container that is kept.
 */
export const superfluousSandboxes = (
  sandboxes: readonly ListedSandbox[],
  containers: readonly ListedContainer[],
): readonly ListedSandbox[] => {
  const ready = sandboxes.filter(({ state }) => state === 'SANDBOX_READY');
  return sandboxes.filter(
    (one) =>
      !ready.includes(one) &&
      !(ready.some(({ uid }) => uid === one.uid) && containers.some(({ sandboxId }) => sandboxId === one.id)),
  );
};

/**
 * The ids of containers whose StartContainer was cancelled after the shim had made the task. containerd 1.6 lists such a container
 * as exited, and as unknown once it has started again. Its own log has each of them.
 */
const halfStarted = (node: ContainerdNode): ReadonlySet<string> =>
  new Set(
    Array.from(
      readFileSync(join(node.stage, 'containerd.log'), 'utf8').matchAll(
        /StartContainer for \\"([0-9a-f]{64})\\" failed" error="failed to create containerd task: failed to get task pid/g,
      ),
      ([, id = '']) => id,
    ),
  );

/** The violations of a watch but those that are containerd's own: half-started containers that it lists as unknown later. */
export const violationsOfAgent = (node: ContainerdNode, { violations }: Watch): readonly string[] => {
  const ids = [...halfStarted(node)];
  return violations.filter(
    (violation) => !ids.some((id) => violation.endsWith(`(${id}) had ended and is CONTAINER_UNKNOWN`)),
  );
};

interface Found {
  readonly sandbox: string;
  readonly text: string;
}

const shims = (node: ContainerdNode): readonly Found[] =>
  processesNaming([join(node.stage, 'containerd.sock')])
    .map(describeProcess)
    .filter((line) => line.includes('containerd-shim'))
    .map((line) => ({ sandbox: /-id ([0-9a-f]{64})/.exec(line)?.[1] ?? '', text: `shim ${line}` }));

/** Each address is a file that names who has it. */
const addresses = (node: ContainerdNode): readonly Found[] => {
  const root = join(node.stage, 'cni-addresses');
  return readdirSync(root).flatMap((network) =>
    readdirSync(join(root, network))
      .filter((file) => /^\d+(\.\d+){3}$/.test(file))
      .flatMap((file) => {
        try {
          const sandbox = readFileSync(join(root, network, file), 'utf8').split(/\r?\n/)[0] ?? '';
          return [{ sandbox: sandbox.trim(), text: `address ${file} of ${sandbox}` }];
        } catch {
          // It was given back meanwhile.
          return [];
        }
      }),
  );
};
