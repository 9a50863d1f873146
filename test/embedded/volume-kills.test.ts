import { readdirSync, watch } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { type Daemon, isRoot, it, NODE_NAME } from './daemon.js';
import { eventually } from './eventually.js';
import { type PodOf, SLEEP } from './manifests.js';
import { mountedBelow } from '../support/mounted-below.js';
import { configMap, secret } from './objects.js';
import { runningVersions } from './churn.js';
import { dice, pause, SEED } from './seeded.js';
import { readVolume } from './volume-reader.js';

const KILLS = Number(process.env.VOLUME_KILLS ?? 15);
const LONGEST_MS = KILLS * 20_000 + 600_000;
const CONVERGED_MS = 120_000;
/** The volumes that a reader reads, in the directory of the volumes of their pod. */
const WRITTEN = ['kubernetes.io~configmap/settings', 'kubernetes.io~secret/keys'];
const KEYS = ['a', 'b', 'c'];
/** As many pods of an agent that was killed as these may end at the same time. */
const NAMES = ['v0', 'v1', 'v2', 'v3'];

const withVolumes = (name: string, version: string): PodOf => ({
  name,
  labels: { version },
  terminationGracePeriodSeconds: 1,
  securityContext: { fsGroup: 2345 },
  containers: [
    {
      // It starts only with all of its volumes.
      script: `cd /rx && [ -s settings/a ] && [ -s keys/a ] && [ -s all/keys-a ] && [ -s one ] && [ -d memory ] && echo mine > scratch/file &&
        [ "$(cat all/version)" = ${version} ] || echo "${name} ${version} lacks a volume" >> "$DIR/problems"; ${SLEEP}`,
      volumeMounts: [
        ...['settings', 'keys', 'all', 'scratch', 'memory'].map((each) => ({ name: each, mountPath: `/rx/${each}` })),
        { name: 'settings', mountPath: '/rx/one', subPath: 'b' },
      ],
    },
  ],
  volumes: [
    { name: 'settings', configMap: { name: 'settings' } },
    { name: 'keys', secret: { secretName: 'keys' } },
    {
      name: 'all',
      projected: {
        sources: [
          { configMap: { name: 'settings' } },
          { secret: { name: 'keys', items: [{ key: 'a', path: 'keys-a' }] } },
          { downwardAPI: { items: [{ path: 'version', fieldRef: { fieldPath: "metadata.labels['version']" } }] } },
        ],
      },
    },
    { name: 'scratch', emptyDir: {} },
    { name: 'memory', emptyDir: { medium: 'Memory' } },
  ],
});

/** Pods with volumes that come, change and go, and new content of their objects. */
const volumeChurn = (daemon: Daemon, { between, oneOf }: ReturnType<typeof dice>) => {
  const wanted = new Map<string, string>();
  let version = 0;
  let content = '';
  const put = (name: string): void => {
    version += 1;
    daemon.apply(withVolumes(name, `v${version}`));
    wanted.set(`${name}-${NODE_NAME}`, `v${version}`);
  };
  const edit = (): void => {
    version += 1;
    content = `content ${version}`;
    const data = Object.fromEntries(KEYS.map((key) => [key, content]));
    daemon.write('settings.yaml', configMap('settings', data));
    daemon.write('keys.yaml', secret('keys', data));
  };
  edit();
  for (const name of ['steady', ...NAMES]) put(name);
  const step = (): void => {
    const name = oneOf(NAMES);
    const kind = between(1, 6);
    if (kind <= 3) edit();
    else if (kind === 4 && wanted.has(`${name}-${NODE_NAME}`)) {
      daemon.withdraw(name);
      wanted.delete(`${name}-${NODE_NAME}`);
    } else put(name);
  };
  return { wanted, step, edit, content: () => content };
};

/** The first change of the entries of a directory. */
const firstChange = (directory: string): { readonly done: Promise<void>; readonly close: () => void } => {
  const watcher = watch(directory);
  const done = new Promise<void>((resolve) => watcher.once('change', () => resolve()));
  return { done, close: () => watcher.close() };
};

