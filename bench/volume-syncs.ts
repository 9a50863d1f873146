/**
 * The CPU of routine syncs of pods without volumes, and of the same pods with three volumes each: a ConfigMap, a Secret with facts of
 * the pod, and an empty directory. Needs root, for the mounts of the embedded runtime.
 *
 *   npm run bench:volumes -- [--agent bin/rx-kubelet] [--pods 12] [--seconds 60] [--rounds 3]
 *
 * Pods sync each 1 to 1.5 s here, instead of each 60 to 90 s. Several `--agent` compare builds.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { mountedBelow } from '../test/support/mounted-below.js';
import { cpuSeconds } from './startup/proc.js';

const SETTLE_MS = 20_000;
const LONGEST_MS = 120_000;

const { values } = parseArgs({
  options: {
    agent: { type: 'string', multiple: true, default: ['bin/rx-kubelet'] },
    pods: { type: 'string', default: '12' },
    seconds: { type: 'string', default: '60' },
    rounds: { type: 'string', default: '3' },
  },
});
const [pods, seconds, rounds] = [values.pods, values.seconds, values.rounds].map(Number) as [number, number, number];

const VOLUMES = [
  { name: 'config', configMap: { name: 'settings' } },
  {
    name: 'access',
    projected: {
      sources: [
        { secret: { name: 'settings' } },
        { downwardAPI: { items: [{ path: 'namespace', fieldRef: { fieldPath: 'metadata.namespace' } }] } },
      ],
    },
  },
  { name: 'scratch', emptyDir: {} },
];
const OBJECTS = [
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data: { 'a.conf': 'a', 'b.conf': 'b' } },
  { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'settings' }, stringData: { token: 'a-token-of-no-use' } },
];

/** One manifest with all pods; each process makes a file in `marks` when it runs. */
const manifest = (marks: string, hasVolumes: boolean): string => {
  const volumes = hasVolumes ? VOLUMES : [];
  const podOf = (name: string): object => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      terminationGracePeriodSeconds: 1,
      volumes,
      containers: [
        {
          ...{ name: 'main', image: 'host', command: ['sh', '-c', `: > ${marks}/${name}; exec sleep 100000`] },
          volumeMounts: volumes.map((volume) => ({ name: volume.name, mountPath: `/tmp/volumes/${volume.name}` })),
        },
      ],
    },
  });
  const items = [...OBJECTS, ...Array.from({ length: pods }, (_, index) => podOf(`pod-${index}`))];
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
};

const counts = async (root: string): Promise<{ readonly syncs: number; readonly operations: number }> => {
  const sent = get({ socketPath: join(root, 'agent', 'agent.sock'), path: '/metrics' });
  const [reply] = (await once(sent, 'response')) as [IncomingMessage];
  const text = await readAll(reply);
  const sum = (pattern: RegExp): number => [...text.matchAll(pattern)].reduce((all, [, one]) => all + Number(one), 0);
  return {
    syncs: sum(/^kubelet_pod_worker_duration_seconds_count\{.*operation_type="sync".*\} (\d+)/gm),
    operations: sum(/^storage_operation_duration_seconds_count\{.*operation_name="volume_mount".*\} (\d+)/gm),
  };
};

/** The milliseconds of CPU for one sync of one pod, all other work of the agent included. */
const run = async (program: string, hasVolumes: boolean): Promise<number> => {
  const folder = mkdtempSync(join(tmpdir(), 'rx-volume-syncs-'));
  const [manifests, marks, root] = ['manifests', 'marks', 'root'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const path of [manifests, marks, root]) mkdirSync(path);
  const flags = ['--pod-manifest-path', manifests, '--root-dir', root, '--pod-logs-dir', join(folder, 'logs')];
  const more = ['--healthz-port', '0', '--sync-frequency', '1s', '--stop-pods-on-exit'];
  const agent: ChildProcess = spawn(program, ['run', ...flags, ...more], { stdio: 'ignore' });
  const ended = once(agent, 'exit');
  try {
    writeFileSync(join(folder, 'pods.json'), manifest(marks, hasVolumes));
    renameSync(join(folder, 'pods.json'), join(manifests, 'pods.json'));
    const deadline = performance.now() + LONGEST_MS;
    while (!existsSync(marks) || readdirSync(marks).length < pods) {
      if (performance.now() > deadline) throw new Error(`${readdirSync(marks).length} of ${pods} pods run`);
      await pause(100);
    }
    await pause(SETTLE_MS);
    const [cpu, before] = [cpuSeconds(agent.pid!), await counts(root)];
    await pause(seconds * 1_000);
    const [used, after] = [cpuSeconds(agent.pid!) - cpu, await counts(root)];
    const syncs = after.syncs - before.syncs;
    console.log(
      `${program}, ${hasVolumes ? 'three volumes each' : 'without volumes'}: ${used.toFixed(2)} s of CPU, ${syncs} syncs, ` +
        `${after.operations - before.operations} set-ups, ${((1_000 * used) / syncs).toFixed(2)} ms for a sync`,
    );
    return (1_000 * used) / syncs;
  } finally {
    agent.kill('SIGTERM');
    await ended;
    for (const path of mountedBelow(folder)) execFileSync('umount', [path]);
    rmSync(folder, { recursive: true, force: true });
  }
};

for (let round = 0; round < rounds; round++) {
  for (const program of values.agent) {
    const without = await run(program, false);
    const withVolumes = await run(program, true);
    console.log(`${program}: ${(withVolumes - without).toFixed(2)} ms of CPU for the volumes of a sync`);
  }
}
