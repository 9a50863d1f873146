import { join } from 'node:path';
import type { TestAPI } from 'vitest';
import { QUICK_RESTARTS } from '../embedded/quick-restarts.js';
import { CriProxy } from '../support/cri-proxy.js';
import { type ContainerdNode, it as baseIt } from './containerd-node.js';

/** Fields of a `KubeletConfiguration`: calls fail after seconds, not minutes, but no call of a busy machine takes that long. */
export const IMPATIENT = { ...QUICK_RESTARTS, runtimeRequestTimeout: '15s' };

/** `it` with a proxy in front of containerd that can be made to misbehave. */
export const proxied = (
  base: TestAPI<{ readonly node: ContainerdNode }>,
): TestAPI<{ readonly node: ContainerdNode; readonly proxy: CriProxy }> =>
  base.extend<{ readonly proxy: CriProxy }>({
    proxy: async ({ node }, use) => {
      const proxy = await CriProxy.start(join(node.stage, 'containerd.sock'), join(node.directory, 'proxy.sock'));
      try {
        await use(proxy);
      } finally {
        // The agent is still there and will not find it again.
        await proxy.close();
      }
    },
  });

/** Over the containerd of the machine. */
export const it = proxied(baseIt);

/** Starts the agent on the folder of manifests, over the proxy. */
export const startOver = (
  node: ContainerdNode,
  proxy: CriProxy,
  configuration: Readonly<Record<string, unknown>> = QUICK_RESTARTS,
): Promise<void> =>
  node.start('--container-runtime-endpoint', proxy.endpoint, '--config', node.configuration(configuration));
