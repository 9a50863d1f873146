/**
 * The time from the change of a ConfigMap and of a Secret, in a real API server, until their files in a running pod have the new
 * content, on the embedded runtime.
 *
 *   npm run build && npm run bench:files -- [--changes 50] [--pods 1] [--agent bin/rx-kubelet]
 *
 * Each time begins before the request of the change is sent. All pods have the same objects, and the last of their files counts. Needs
 * root; the server is that of the tests (test/cluster/stage): `KUBE_APISERVER` names another one.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import {
  configMapPath,
  configMapsPath,
  nodePath,
  podPath,
  podsPath,
  secretPath,
  secretsPath,
} from '../src/model/kube-api/api-paths.js';
import type { Pod } from '../src/model/pod/pod.js';
import { Cluster } from '../test/cluster/cluster.js';
import { now, startAgent, until } from './cluster/cluster-agent.js';

const NODE = 'bench';
const NAME = 'values';
const LOOK_EVERY_MS = 1;
const BETWEEN_MS = 100;
const SETTLE_MS = 5_000;

const KINDS = [
  { kind: 'ConfigMap', path: configMapPath(NODE, NAME), files: 'kubernetes.io~configmap/config', field: 'data' },
  { kind: 'Secret', path: secretPath(NODE, NAME), files: 'kubernetes.io~secret/secret', field: 'stringData' },
] as const;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      changes: { type: 'string', default: '50' },
      pods: { type: 'string', default: '1' },
      agent: { type: 'string', default: 'bin/rx-kubelet' },
    },
  });
  const [changes, pods] = [Number(values.changes), Number(values.pods)];
  const folder = mkdtempSync(join(tmpdir(), 'rx-files-'));
  console.log(`load average before: ${loadavg()[0]?.toFixed(2)}`);
  try {
    await Cluster.ofItsOwn(async (cluster) => {
      await cluster.namespace(NODE);
      const metadata = { name: NAME };
      await cluster.admin.create(configMapsPath(NODE), { metadata, data: { value: '' } });
      await cluster.admin.create(secretsPath(NODE), { metadata, stringData: { value: '' } });
      const agent = await startAgent(cluster, NODE, values.agent, folder);
      const names = Array.from({ length: pods }, (_, index) => `pod-${index}`);
      try {
        const uids = await runningPods(cluster, names);
        await pause(SETTLE_MS);
        for (const { kind, path, files, field } of KINDS) {
          const paths = uids.map((uid) => join(folder, 'root', 'pods', uid, 'volumes', files, 'value'));
          const times: number[] = [];
          for (let change = 1; change <= changes; change++) {
            const value = String(change);
            const from = now();
            await cluster.admin.patch(path, { [field]: { value } }, 'merge');
            await switched(paths, value);
            times.push(now() - from);
            await pause(BETWEEN_MS);
          }
          tell(`${kind}, ${pods} pods, ${changes} changes`, times);
        }
      } finally {
        for (const name of names) await cluster.admin.remove(podPath(NODE, name)).catch(() => undefined);
        await until('all pods are gone', async () => (await cluster.admin.list(podsPath(NODE))).length === 0);
        await agent.end();
        await cluster.admin.remove(nodePath(NODE));
      }
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
    console.log(`load average after: ${loadavg()[0]?.toFixed(2)}`);
  }
}

/** Creates the pods; resolves with their UIDs once all of them run. */
async function runningPods(cluster: Cluster, names: readonly string[]): Promise<readonly string[]> {
  for (const name of names) await cluster.admin.create(podsPath(NODE), podOf(name));
  let listed: readonly Pod[] = [];
  await until('all pods run', async () => {
    listed = await cluster.admin.list<Pod>(podsPath(NODE));
    return listed.length === names.length && listed.every(({ status }) => status?.phase === 'Running');
  });
  return listed.map(({ metadata }) => metadata.uid);
}

async function switched(paths: readonly string[], content: string): Promise<void> {
  const left = new Set(paths);
  await until(
    `the files are ${content}`,
    () => {
      for (const path of left) if (readFileSync(path, 'utf8') === content) left.delete(path);
      return left.size === 0;
    },
    LOOK_EVERY_MS,
  );
}

const podOf = (name: string): object => ({
  metadata: { name },
  spec: {
    nodeName: NODE,
    terminationGracePeriodSeconds: 1,
    volumes: [
      { name: 'config', configMap: { name: NAME } },
      { name: 'secret', secret: { secretName: NAME } },
    ],
    containers: [
      {
        name: 'main',
        image: 'host',
        imagePullPolicy: 'IfNotPresent',
        command: ['sleep', '1000000'],
        volumeMounts: ['config', 'secret'].map((volume) => ({ name: volume, mountPath: `/mnt/${volume}` })),
      },
    ],
  },
});

function tell(what: string, times: readonly number[]): void {
  const sorted = times.toSorted((one, other) => one - other);
  const at = (share: number): string => `${sorted[Math.ceil((sorted.length - 1) * share)]?.toFixed(1)} ms`;
  console.log(`${what}: median ${at(0.5)}, 99 % ${at(0.99)}, least ${at(0)}`);
}

await main();
