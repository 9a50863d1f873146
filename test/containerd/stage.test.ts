import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { eventually } from '../embedded/eventually.js';
import { describeProcess, processesNaming } from '../embedded/processes.js';
import { overContainerd } from './missing.js';

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
});
