/**
 * The costs of reading the numbers of a node: pods over the embedded runtime, and one client that reads one path after the other, each again
 * as soon as it has the reply. Prints the time of a reply, its size, the CPU time of the agent for it, and the CPU time between two ticks of a
 * timer of the agent, which is what a reply holds up other work for.
 *
 *   npm run bench:scrape -- [pods] [reads]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { buildSync } from 'esbuild';
import { killProcess } from '../test/support/kill-process.js';
import { freePort, runtimePid } from './embedded-agent.js';
import { cpuSeconds } from './startup/proc.js';

const [pods = 110, reads = 30] = process.argv.slice(2).map(Number);
const PATHS = [
  '/metrics/resource',
  '/stats/summary?only_cpu_and_memory=true',
  '/stats/summary',
  '/metrics/cadvisor',
  '/metrics',
];
const SETTLING_MS = 15_000;

const root = mkdtempSync(join(tmpdir(), 'rx-kubelet-bench-'));
const [manifests, state, script, turns] = ['manifests', 'state', 'turns.mjs', 'turns'].map((name) =>
  join(root, name),
) as [string, string, string, string];
for (const path of [manifests, state]) mkdirSync(path);
writeFileSync(turns, '');
buildSync({ entryPoints: [join(import.meta.dirname, 'scrape/turns.ts')], outfile: script, format: 'esm' });
for (let index = 0; index < pods; index++) {
  const spec = {
    terminationGracePeriodSeconds: 1,
    volumes: [{ name: 'data', emptyDir: {} }],
    containers: [
      {
        ...{ name: 'main', image: 'host', command: ['sleep', '100000'] },
        volumeMounts: [{ name: 'data', mountPath: '/data' }],
      },
    ],
  };
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: `pod-${index}` }, spec };
  writeFileSync(join(manifests, `pod-${index}.json`), JSON.stringify(pod));
}

const port = await freePort();
const flags = ['--pod-manifest-path', manifests, '--root-dir', state, '--healthz-port', '0', '--port', '0'];
const served = ['--address', '127.0.0.1', '--read-only-port', String(port)];
const agent = spawn('bin/rx-kubelet', ['run', ...flags, ...served, '--stop-pods-on-exit'], {
  stdio: 'ignore',
  env: { ...process.env, NODE_OPTIONS: `--import=${script}`, CPU_OF_TURNS: turns },
});
const ended = once(agent, 'exit');
const scrape = async (path: string): Promise<string> => (await fetch(`http://127.0.0.1:${port}${path}`)).text();
const ready = async (): Promise<number> => {
  try {
    return (await scrape('/pods')).match(/"type":"Ready","status":"True"/g)?.length ?? 0;
  } catch {
    return 0;
  }
};
/** The milliseconds of CPU between two ticks since the offset of the file. */
const turnsSince = (offset: number): readonly number[] =>
  readFileSync(turns, 'utf8')
    .slice(offset)
    .split('\n')
    .filter(Boolean)
    .map(Number)
    .toSorted((one, other) => one - other);
const percentile = (sorted: readonly number[], share: number): string =>
  (sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? NaN).toFixed(1);

try {
  const deadline = performance.now() + 300_000;
  while ((await ready()) < pods) {
    if (performance.now() > deadline) throw new Error(`${pods} pods: not ready within 5 minutes`);
    await pause(1_000);
  }
  await pause(SETTLING_MS);
  console.log(`${pods} pods, ${reads} reads of each path, load average ${loadavg()[0]?.toFixed(1)}`);
  for (const path of PATHS) {
    // The compiler of Node.js gets its turn, and so do the first walk through the cgroups and that of the volumes.
    for (let index = 0; index < 5; index++) await scrape(path);
    await pause(1_000);
    const [offset, cpu] = [statSync(turns).size, cpuSeconds(agent.pid!)];
    const times: number[] = [];
    let size = 0;
    for (let index = 0; index < reads; index++) {
      const startedAt = performance.now();
      size = (await scrape(path)).length;
      times.push(performance.now() - startedAt);
    }
    const each = (1_000 * (cpuSeconds(agent.pid!) - cpu)) / reads;
    await pause(1_000);
    const [sorted, held] = [times.toSorted((one, other) => one - other), turnsSince(offset)];
    console.log(
      `${path.padEnd(40)} ${percentile(sorted, 0.5)} ms (median), ${percentile(sorted, 1)} ms (worst), ${(size / 1024).toFixed(0)} KiB, ` +
        `${each.toFixed(0)} ms of CPU; turns ${percentile(held, 0.99)} ms (p99), ${percentile(held, 1)} ms (longest)`,
    );
  }
} finally {
  agent.kill('SIGTERM');
  await ended;
  killProcess(runtimePid(state), 'SIGTERM');
  rmSync(root, { recursive: true, force: true });
}
