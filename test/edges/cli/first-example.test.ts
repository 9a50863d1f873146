import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, expect, it } from 'vitest';
import { readManifest } from '../../../src/model/manifest/parse-manifest.js';

const taken = createServer();
afterEach(() => taken.close());

it('says so when its port is taken, where a container leaves its termination message', async () => {
  const { pods } = readManifest(readFileSync('examples/pods/web.yaml', 'utf8'), { file: 'web.yaml' });
  const server = pods[0]?.pod.spec.containers.find(({ name }) => name === 'server');
  expect(server?.terminationMessagePolicy).toBe('FallbackToLogsOnError');
  const script = server?.env?.find(({ name }) => name === 'SERVER')?.value ?? '';

  // Another process may have the port already; its answer is as useful.
  await new Promise((settled) => taken.once('error', settled).listen(8080, '127.0.0.1', () => settled(undefined)));
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'ignore', 'pipe'] });
  const [said, exit] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  expect(said).toBe('port 8080 of this machine is taken by another program\n');
  expect(exit[0]).toBe(1);
});
