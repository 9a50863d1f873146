import type { TestAPI } from 'vitest';
import { ContainerdNode } from './containerd-node.js';
import { itOnShared } from './shared-node.js';

/**
 * `it` with one containerd and one agent for all tests of a file, so that each has to give its pods names of their own. The agent cannot
 * remove what has ended of `keptPods`.
 */
export const onOneNode = (
  flags: (node: ContainerdNode) => readonly string[] = () => [],
  { keptPods }: { readonly keptPods?: RegExp } = {},
): TestAPI<{ readonly node: ContainerdNode }> =>
  itOnShared(async () => {
    const node = new ContainerdNode();
    return {
      node,
      prepare: async () => {
        if (keptPods) await node.keepEnded(keptPods);
      },
      start: () => node.start(...flags(node)),
    };
  });
