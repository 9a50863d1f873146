import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { ContainerConfig, PodSandboxConfig } from '../../../src/generated/runtime/v1/api.js';
import { injectFaults } from '../../../src/runtime/embedded/machine/machine.js';
import { startEmbeddedRuntime } from '../../../src/runtime/embedded/server.js';
import { clientOf, runtimeCalls } from './runtime-under-test.js';

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const WHY = 'a terminal needs the program script of util-linux, which this machine does not have';

it('a machine without script(1) starts no container with a terminal, and says why', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'rx-no-script-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const socketPath = join(directory, 'rt.sock');
  injectFaults((_access, operation, target) => {
    if (operation === 'access' && target.endsWith('/script'))
      throw Object.assign(new Error('none'), { code: 'ENOENT' });
  });
  onTestFinished(() => injectFaults(null));
  const embedded = await startEmbeddedRuntime({ socketPath, stateDirectory: join(directory, 'state'), log: silent });
  onTestFinished(() => embedded.close());
  const client = clientOf(socketPath);
  onTestFinished(() => client.close());
  const runtime = runtimeCalls(client);
  const { podSandboxId } = await runtime.runPodSandbox({
    config: PodSandboxConfig.fromPartial({ metadata: { name: 'p', namespace: 'd', uid: 'u', attempt: 0 } }),
  });
  onTestFinished(async () => void (await runtime.removePodSandbox({ podSandboxId })));
  const container = async (name: string, tty: boolean): Promise<string> => {
    const config = { metadata: { name, attempt: 0 }, image: { image: 'host' }, command: ['sleep', '100000'], tty };
    const created = await runtime.createContainer({ podSandboxId, config: ContainerConfig.fromPartial(config) });
    return created.containerId;
  };

  const containerId = await container('terminal', true);
  await expect(runtime.startContainer({ containerId })).rejects.toMatchObject({ details: WHY });
  const { status } = await runtime.containerStatus({ containerId });
  expect(status).toMatchObject({ state: 'CONTAINER_EXITED', exitCode: 128, reason: 'StartError', message: WHY });

  const plain = await container('plain', false);
  await runtime.startContainer({ containerId: plain });
  await expect(runtime.exec({ containerId: plain, cmd: ['true'], tty: true, stdout: true })).rejects.toMatchObject({
    code: 9,
    details: WHY,
  });
});
