import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeProcess, processesNaming } from '../embedded/processes.js';
import type { ContainerdNode } from './containerd-node.js';

/**
 * What exists beside what is wanted, in words. `known` belongs to a sandbox that the runtime lists, so the agent is to blame:
 * it could have had it removed. `lost` belongs to nothing that the runtime lists: a killed containerd has forgotten what it
 * was about to make, and nobody can ask it to remove that.
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
  const listed = new Set(sandboxes.map(({ id }) => id));
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
