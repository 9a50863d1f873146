import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ContainerConfig, PodSandboxConfig, type ContainerStatus } from '../../../src/generated/runtime/v1/api.js';
import { injectFaults } from '../../../src/runtime/embedded/machine/machine.js';
import { childrenOf, sendSignal } from '../../../src/runtime/embedded/confinement/process-tree.js';
import { type EmbeddedRuntime, startEmbeddedRuntime } from '../../../src/runtime/embedded/server.js';
import type { ContainerRecord, SandboxRecord } from '../../../src/runtime/embedded/state/state-store.js';
import { clientOf, eventually, isRoot, type RuntimeCalls, runtimeCalls } from './runtime-under-test.js';

const FAILED_PRECONDITION = 9;
const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

let directory = '';
let embedded: EmbeddedRuntime;
let client: Client;
let runtime: RuntimeCalls;
let releaseAll = (): void => undefined;

const serve = async (): Promise<void> => {
  const socketPath = join(directory, 'rt.sock');
  embedded = await startEmbeddedRuntime({ socketPath, stateDirectory: join(directory, 'state'), log: silent });
  client = clientOf(socketPath);
  runtime = runtimeCalls(client);
};

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'rx-slow-disk-'));
  await serve();
});

afterEach(async () => {
  injectFaults(null);
  releaseAll();
  for (const { id } of (await runtime.listPodSandbox({})).items) await runtime.removePodSandbox({ podSandboxId: id });
  client.close();
  await embedded.close();
  rmSync(directory, { recursive: true, force: true });
});

const runPod = async (name: string): Promise<string> => {
  const metadata = { name, namespace: 'default', uid: `uid-${name}`, attempt: 0 };
  const config = PodSandboxConfig.fromPartial({ metadata, logDirectory: join(directory, 'logs', name) });
  return (await runtime.runPodSandbox({ config })).podSandboxId;
};

/** A container that notes its start in the file of its name, and ends with code 3 when there is a file `end-<name>`. */
const create = async (podSandboxId: string, name: string): Promise<string> => {
  const wait = `until [ -e ${directory}/end-${name} ]; do sleep 0.05; done`;
  const config = ContainerConfig.fromPartial({
    metadata: { name, attempt: 0 },
    image: { image: 'host' },
    command: ['/bin/sh', '-c', `echo up; echo up > ${directory}/${name}; ${wait}; exit 3`],
    logPath: `${name}.log`,
  });
  return (await runtime.createContainer({ podSandboxId, config })).containerId;
};

const statusOf = async (containerId: string): Promise<ContainerStatus> =>
  (await runtime.containerStatus({ containerId })).status!;
const stateOf = async (id: string): Promise<string> => (await statusOf(id)).state;
const recordOf = <Record>(file: 'containers/container' | 'sandboxes/sandbox', id: string): Record => {
  const [folder = '', kind = ''] = file.split('/');
  return JSON.parse(readFileSync(join(directory, 'state', folder, id, `${kind}.json`), 'utf8')) as Record;
};

/** A disk that is slow: what is to be written of paths with these words waits. */
const holdBack = (isHeld: (operation: string, path: string) => boolean) => {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  releaseAll = release;
  const paths: string[] = [];
  injectFaults((access, operation, path) => {
    if (access !== 'write' || !isHeld(operation, path)) return undefined;
    paths.push(path);
    return released;
  });
  return {
    paths,
    isWaiting: () => eventually('something is being written', () => paths.length > 0),
    release: () => {
      injectFaults(null);
      release();
    },
  };
};

/** The synced writes of the record of a container. */
const recordsOf =
  (id: string) =>
  (operation: string, path: string): boolean =>
    operation === 'fsync' ? path.endsWith(`/${id}`) : path.endsWith(`/${id}/container.json.new`);

/** What a call has come to so far. */
const outcomeOf = (call: Promise<unknown>) => {
  const outcome: { value: 'pending' | 'done' | number } = { value: 'pending' };
  const settled = call.then(
    () => (outcome.value = 'done'),
    (error: { readonly code: number }) => (outcome.value = error.code),
  );
  return { outcome, settled };
};

