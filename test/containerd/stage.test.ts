import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { firstValueFrom } from 'rxjs';
import { expect, it } from 'vitest';
import { criClient } from '../../src/runtime/cri-client.js';
import { parseStat, type ProcessId } from '../../src/runtime/embedded/confinement/process-tree.js';
import { eventually } from '../embedded/eventually.js';
import { describeProcess, processesNaming } from '../embedded/processes.js';
import { killProcess } from '../support/kill-process.js';
import { overContainerd } from './missing.js';
import { startRegistries } from './registries.js';

const run = promisify(execFile);
const script = (name: string): string => fileURLToPath(new URL(`stage/${name}`, import.meta.url));

/** The processes of a stage that lead a session of their own: those that it has started, without what these run now and then. */
const serversOf = (folder: string): ProcessId[] =>
  processesNaming([folder]).filter(({ pid }) => parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.session === pid);

/** Where the stages of this machine note that they are there. */
const STAGES = '/run/rx-kubelet-stages';
const isNoted = (folder: string): boolean =>
  readdirSync(STAGES).some((name) => name.startsWith('rxct') && readNote(join(STAGES, name)).startsWith(`${folder}\n`));
/** Empty if the stage has gone since its note was listed. */
const readNote = (path: string): string => (existsSync(path) ? readFileSync(path, 'utf8') : '');

overContainerd(
  'the stage itself',
  () => {
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
          const before = serversOf(folder);
          expect(before.map(({ pid }) => String(pid))).toEqual([
            readFileSync(join(folder, 'containerd.pid'), 'utf8').trim(),
          ]);
          await run(script('up.sh'), [folder]);
          expect(serversOf(folder)).toEqual(before);
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

    it('leaves alone what another stage uses, and the last one leaves the machine as the first has found it', async () => {
      const parent = mkdtempSync(join(tmpdir(), 'rxs-'));
      const [first, second] = [join(parent, 'first'), join(parent, 'second')];
      try {
        await Promise.all([first, second].map((folder) => run(script('up.sh'), [folder])));
        const subnets = [first, second].map(
          (folder) => /"subnet": "(.*?)"/.exec(readFileSync(join(folder, 'cni/10-pods.conflist'), 'utf8'))?.[1],
        );
        expect(new Set(subnets).size).toBe(2);
        const pid = readFileSync(join(second, 'containerd.pid'), 'utf8');
        expect([first, second].map(isNoted)).toEqual([true, true]);
        await run(script('down.sh'), [first]);
        expect([first, second].map(isNoted)).toEqual([false, true]);
        // How the first stage of the machine has found it is known until the last one has gone.
        expect(readdirSync(STAGES)).toEqual(expect.arrayContaining(['hostport-chains-before', 'ip-forward-before']));
        await run(script('up.sh'), [second]);
        expect(readFileSync(join(second, 'containerd.pid'), 'utf8')).toBe(pid);
      } finally {
        for (const folder of [first, second]) await run(script('down.sh'), [folder]);
        rmSync(parent, { recursive: true });
      }
    });

    it('has registries, one behind a password, that go with it', async () => {
      const parent = mkdtempSync(join(tmpdir(), 'rxs-'));
      const folder = join(parent, 'stage');
      try {
        await run(script('up.sh'), [folder]);
        const registries = await startRegistries(folder);
        const { open, locked } = registries;
        const client = criClient({ endpoint: `unix://${folder}/containerd.sock`, requestTimeoutMs: 20_000 });
        // containerd 1.6 reports the status, 2.1 its meaning.
        const refused = /401|authorization failed/;
        const pull = (image: string, auth?: Parameters<typeof client.images.pullImage>[0]['auth']) =>
          firstValueFrom(client.images.pullImage({ image: { image }, auth }));
        await expect(pull(`${open}/busybox:1`)).resolves.toMatchObject({
          imageRef: expect.stringMatching(/^sha256:/) as string,
        });
        // Not a loopback address, so that only the stage's configuration can say that it is plain HTTP.
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
        killProcess(Number(readFileSync(join(folder, 'registry/open.pid'), 'utf8')));
        await eventually('it is gone', () =>
          fetch(`http://${open}/v2/`).then(
            () => false,
            () => true,
          ),
        );
        expect(await startRegistries(folder)).toMatchObject({ open, locked });
        expect((await fetch(`http://${open}/v2/busybox/tags/list`)).status).toBe(200);
      } finally {
        await run(script('down.sh'), [folder]);
        rmSync(parent, { recursive: true });
      }
      expect(processesNaming([folder]).map(describeProcess)).toEqual([]);
    });
  },
  { alone: true },
);
