import { statSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canMount } from '../../../src/model/cri/mount-ability.js';
import { unappliedByRuntime } from '../../../src/model/manifest/security-fields.js';
import { eventually, isRoot, RuntimeUnderTest } from './runtime-under-test.js';

const host = new RuntimeUnderTest();
beforeAll(() => host.start());
afterAll(() => host.dispose());
const named = (name: string) => ({ metadata: { name, attempt: 0 } });

describe('the runtime service', () => {
  it('introduces itself and is ready', async () => {
    expect(await host.runtime.version({})).toMatchObject({
      version: '0.1.0',
      runtimeName: 'rx-embedded',
      runtimeApiVersion: 'v1',
    });
    const { status, info } = await host.runtime.status({ verbose: true });
    expect(status?.conditions.map(({ type, status }) => [type, status])).toEqual([
      ['RuntimeReady', true],
      ['NetworkReady', true],
    ]);
    expect(info['info']).toContain('network: containers use the network of this machine');
    expect((await host.runtime.runtimeConfig({})).linux?.cgroupDriver).toBe('CGROUPFS');
    expect(statSync(host.socketPath).mode & 0o777).toBe(0o660);
  });

  it('gives back all that a sandbox was made from, and an address of this machine', async () => {
    const config = host.sandboxConfig('echo', { annotations: { note: 'x' } });
    const id = await host.sandbox('echo', { annotations: { note: 'x' } });
    const { status } = await host.runtime.podSandboxStatus({ podSandboxId: id });
    const { metadata, labels, annotations } = config;
    expect(status).toMatchObject({ id, metadata, labels, annotations, state: 'SANDBOX_READY' });
    const addresses = Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));
    expect([...addresses, '127.0.0.1']).toContain(status?.network?.ip);
    await expect(host.sandbox('echo')).rejects.toMatchObject({
      code: 6,
      details: `name "echo_default_uid-echo_0" is reserved for "${id}"`,
    });
    await host.runtime.removePodSandbox({ podSandboxId: id });
    await host.sandbox('echo');
  });

  it('lists by id, state, sandbox and labels', async () => {
    const [one, two] = [await host.sandbox('list-one'), await host.sandbox('list-two')];
    await host.runtime.stopPodSandbox({ podSandboxId: two });
    const pods = async (filter: object) => (await host.runtime.listPodSandbox({ filter })).items.map(({ id }) => id);
    expect(await pods({ id: one })).toEqual([one]);
    expect(await pods({ id: one.slice(0, 12) })).toEqual([one]);
    expect(await pods({ labelSelector: { app: 'list-two' } })).toEqual([two]);
    expect(await pods({ labelSelector: { app: 'list-two' }, state: { state: 'SANDBOX_READY' } })).toEqual([]);
    expect(await pods({ labelSelector: { app: 'list-two' }, state: { state: 'SANDBOX_NOTREADY' } })).toEqual([two]);
    const created = await host.create(one, 'true', { ...named('a'), labels: { tier: 'web' } });
    const running = await host.run(one, 'exec sleep 1000', { ...named('b'), labels: { tier: 'db' } });
    const containers = async (filter: object) =>
      (await host.runtime.listContainers({ filter })).containers.map(({ id }) => id);
    expect(await containers({ podSandboxId: one })).toEqual([created, running]);
    expect(await containers({ podSandboxId: one, state: { state: 'CONTAINER_RUNNING' } })).toEqual([running]);
    expect(await containers({ podSandboxId: two })).toEqual([]);
    expect(await containers({ labelSelector: { tier: 'web' } })).toEqual([created]);
    expect(await containers({ id: running, labelSelector: { tier: 'web' } })).toEqual([]);
  });

  it('refuses what makes no sense, with a code and a reason', async () => {
    const pod = await host.sandbox('errors');
    const id = await host.run(pod, 'exec sleep 1000');
    await expect(host.runtime.startContainer({ containerId: id })).rejects.toMatchObject({ code: 9 });
    await expect(host.create(pod, 'true')).rejects.toMatchObject({
      code: 6,
      details: `name "main_${pod}_0" is reserved for "${id}"`,
    });
    await expect(host.create('nope', 'true')).rejects.toMatchObject({ code: 5 });
    await expect(host.create(pod, '', { ...named('none'), command: [] })).rejects.toMatchObject({
      code: 3,
      details: 'the image "host" has no default command: set command in the container',
    });
    await expect(host.runtime.stopContainer({ containerId: 'x' })).rejects.toMatchObject({ code: 5 });
    await host.runtime.removeContainer({ containerId: 'x' });
    await host.runtime.stopPodSandbox({ podSandboxId: 'x' });
    await host.runtime.removePodSandbox({ podSandboxId: 'x' });
    await expect(host.runtime.podSandboxStatus({ podSandboxId: 'x' })).rejects.toMatchObject({ code: 5 });
    await expect(host.runtime.streamContainers({})).rejects.toMatchObject({ code: 12 });
    await expect(
      host.runtime.runPodSandbox({ config: host.sandboxConfig('kata'), runtimeHandler: 'kata' }),
    ).rejects.toMatchObject({ code: 3 });
  });

  it('sends every listener what happens, with the state of the pod', async () => {
    const [first, second] = [host.events(), host.events()];
    const probe = await host.sandbox('probe');
    await eventually('both listen', async () => {
      await host.runtime.removePodSandbox({ podSandboxId: probe });
      const other = await host.sandbox('probe-again');
      await host.runtime.removePodSandbox({ podSandboxId: other });
      return first.seen.length > 0 && second.seen.length > 0;
    });
    const pod = await host.sandbox('events');
    const id = await host.run(pod, 'exit 6');
    await host.exited(id);
    await host.runtime.removeContainer({ containerId: id });
    for (const { seen, stop } of [first, second]) {
      const about = await eventually('all four events', () => {
        const found = seen.filter(({ containerId }) => containerId === id);
        return found.length >= 4 ? found : undefined;
      });
      expect(about.map(({ containerEventType }) => containerEventType)).toEqual([
        'CONTAINER_CREATED_EVENT',
        'CONTAINER_STARTED_EVENT',
        'CONTAINER_STOPPED_EVENT',
        'CONTAINER_DELETED_EVENT',
      ]);
      expect(about[2]).toMatchObject({
        podSandboxStatus: { id: pod, state: 'SANDBOX_READY' },
        containersStatuses: [{ id, state: 'CONTAINER_EXITED', exitCode: 6 }],
      });
      stop();
    }
  });

  it('measures a busy container and its pod', async () => {
    const pod = await host.sandbox('busy');
    const containerId = await host.run(pod, 'while :; do :; done');
    const usage = async () => (await host.runtime.containerStats({ containerId })).stats;
    await eventually(
      'it has used a CPU',
      async () => ((await usage())?.cpu?.usageCoreNanoSeconds?.value ?? 0n) > 50_000_000n,
    );
    expect((await usage())?.memory?.workingSetBytes?.value).toBeGreaterThan(0n);
    const { stats } = await host.runtime.podSandboxStats({ podSandboxId: pod });
    expect(stats?.linux?.containers.map(({ attributes }) => attributes?.id)).toEqual([containerId]);
    expect(stats?.linux?.process?.processCount?.value).toBeGreaterThan(0n);
    const { stats: all } = await host.runtime.listContainerStats({ filter: { podSandboxId: pod } });
    expect(all.length).toBe(1);
    await host.runtime.updateContainerResources({ containerId, linux: { cpuShares: 512n } });
    expect((await host.status(containerId)).resources?.linux?.cpuShares).toBe(512n);
    await host.runtime.stopContainer({ containerId, timeout: 0n });
  });
});