describe.runIf(isRoot)('an agent that is killed while it works on volumes', () => {
  it(
    `keeps what is read whole, and leaves nothing (SEED=${SEED}, VOLUME_KILLS=${KILLS})`,
    async ({ daemon }) => {
      const draw = dice(SEED);
      const churn = volumeChurn(daemon, draw);
      await daemon.start();
      const { id } = await daemon.reached('steady', 'CONTAINER_RUNNING');
      const [{ uid } = { uid: '' }] = await daemon.containersOf('steady');
      const volumes = join(daemon.rootDir, 'pods', uid, 'volumes');
      const readers = WRITTEN.map((volume) => readVolume(join(volumes, volume), KEYS));
      await daemon.kill('SIGKILL');

      const moments = new Map<string, number>();
      for (let kill = 1; kill <= KILLS; kill += 1) {
        const moment = draw.oneOf(['early', 'any', 'update', 'update', 'mount', 'mount'] as const);
        moments.set(moment, (moments.get(moment) ?? 0) + 1);
        // Some are killed before they have done anything, some in the middle of their first pass, some in the middle of a change.
        daemon.spawn('--pod-manifest-path', daemon.manifests);
        if (moment === 'early') await pause(draw.between(200, 1_200));
        else {
          await eventually('the agent serves', async () => (await daemon.get('/pods')).status === 200);
          const changed = firstChange(
            moment === 'mount' ? join(daemon.rootDir, 'pods') : join(volumes, draw.oneOf(WRITTEN)),
          );
          for (let steps = draw.between(1, 3); steps > 0; steps -= 1) churn.step();
          if (moment === 'update') churn.edit();
          if (moment === 'any') await pause(draw.between(0, 600));
          else await Promise.race([changed.done, pause(2_000)]);
          changed.close();
          if (moment === 'mount') await pause(draw.between(0, 150));
        }
        await daemon.kill('SIGKILL');
        if (draw.between(1, 2) === 1) churn.step();
      }
      churn.edit();
      await daemon.start();
      await eventually(
        'what runs is what the manifests say',
        async () => {
          expect(Object.fromEntries(await runningVersions(daemon))).toEqual(Object.fromEntries(churn.wanted));
          return true;
        },
        CONVERGED_MS,
      );
      await eventually('the last content is there', () => readers.every(({ seen }) => seen.has(churn.content())));
      expect((await daemon.reached('steady', 'CONTAINER_RUNNING')).id).toBe(id);

      // The volumes of pods that are over are gone, and those of the others are there once.
      const uids = (await daemon.sandboxes()).filter(({ state }) => state === 'SANDBOX_READY').map((one) => one.uid);
      await eventually('the directories are those of the pods', () => {
        expect(readdirSync(join(daemon.rootDir, 'pods')).toSorted()).toEqual(uids.toSorted());
        const mounted = mountedBelow(daemon.rootDir);
        expect(mounted.toSorted()).toEqual([...new Set(mounted)].toSorted());
        return true;
      });
      for (const reader of readers) await reader.stop();
      expect(readers.flatMap(({ problems }) => problems)).toEqual([]);
      expect(Math.min(...readers.map((reader) => reader.looks()))).toBeGreaterThan(KILLS);
      expect(daemon.lines('problems')).toEqual([]);

      for (const name of ['steady', ...NAMES]) daemon.withdraw(name);
      await eventually('no mount and no directory is left', () => {
        expect(mountedBelow(daemon.rootDir)).toEqual([]);
        expect(readdirSync(join(daemon.rootDir, 'pods'))).toEqual([]);
        return true;
      });
      const counts = readers.map(({ seen, looks }) => `${seen.size} contents in ${looks()} looks`);
      const steps = daemon.journal().filter(({ kind }) => kind === 'volume').length;
      console.log(
        `${JSON.stringify(Object.fromEntries(moments))}: ${counts.join(', ')}; ${steps} mounts and unmounts in the journal`,
      );
      expect(await daemon.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    },
    LONGEST_MS,
  );
});
