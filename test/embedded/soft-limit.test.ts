import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect } from 'vitest';
import { it } from './daemon.js';
import { eventually } from './eventually.js';
import { SLEEP } from './manifests.js';

describe('the soft limit of open files', () => {
  it('of the agent at its start is that of its containers, hooks and probes, although Node raises its own', async ({
    daemon,
  }) => {
    daemon.preload = { ...daemon.preload, env: { ...daemon.preload.env, RX_KUBELET_SOFT_DESCRIPTORS: '1021' } };
    const save = (file: string): string => `ulimit -S -n > "$DIR/${file}"`;
    const command = (file: string) => ({ exec: { command: ['/bin/sh', '-c', save(file)] } });
    daemon.apply({
      name: 'limited',
      containers: [
        {
          script: `${save('main')}; ulimit -H -n > "$DIR/hard"; ${SLEEP}`,
          lifecycle: { postStart: command('hook') },
          readinessProbe: { ...command('probe'), periodSeconds: 1 },
        },
      ],
    });
    await daemon.start();
    for (const file of ['main', 'hook', 'probe'])
      expect(await eventually(`${file} has run`, () => daemon.lines(file)[0])).toBe('1021');
    expect(Number(daemon.lines('hard')[0])).toBeGreaterThan(1021);
  });

  it('is passed on by the command', ({ daemon }) => {
    const node = join(daemon.directory, 'node');
    writeFileSync(node, '#!/bin/sh\necho "$RX_KUBELET_SOFT_DESCRIPTORS"\n');
    chmodSync(node, 0o755);
    const script = `ulimit -S -n 1020; exec ${resolve('bin/rx-kubelet')} version`;
    const env = { PATH: `${daemon.directory}:${process.env.PATH ?? ''}` };
    expect(execFileSync('/bin/sh', ['-c', script], { env, encoding: 'utf8' })).toBe('1020\n');
  });
});

it('a low hard limit of open files is said once at the start, with what it is enough for', async ({ daemon }) => {
  daemon.mostOpenFiles = 256;
  await daemon.start();
  expect(daemon.logged().filter(({ message }) => message.includes('open files'))).toEqual([
    expect.objectContaining({
      level: 'warn',
      message:
        'the hard limit of open files, 256, is low: it is enough for about 48 containers, and 110 pods of three need 1384 in the embedded runtime',
    }),
  ]);
  const logOfRuntime = readFileSync(join(daemon.rootDir, 'runtime', 'runtime.log'), 'utf8');
  expect(logOfRuntime.split('\n').filter((line) => line.includes('is enough for about 48 containers'))).toHaveLength(1);
});
