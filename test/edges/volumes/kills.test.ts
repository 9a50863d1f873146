import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { volumeFiles } from '../../../src/host/volumes/volume-files.js';
import { dice, SEED } from '../../embedded/seeded.js';
import { sourceBundle } from '../../support/source-bundle.js';
import { done, IS_ROOT, mountsBelow, visibleIn, volumeStage } from './volume-stage.js';
import { setupOf, type Step, type SteppedVolume, STEPS, takeStep, targetOf } from './volume-steps.js';

const KILLS = 200;
const LONGEST_MS = 900_000;
const files = volumeFiles();
const { at } = volumeStage();

let folder = '';
let child = '';
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'volume-child-'));
  child = await sourceBundle(folder, 'test/edges/volumes/volume-child.ts');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const step = (name: Step, volume: SteppedVolume): Promise<unknown> => done(takeStep(files, name, volume));

/** The names of the calls of a step, in order; the step is taken. */
const callsOf = async (name: Step, volume: SteppedVolume): Promise<readonly string[]> => {
  const calls: string[] = [];
  await done(takeStep(volumeFiles({ beforeCall: (call) => calls.push(call) }), name, volume));
  return calls;
};

/** Takes the step in a process of its own, which is killed right before a call. */
const killedBefore = (call: number, name: Step, volume: SteppedVolume): void => {
  const { signal, stderr } = spawnSync(process.execPath, [child, name, JSON.stringify(volume), String(call)]);
  if (signal !== 'SIGKILL') throw new Error(`the process was not killed before call ${call}: ${stderr.toString()}`);
};

/** The contents of all files, as a user of the volume reads them. */
const contentsIn = (volume: SteppedVolume): ReadonlySet<string> =>
  new Set(volume.paths.map((path) => readFileSync(join(setupOf(volume).directory, path), 'utf8')));

const expectWhole = (volume: SteppedVolume): void => {
  const { directory } = setupOf(volume);
  expect(contentsIn(volume)).toEqual(new Set([volume.content]));
  expect(visibleIn(directory)).toEqual([...new Set(volume.paths.map((path) => path.split('/')[0]!)), 'nested'].sort());
  expect(readdirSync(join(directory, 'nested'))).toEqual(['deep']);
  const own = readdirSync(directory).filter((entry) => entry.startsWith('..'));
  expect(own.sort()).toEqual([readlinkSync(join(directory, '..data')), '..data'].sort());
  const mounted = volume.isInMemory ? [directory, targetOf(volume)] : [targetOf(volume)];
  expect([...mountsBelow(volume.root)].sort()).toEqual(mounted.sort());
};

const expectGone = ({ root }: SteppedVolume): void => {
  expect(mountsBelow(root)).toEqual([]);
  expect(existsSync(join(root, 'volume-subpaths'))).toBe(false);
  const left = ['volumes', 'markers'].flatMap((name) =>
    existsSync(join(root, name)) ? readdirSync(join(root, name)) : [],
  );
  expect(left).toEqual([]);
};

/** Volumes of all kinds that make a difference for the calls. */
const variantsIn = (root: string): readonly SteppedVolume[] =>
  [true, false].flatMap((isInMemory) =>
    [true, false].map((hasGroup) => ({ root, isInMemory, hasGroup, paths: ['a', 'deep/er/b', 'c'], content: '' })),
  );

describe.runIf(IS_ROOT)(
  'a process that is killed with SIGKILL before any call of a mount, an update or an unmount',
  () => {
    it(
      `leaves what the next one completes, whole for its readers all the time (SEED=${SEED})`,
      { timeout: LONGEST_MS },
      async () => {
        const { oneOf } = dice(SEED);
        const variants = variantsIn(at());
        const calls = new Map<SteppedVolume, Readonly<Record<Step, readonly string[]>>>();
        for (const volume of variants) {
          const mount = await callsOf('mount', volume);
          const update = await callsOf('update', { ...volume, content: 'new' });
          calls.set(volume, { mount, update, unmount: await callsOf('unmount', volume) });
        }

        const points = new Set<string>();
        let kills = 0;
        let content = '';
        while (kills < KILLS) {
          const variant = oneOf(variants);
          for (const name of STEPS) {
            kills += 1;
            const before = content;
            if (name !== 'unmount') content = `content ${kills}`;
            const volume = { ...variant, content };
            const all = calls.get(variant)![name];
            // Each kind of call is as likely as any other, however often a step makes it.
            const kind = oneOf([...new Set(all)]);
            const call = oneOf(all.flatMap((each, index) => (each === kind ? [index + 1] : [])));
            killedBefore(call, name, volume);
            points.add(`${name} ${kind}`);
            if (name === 'update') expect([new Set([before]), new Set([content])]).toContainEqual(contentsIn(volume));
            await step(name, volume);
            if (name === 'unmount') expectGone(volume);
            else expectWhole(volume);
          }
        }
        // Not one kind of call of a step was left out.
        const known = [...calls.values()].flatMap((one) =>
          STEPS.flatMap((name) => one[name].map((call) => `${name} ${call}`)),
        );
        expect([...points].sort()).toEqual([...new Set(known)].sort());
      },
    );
  },
);