describe('the image service', () => {
  it('has one image, by any name', async () => {
    const { images } = await host.images.listImages({});
    expect(images.map(({ repoTags }) => repoTags)).toEqual([['host:latest']]);
    const names = ['host', 'host:latest', 'docker.io/library/host:latest', 'busybox', 'busybox:1', 'busybox:1.37-musl'];
    for (const image of [...names, 'docker.io/library/busybox:latest', images[0]?.id ?? '']) {
      const { image: found } = await host.images.imageStatus({ image: { image } });
      expect(found?.id).toBe(images[0]?.id);
      expect(found?.size).toBeGreaterThan(0n);
    }
    expect((await host.images.pullImage({ image: { image: 'host:latest' } })).imageRef).toBe(images[0]?.id);
  });

  it('says that it has no other', async () => {
    for (const image of ['nginx:1.27', 'example.test/busybox:1', 'busybox2:1']) {
      expect((await host.images.imageStatus({ image: { image } })).image).toBeUndefined();
    }
    await expect(host.images.pullImage({ image: { image: 'nginx:1.27' } })).rejects.toMatchObject({
      code: 5,
      details:
        'the embedded runtime has only the image "host" (this machine\'s file system); to run "nginx:1.27" give the agent a container runtime with --container-runtime-endpoint',
    });
    await expect(host.images.removeImage({ image: { image: 'host' } })).rejects.toMatchObject({ code: 9 });
    await host.images.removeImage({ image: { image: 'nginx:1.27' } });
  });
});

describe('the socket', () => {
  it('belongs to one runtime, and so does the state', () => {
    const serve = (socketPath: string, state: string) =>
      spawnSync(process.execPath, [join(host.directory, 'serve.mjs'), socketPath, state], {
        encoding: 'utf8',
        timeout: 20_000,
      });
    expect(serve(host.socketPath, join(host.directory, 'other')).stderr).toContain(
      `another runtime already serves ${host.socketPath}`,
    );
    const other = serve(join(host.directory, 'other.sock'), host.stateDirectory);
    expect(other.stderr).toContain(`already uses ${host.stateDirectory}`);
    expect(serve(`/tmp/${'x'.repeat(120)}`, join(host.directory, 'other')).stderr).toContain('at most 107');
  });
});

describe.runIf(isRoot)('as an ordinary user', () => {
  const user = new RuntimeUnderTest({ uid: 65534 });
  beforeAll(() => user.start());
  afterAll(() => user.dispose());

  it('says what it cannot isolate, and refuses what it cannot do', async () => {
    const pod = await user.sandbox('plain');
    const { info } = await user.runtime.podSandboxStatus({ podSandboxId: pod, verbose: true });
    expect(info['info']).toContain('containers see all processes (the runtime does not run as root)');
    const linux = { securityContext: { runAsUser: { value: 0n } } };
    await expect(user.create(pod, 'true', { ...named('root'), linux })).rejects.toMatchObject({
      code: 3,
      details: expect.stringContaining('run_as_user 0: this runtime runs as uid 65534') as string,
    });
    const said = (await user.runtime.status({ verbose: true })).info;
    expect(canMount(said)).toBe(false);
    expect(unappliedByRuntime(said)).toEqual([
      'appArmorProfile',
      'capabilities',
      'readOnlyRootFilesystem',
      'seLinuxOptions',
      'seccompProfile',
    ]);
    const mounts = [{ hostPath: '/usr', containerPath: '/mnt' }];
    await expect(user.create(pod, 'true', { ...named('mount'), mounts })).rejects.toMatchObject({
      code: 3,
      details: expect.stringContaining('run as root, it would mount this for the container alone') as string,
    });
    const id = await user.run(pod, 'id -u', named('id'));
    expect(user.output((await user.exited(id)).logPath)).toBe('65534\n');
  });
});
