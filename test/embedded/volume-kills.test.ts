import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect } from 'vitest';
import { type Daemon, isRoot, it, NODE_NAME } from './daemon.js';
import { eventually } from './eventually.js';
import { type PodOf, SLEEP } from './manifests.js';
import { mountedBelow } from '../support/mounted-below.js';
import { configMap, secret } from './objects.js';
import { runningVersions } from './churn.js';
import { dice, pause, SEED } from './seeded.js';
import { readVolume } from './volume-reader.js';

const KILLS = Number(process.env.VOLUME_KILLS ?? 30);
const LONGEST_MS = KILLS * 20_000 + 600_000;
const CONVERGED_MS = 120_000;
const KILLER = pathToFileURL(fileURLToPath(new URL('./killed-in-volumes.mjs', import.meta.url))).href;
/** The calls by which each step changes the disk. Agents end right before one of them, or at any time. */
const POINTS = [
  ...['mkdir', 'mount', 'chmod', 'lchown', 'writeFile', 'symlink', 'rename'].map((call) => ['mount', call] as const),
  ...['mkdir', 'chmod', 'lchown', 'writeFile', 'symlink', 'rename', 'unlink', 'rmdir'].map(
    (call) => ['update', call] as const,
  ),
  ...['unlink', 'rename', 'rmdir', 'umount'].map((call) => ['unmount', call] as const),
];
/** Every fifth agent. */
const ANY = 5;
/** Each step of a pod has at least as many of each call. */
const LAST = 2;
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
  /** Work that needs this step, or any. */
  const step = (kind: (typeof POINTS)[number][0] | 'any'): void => {
    const name = oneOf(NAMES);
    const needed = kind === 'any' ? oneOf(['mount', 'update', 'unmount'] as const) : kind;
    if (needed === 'update') edit();
    else if (needed === 'unmount' && wanted.has(`${name}-${NODE_NAME}`) && between(1, 2) === 1) {
      daemon.withdraw(name);
      wanted.delete(`${name}-${NODE_NAME}`);
      // Another version of a pod has a directory of its own, so that the one of before goes.
    } else put(name);
  };
  return { wanted, step, edit, content: () => content };
};

/** Agents that end right before a chosen call; what they did not come to is left to the next. */
const killer = (daemon: Daemon) => {
  const control = join(daemon.directory, 'volume-kill');
  daemon.preload = { args: ['--import', KILLER], env: { RX_TEST_VOLUME_KILL: control } };
  return {
    plan: (step: string, call: string, nth: number): void =>
      writeFileSync(control, JSON.stringify({ step, call, nth })),
    none: (): void => rmSync(control, { force: true }),
    /** The step and the call before which each of them ended, in order. */
    points: (): readonly string[] =>
      existsSync(`${control}.log`) ? readFileSync(`${control}.log`, 'utf8').trimEnd().split('\n') : [],
  };
};

const countOf = (values: readonly string[]): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
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

      const kills = killer(daemon);
      const isAsWanted = async (): Promise<boolean> =>
        isDeepStrictEqual(Object.fromEntries(await runningVersions(daemon)), Object.fromEntries(churn.wanted)) &&
        readers.every(({ newest }) => newest() === churn.content()) &&
        readdirSync(join(daemon.rootDir, 'pods')).length === churn.wanted.size;
      for (let kill = 0; kill < KILLS; kill += 1) {
        const isAny = kill % ANY === ANY - 1;
        const [step, call] = POINTS[(kill - Math.floor(kill / ANY)) % POINTS.length]!;
        const end = isAny ? 'any' : step;
        if (isAny) kills.none();
        else kills.plan(step, call, draw.between(1, LAST));
        // Some find their work when they start, some are at rest before.
        if (draw.between(1, 2) === 1) churn.step(end);
        daemon.spawn('--pod-manifest-path', daemon.manifests);
        if (isAny) {
          churn.step(end);
          await pause(draw.between(200, 1_200));
        } else {
          await eventually(
            'the agent serves',
            async () => !daemon.isAgentThere() || (await daemon.get('/pods')).status === 200,
          );
          churn.step(end);
          await eventually(
            'the agent is killed, or has nothing left to do',
            async () => !daemon.isAgentThere() || (await isAsWanted()),
            CONVERGED_MS,
          );
        }
        await daemon.kill('SIGKILL');
        const mounted = mountedBelow(daemon.rootDir);
        expect(new Set(mounted).size).toBe(mounted.length);
      }
      kills.none();
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
        expect(new Set(mounted).size).toBe(mounted.length);
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
      const points = kills.points();
      const contents = readers.map(({ seen, looks }) => `${seen.size} contents in ${looks()} looks`);
      console.log(`${JSON.stringify(Object.fromEntries(countOf(points)))}: ${contents.join(', ')}`);
      // No kind of call of a step was left out, unless there were fewer kills than kinds.
      const planned = POINTS.slice(0, KILLS - Math.floor(KILLS / ANY));
      expect(new Set(points)).toEqual(new Set(planned.map((point) => point.join(' '))));
      expect(await daemon.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    },
    LONGEST_MS,
  );
});