describe('while the disk takes its time for the record of a container', () => {
  it('the others are made, started, used and ended, and its own start is not reported', async () => {
    const pod = await runPod('one');
    const [slow, other] = [await create(pod, 'slow'), await create(pod, 'other')];
    const disk = holdBack(recordsOf(slow));
    const start = outcomeOf(runtime.startContainer({ containerId: slow }));
    await disk.isWaiting();

    await runtime.startContainer({ containerId: other });
    expect((await runtime.execSync({ containerId: other, cmd: ['echo', 'out'] })).stdout.toString()).toBe('out\n');
    await eventually('the other one has a log', () =>
      readFileSync(join(directory, 'logs', 'one', 'other.log'), 'utf8').includes('stdout F up'),
    );
    const third = await create(await runPod('two'), 'third');
    await runtime.startContainer({ containerId: third });
    writeFileSync(join(directory, 'end-other'), '');
    await eventually('the other one has ended', async () => (await stateOf(other)) === 'CONTAINER_EXITED');
    expect(await stateOf(third)).toBe('CONTAINER_RUNNING');
    expect([start.outcome.value, await stateOf(slow), existsSync(join(directory, 'slow'))]).toEqual([
      'pending',
      'CONTAINER_CREATED',
      false,
    ]);

    disk.release();
    expect(await start.settled).toBe('done');
    expect(await stateOf(slow)).toBe('CONTAINER_RUNNING');
  });

  it('its changes wait for each other, and none is lost', async () => {
    const pod = await runPod('one');
    const slow = await create(pod, 'slow');
    const disk = holdBack(recordsOf(slow));
    const start = outcomeOf(runtime.startContainer({ containerId: slow }));
    await disk.isWaiting();
    const update = (resources: { readonly cpuShares?: bigint; readonly oomScoreAdj?: bigint }) =>
      outcomeOf(runtime.updateContainerResources({ containerId: slow, linux: resources }));
    const calls = [
      start,
      update({ cpuShares: 512n }),
      update({ oomScoreAdj: 7n }),
      outcomeOf(runtime.stopContainer({ containerId: slow, timeout: 0n })),
    ];
    const again = outcomeOf(runtime.startContainer({ containerId: slow }));
    expect(await again.settled).toBe(FAILED_PRECONDITION);
    // Calls of one connection arrive in their order.
    expect(calls.map(({ outcome }) => outcome.value)).toEqual(calls.map(() => 'pending'));
    expect(disk.paths).toHaveLength(1);

    disk.release();
    expect(await Promise.all(calls.map(({ settled }) => settled))).toEqual(calls.map(() => 'done'));
    const { state, resources } = await statusOf(slow);
    expect([state, resources?.linux?.cpuShares, resources?.linux?.oomScoreAdj]).toEqual(['CONTAINER_EXITED', 512n, 7n]);
    const record = recordOf<ContainerRecord>('containers/container', slow);
    expect([record.state, record.attempts]).toEqual(['exited', 1]);
    const { linux } = ContainerConfig.decode(Buffer.from(record.config, 'base64'));
    expect(linux?.resources).toMatchObject({ cpuShares: 512n, oomScoreAdj: 7n });
  });

  it('its end is not reported', async () => {
    const slow = await create(await runPod('one'), 'slow');
    await runtime.startContainer({ containerId: slow });
    const disk = holdBack(recordsOf(slow));
    writeFileSync(join(directory, 'end-slow'), '');
    await disk.isWaiting();
    expect(await stateOf(slow)).toBe('CONTAINER_RUNNING');
    disk.release();
    await eventually('it has ended', async () => (await stateOf(slow)) === 'CONTAINER_EXITED');
    expect(recordOf<ContainerRecord>('containers/container', slow)).toMatchObject({ state: 'exited', exitCode: 3 });
  });

  it('it is removed after its changes', async () => {
    const slow = await create(await runPod('one'), 'slow');
    await runtime.startContainer({ containerId: slow });
    await runtime.stopContainer({ containerId: slow, timeout: 0n });
    const disk = holdBack(recordsOf(slow));
    const update = outcomeOf(runtime.updateContainerResources({ containerId: slow, linux: { cpuShares: 512n } }));
    await disk.isWaiting();
    const removal = outcomeOf(runtime.removeContainer({ containerId: slow }));
    expect((await runtime.listContainers({})).containers.map(({ id }) => id)).toEqual([slow]);
    disk.release();
    expect([await update.settled, await removal.settled]).toEqual(['done', 'done']);
    expect(existsSync(join(directory, 'state', 'containers', slow))).toBe(false);
  });

  it('a runtime that ends leaves its files to the next one only then', async () => {
    const slow = await create(await runPod('one'), 'slow');
    const disk = holdBack(recordsOf(slow));
    const start = outcomeOf(runtime.startContainer({ containerId: slow }));
    await disk.isWaiting();
    const order: string[] = [];
    const closing = embedded.close().then(() => order.push('closed'));
    expect(typeof (await start.settled)).toBe('number');
    order.push('written');
    disk.release();
    await closing;
    expect(order).toEqual(['written', 'closed']);

    client.close();
    await serve();
    expect([await stateOf(slow), existsSync(join(directory, 'slow'))]).toEqual(['CONTAINER_CREATED', false]);
    await runtime.startContainer({ containerId: slow });
    expect(await stateOf(slow)).toBe('CONTAINER_RUNNING');
  });
});

it.runIf(isRoot)('a pod that is lost while its record is written is not ready', async () => {
  const disk = holdBack((operation, path) => operation === 'fsync' && path.includes('/sandboxes/'));
  const others = childrenOf(process.pid);
  const call = runPod('one');
  await disk.isWaiting();
  const { holder } = recordOf<SandboxRecord>('sandboxes/sandbox', disk.paths[0]!.split('/').at(-1)!);
  sendSignal(holder!.pid, 'SIGKILL');
  await eventually('the runtime has seen its end', () => childrenOf(process.pid).every((pid) => others.includes(pid)));
  disk.release();
  const { status } = await runtime.podSandboxStatus({ podSandboxId: await call });
  expect(status?.state).toBe('SANDBOX_NOTREADY');
});
