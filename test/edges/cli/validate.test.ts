import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstValueFrom, filter, scan } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { validateManifests } from '../../../src/cli/commands/validate.js';
import { MANIFEST_LIMIT_BYTES } from '../../../src/sources/manifest-files.js';
import { fileSource } from '../../../src/sources/file-source.js';
import { manifestOf } from '../sources/source-events.js';

let folder = '';
let printed: string[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'validate-'));
  printed = [];
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed.push(String(text));
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  process.exitCode = 0;
  rmSync(folder, { recursive: true, force: true });
});

const file = (name: string, content = ''): string => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};

/** The lines that the command prints, and its exit code. */
const validate = async (...paths: readonly string[]) => {
  printed = [];
  process.exitCode = 0;
  await validateManifests(paths, { output: 'text' });
  return { lines: printed.join('').trimEnd().split('\n'), code: process.exitCode };
};

const tooLarge = (name: string): string => {
  const path = file(name, manifestOf('large'));
  truncateSync(path, MANIFEST_LIMIT_BYTES + 1);
  return path;
};

describe('validate', () => {
  it('refuses what the agent refuses of a folder, and nothing else', async () => {
    file('a.yaml', manifestOf('good'));
    file('b.yaml', manifestOf('good', 'other'));
    file('broken.yaml', 'kind: Pood');
    file('c.yaml', manifestOf('also-good'));
    file('wide.yaml', Buffer.from(manifestOf('wide'), 'utf16le').toString('latin1'));
    writeFileSync(join(folder, 'utf16.yaml'), manifestOf('wide'), 'utf16le');
    tooLarge('large.yaml');
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    symlinkSync('loop', join(folder, 'loop'));
    symlinkSync('nothing', join(folder, 'nowhere'));
    symlinkSync('/dev/zero', join(folder, 'zero'));
    mkdirSync(join(folder, 'directory'));
    const source$ = fileSource({ path: folder, nodeName: 'n', fileCheckFrequencyMs: 3_600_000 });
    const last = join(folder, 'nowhere');
    const agent = await firstValueFrom(
      source$.pipe(
        scan(
          ({ refused, pods }, event) => ({
            refused: event.kind === 'problem' ? new Set([...refused, event.problem.from ?? '']) : refused,
            pods: event.kind === 'set' ? event.pods.map(({ metadata }) => metadata.name) : pods,
          }),
          { refused: new Set<string>(), pods: [] as readonly string[] },
        ),
        // The last one listed, when there is no doubt that nothing will come.
        filter(({ refused }) => refused.has(last)),
      ),
    );
    const { lines, code } = await validate(folder);
    const named = new Set(lines.map((line) => line.replace(/:\d.*/, '')));
    expect([...named].sort()).toEqual([...agent.refused].sort());
    expect(agent.pods).toEqual(['good-n', 'also-good-n']);
    expect(code).toBe(1);
    const text = lines.join('\n').replaceAll(`${folder}/`, '');
    for (const said of [
      `b.yaml:1:1: metadata.name: is also the one of the pod at a.yaml:1, which comes first: this pod is ignored (expected a name of its own)`,
      'large.yaml:1:1: is larger than 10485760 bytes, the limit of a manifest',
      'pipe:1:1: is not a regular file (expected a manifest)',
      'zero:1:1: is not a regular file (expected a manifest)',
      'loop:1:1: cannot be read (ELOOP)',
      'nowhere:1:1: is a link to something that does not exist (expected a manifest)',
      'utf16.yaml:1:1: is UTF-16, expected UTF-8',
    ])
      expect(text).toContain(said);
  });

  it('goes on with the other files when one that is named cannot be read', async () => {
    const good = file('good.yaml', manifestOf('good'));
    symlinkSync('nothing', join(folder, 'nowhere'));
    const { lines, code } = await validate(join(folder, 'none'), join(folder, 'nowhere'), tooLarge('large'), good);
    expect(lines.map((line) => line.replace(`${folder}/`, ''))).toEqual([
      'large:1:1: is larger than 10485760 bytes, the limit of a manifest',
      'none:1:1: does not exist (expected a manifest or a folder of manifests)',
      'nowhere:1:1: is a link to something that does not exist (expected a manifest)',
    ]);
    expect(code).toBe(1);
  });

  it('reads a pipe that is named, up to the limit', async () => {
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const writer = spawn('sh', ['-c', `printf '%s' "$TEXT" > "$0"`, pipe], { env: { TEXT: manifestOf('piped') } });
    const ended = once(writer, 'exit');
    expect(await validate(pipe)).toEqual({ lines: ['ok: 1 pod in 1 file'], code: 0 });
    await ended;
    expect((await validate('/dev/zero')).lines).toEqual([
      '/dev/zero:1:1: is larger than 10485760 bytes, the limit of a manifest',
    ]);
  });

  it('takes the files of one folder together, and those of two for those of two nodes', async () => {
    const one = file('one.yaml', `${manifestOf('web')}---\n${manifestOf('web')}`);
    const { lines } = await validate(one, folder);
    expect(lines).toEqual([
      expect.stringMatching(/one\.yaml:10:1: metadata\.name: is also the one of the pod at .*one\.yaml:1, which/),
    ]);
    for (const node of ['a', 'b']) {
      mkdirSync(join(folder, node));
      file(join(node, 'web.yaml'), manifestOf('web'));
    }
    expect((await validate(join(folder, 'a'), join(folder, 'b'))).lines).toEqual(['ok: 2 pods in 2 files']);
    const uid = (name: string) => manifestOf(name).replace('spec:', '  uid: u1\nspec:');
    const twice = file('a/zz.yaml', uid('first'));
    const { lines: same } = await validate(twice, file('a/zy.yaml', uid('second')));
    expect(same).toEqual([
      expect.stringMatching(/zz\.yaml:1:1: metadata\.uid: is also the one of the pod at .*zy\.yaml:1, which/),
    ]);
  });

  it('counts ConfigMaps and Secrets, which are used once each and not in a cluster', async () => {
    const object = (kind: string) => `apiVersion: v1\nkind: ${kind}\nmetadata: {name: web}\n`;
    const user = manifestOf('web').replace('containers:', 'imagePullSecrets: [{name: web}]\n  containers:');
    const one = file('one.yaml', [user, object('ConfigMap'), object('Secret')].join('---\n'));
    expect(await validate(one)).toEqual({ lines: ['ok: 1 pod, 1 ConfigMap and 1 Secret in 1 file'], code: 0 });
    await validateManifests([one], { output: 'json' });
    expect(JSON.parse(printed.at(-1) ?? '')).toEqual({
      ...{ pods: 1, configMaps: 1, secrets: 1 },
      ...{ problems: [], warnings: [] },
    });
    file('two.yaml', object('Secret'));
    expect((await validate(folder)).lines).toEqual([
      expect.stringMatching(
        /two\.yaml:1:1: metadata\.name: is also the one of the Secret at .*one\.yaml:\d+, which comes first: this Secret is ignored/,
      ),
    ]);
    printed = [];
    await validateManifests([one], { output: 'text', cluster: true });
    const lines = printed.join('').trimEnd().split('\n');
    expect(lines.map((line) => line.replace(/^.*one\.yaml:\d+:\d+: /, ''))).toEqual([
      'spec.imagePullSecrets: static pods may not reference secrets (expected a pod that needs nothing of the API)',
      'kind: "ConfigMap" of a manifest is used only on a node without an API server (expected Pod, PodList or List)',
      'kind: "Secret" of a manifest is used only on a node without an API server (expected Pod, PodList or List)',
    ]);
  });
});
