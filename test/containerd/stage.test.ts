import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { firstValueFrom } from 'rxjs';
import { expect, it } from 'vitest';
import { criClient } from '../../src/runtime/cri-client.js';
import { eventually } from '../embedded/eventually.js';
import { describeProcess, processesNaming } from '../embedded/processes.js';
import { overContainerd } from './missing.js';
import { startRegistries } from './registries.js';

const run = promisify(execFile);
const script = (name: string): string => fileURLToPath(new URL(`stage/${name}`, import.meta.url));

overContainerd('the stage itself', () => {
  it.each(['config.toml', 'containerd.sock', 'images', 'images.done'])(
    'that was killed as soon as it had made %s is completed by going up again, and leaves nothing',
    async (file) => {
      const parent = mkdtempSync(join(tmpdir(), 'rxs-'));
      const folder = join(parent, 'stage');
      try {
        const up = spawn(script('up.sh'), [folder], { stdio: 'ignore' });
        const gone = once(up, 'exit');
        await eventually(`there is ${file}`, () => existsSync(join(folder, file)));
        up.kill('SIGKILL');
        await gone;
        expect((await run(script('up.sh'), [folder])).stdout).toBe(`unix://${folder}/containerd.sock\n`);
        const ctr = ['--address', join(folder, 'containerd.sock'), '--namespace', 'k8s.io'];
        const { stdout: images } = await run('ctr', [...ctr, 'images', 'list', '--quiet']);
        for (const name of ['busybox', 'pause', 'server']) expect(images).toContain(`stage.test/${name}:1\n`);
        // With all of it there, nothing changes.
        const before = processesNaming([folder]);
        await run(script('up.sh'), [folder]);
        expect(processesNaming([folder])).toEqual(before);
      } finally {
        await run(script('down.sh'), [folder]);
        const isLeft = existsSync(folder);
        rmSync(parent, { recursive: true });
        expect(isLeft).toBe(false);
      }
      expect(processesNaming([folder]).map(describeProcess)).toEqual([]);
      // Once more is no mistake.
      await run(script('down.sh'), [folder]);
    },
  );

  it('has registries, one behind a password, that go with it', async () => {
    const parent = mkdtempSync(join(tmpdir(), 'rxs-'));
    const folder = join(parent, 'stage');
    try {
      await run(script('up.sh'), [folder]);
      const registries = await startRegistries(folder);
      const { open, locked } = registries;
      const client = criClient({ endpoint: `unix://${folder}/containerd.sock`, requestTimeoutMs: 20_000 });
      // containerd 1.6 tells the status, 2.1 what it means.
      const refused = /401|authorization failed/;
      const pull = (image: string, auth?: Parameters<typeof client.images.pullImage>[0]['auth']) =>
        firstValueFrom(client.images.pullImage({ image: { image }, auth }));
      await expect(pull(`${open}/busybox:1`)).resolves.toMatchObject({
        imageRef: expect.stringMatching(/^sha256:/) as string,
      });
      // Not a loopback address, so that only the stage's configuration can tell that it is plain HTTP.
      await pull('registry.stage.test/busybox:1');
      await expect(pull(`${locked.address}/busybox:1`)).rejects.toThrow(refused);
      await expect(
        pull(`${locked.address}/server:1`, { username: locked.username, password: 'wrong' }),
      ).rejects.toThrow(refused);
      await pull(`${locked.address}/server:1`, { username: locked.username, password: locked.password });
      client.close();
      expect(registries.served('open')).toContain('HEAD /v2/busybox/manifests/1 200');
      expect(registries.served('locked')).toEqual(
        expect.arrayContaining(['HEAD /v2/server/manifests/1 401', 'HEAD /v2/server/manifests/1 200']),
      );
      // One that was killed serves the same at the same address.
      process.kill(Number(readFileSync(join(folder, 'registry/open.pid'), 'utf8')), 'SIGKILL');
      await eventually('it is gone', async () => {
        await expect(fetch(`http://${open}/v2/`)).rejects.toThrow();
        return true;
      });
      expect(await startRegistries(folder)).toMatchObject({ open, locked });
      expect((await fetch(`http://${open}/v2/busybox/tags/list`)).status).toBe(200);
    } finally {
      await run(script('down.sh'), [folder]);
      rmSync(parent, { recursive: true });
    }
    expect(processesNaming([folder]).map(describeProcess)).toEqual([]);
  });
});
