import { it as baseIt, type TestAPI } from 'vitest';
import { ContainerdNode } from './containerd-node.js';

/**
 * `it` with one containerd and one agent for all tests of a file, so that each has to give its pods names of their own. Both
 * are ended after the last one, in any case, and leave nothing. The agent cannot remove what has ended of `keptPods`.
 */
export const onOneNode = (
  flags: (node: ContainerdNode) => readonly string[] = () => [],
  { keptPods }: { readonly keptPods?: RegExp } = {},
): TestAPI<{ readonly node: ContainerdNode }> =>
  baseIt.extend<{ readonly node: ContainerdNode }>({
    node: [
      async ({}, use) => {
        const node = new ContainerdNode();
        try {
          await node.startRuntime();
          if (keptPods) await node.keepEnded(keptPods);
          await node.start(...flags(node));
          await use(node);
        } finally {
          await node.dispose();
        }
      },
      { scope: 'file' },
    ],
  });
