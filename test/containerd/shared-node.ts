import { it as baseIt, type TestAPI } from 'vitest';
import { keepLog } from '../embedded/daemon.js';
import type { ContainerdNode } from './containerd-node.js';

/** What to do with one node that the tests of a file share. */
export interface SharedNode<N extends ContainerdNode> {
  readonly node: N;
  /** Between the start of the runtime and that of the first agent. */
  readonly prepare?: () => Promise<void>;
  /** Starts an agent. */
  readonly start: () => Promise<void>;
  /** After the node has ended. */
  readonly close?: () => void | Promise<void>;
}

interface Shared<N extends ContainerdNode> {
  readonly node: N;
  /** Starts what does not run of agent and runtime. */
  readonly isThere: () => Promise<void>;
}

/**
 * `it` with one node for all tests of a file, which is ended after the last one, in any case, and leaves nothing. A test finds it running,
 * even if the one before has failed while it was away; the end of its log comes with a failure.
 */
export const itOnShared = <N extends ContainerdNode>(
  make: () => Promise<SharedNode<N>>,
): TestAPI<{ readonly shared: Shared<N>; readonly node: N }> =>
  baseIt.extend<{ readonly shared: Shared<N>; readonly node: N }>({
    shared: [
      async ({}, use) => {
        const { node, prepare, start, close } = await make();
        let starting: Promise<void> | undefined;
        const startWhatIsAway = async (): Promise<void> => {
          if (!node.isRuntimeThere()) await node.startRuntime();
          if (!node.isAgentThere()) await start();
        };
        // Tests that begin together start it once.
        const isThere = (): Promise<void> =>
          (starting ??= startWhatIsAway().finally(() => {
            starting = undefined;
          }));
        try {
          await node.startRuntime();
          await prepare?.();
          await start();
          await use({ node, isThere });
        } finally {
          await node.dispose();
          await close?.();
        }
      },
      { scope: 'file' },
    ],
    node: async ({ shared, task, onTestFailed }, use) => {
      onTestFailed(() => keepLog(task, shared.node));
      await shared.isThere();
      await use(shared.node);
    },
  });
