import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BUNDLE } from '../../embedded/daemon.js';
import type { Plan } from '../../../src/tools/sim/plan/plan.js';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'plan-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const planWith = async (args: readonly string[], input = '') => {
  const child = spawn(process.execPath, [BUNDLE, 'plan', ...args]);
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const exit = once(child, 'exit') as Promise<[code: number | null]>;
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), exit]);
  return { code, stdout, stderr };
};
const file = (name: string, content: string): string => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};

const POD = `apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {containers: [{name: app, image: shop/web}]}
`;
const CRASHING = 'containers: {app: {exitsAfter: 1s, exitCode: 1}}\n';

describe('plan', () => {
  it('gives pods their ConfigMaps and Secrets, and shows which one is missing', async () => {
    const user = POD.replace('image: shop/web', 'image: "shop/web:1", envFrom: [{secretRef: {name: keys}}]');
    const keys = 'apiVersion: v1\nkind: Secret\nmetadata: {name: keys}\nstringData: {A: hunter2}\n';
    const pod = file('web.yaml', user);
    const missing = await planWith([pod, '--for', '30s']);
    expect(missing.stdout).toContain('Error: secret "keys" not found');
    const found = await planWith([pod, '-', '--for', '30s', '-o', 'json'], keys);
    expect(found).toMatchObject({ code: 0, stderr: '' });
    expect((JSON.parse(found.stdout) as Plan).pods[0]?.firstReady).toBeDefined();
    expect(found.stdout).not.toContain('hunter2');
    const twice = await planWith([pod, file('keys.yaml', keys), '-'], keys);
    expect(twice).toMatchObject({ code: 1, stdout: '' });
    expect(twice.stderr).toContain('metadata.name: is that of another Secret (expected a name of its own)');
  });

  it('says what becomes of a pod, with its lanes and what they mean', async () => {
    const [pod, scenario] = [file('web.yaml', POD), file('scenario.yaml', CRASHING)];
    const { code, stdout, stderr } = await planWith([pod, '--scenario', scenario, '--for', '5m']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^1 pod for 5m0s, then deleted; jitter is drawn by seed 1\n\ndefault\/web\n {2}ready /);
    expect(stdout).toMatch(/^ {2}restarts of app\n {4}# .*\n(.*\n)* {4}2 .* 10s \(1 of 6\) /m);
    expect(stdout).toMatch(/^ app .*[●✗]/m);
    expect(stdout).toMatch(/^◆ change .* back-off/m);
    // The reader of a pipe gets no colours.
    expect(stdout).not.toContain('\u001b');
  });

  it('is JSON of one form, the same for the same seed', async () => {
    const [pod, scenario] = [file('web.yaml', POD), file('scenario.yaml', CRASHING)];
    const plan = (seed: string) =>
      planWith([pod, '--scenario', scenario, '--for', '10m', '--seed', seed, '-o', 'json']);
    const [one, again, other] = await Promise.all([plan('a'), plan('a'), plan('b')]);
    const parsed = JSON.parse(one.stdout) as Plan;
    expect(parsed).toMatchObject({
      version: 1,
      seed: 'a',
      forMs: 600_000,
      pods: [{ name: 'web', namespace: 'default' }],
    });
    expect(again.stdout).toBe(one.stdout);
    const starts = ({ pods: [pod] }: Plan) => pod?.containers[0]?.instances.map(({ startedMs }) => startedMs);
    expect(starts(JSON.parse(other.stdout) as Plan)).not.toEqual(starts(parsed));
  });

  it.each(['svg', 'html'] as const)('is one file of %s that needs no other', async (format) => {
    const target = join(folder, `plan.${format}`);
    const evil = POD.replace('shop/web', '"</script><script>alert(1)</script>"');
    const { code, stdout } = await planWith(['-', '-o', format, '--for', '1m', '--output-file', target], evil);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    const written = readFileSync(target, 'utf8');
    expect(written).toContain('<svg xmlns="http://www.w3.org/2000/svg"');
    expect(written.replaceAll('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:\/\/|<link|src=|@import|url\(/);
    expect(written).toContain('plan of web');
    expect(written).not.toContain('<script>alert(1)');
  });

  it('takes folders and several pods', async () => {
    file('one.yaml', POD);
    file('two.yaml', POD.replace('web}', 'api}'));
    const { stdout } = await planWith([folder, '--for', '1m', '-o', 'json']);
    expect((JSON.parse(stdout) as Plan).pods.map(({ name }) => name)).toEqual(['web', 'api']);
  });
});

describe('plan refuses, with the place,', () => {
  it.each([
    [
      'a manifest',
      POD.replace('image', 'imge'),
      '',
      /^\S+web\.yaml:4:\d+: spec\.containers\[0\]\.imge: is not a known field \(expected perhaps image\)\n$/,
    ],
    [
      'a scenario',
      POD,
      'containers:\n  app: {exitAfter: 1s}\n',
      /^\S+scenario\.yaml:2:9: containers\.app\.exitAfter: is not a known field \(expected perhaps exitsAfter\)\n$/,
    ],
    [
      'a container that no manifest has',
      POD,
      'containers: {ap: {}}\n',
      /^\S+scenario\.yaml:1:14: containers\.ap: no manifest has a container "ap" \(expected perhaps app; one of web\/app\)\n$/,
    ],
    [
      'two pods of one name',
      `${POD}---\n${POD}`,
      '',
      /^\S+web\.yaml:6:1: metadata\.name: another pod is called "web" \(expected a name of its own\)\n$/,
    ],
  ])('%s', async (_what, manifest, scenario, message) => {
    const [pod, assumed] = [file('web.yaml', manifest), file('scenario.yaml', scenario)];
    const { code, stdout, stderr } = await planWith([pod, '--scenario', assumed]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(message);
  });

  it.each([
    [
      ['--for', '0s'],
      /^Error: option '--for <duration>' argument '0s' is invalid\. expected a duration such as 1h or 1m30s/,
    ],
    [['--for', 'long'], /^Error: option '--for <duration>' argument 'long' is invalid/],
    [
      ['-o', 'yaml'],
      /^Error: option '-o, --output <format>' argument 'yaml' is invalid\. Allowed choices are text, json, svg, html\.\n$/,
    ],
    [['--scenario', '/nowhere.yaml'], /^Error: ENOENT.*\/nowhere\.yaml'\n$/],
    [['--output-file', '/nowhere/plan'], /^Error: ENOENT.*\/nowhere\/plan'\n$/],
    [['/nowhere/pod.yaml'], /^\/nowhere\/pod\.yaml:1:1: does not exist \(expected a manifest.*\n$/],
  ])('what makes no sense: %j', async (args, message) => {
    const { code, stdout, stderr } = await planWith([file('web.yaml', POD), '--for', '1s', ...args]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(message);
  });

  it('manifests without a pod, and no manifest at all', async () => {
    expect(await planWith([folder])).toEqual({
      code: 1,
      stdout: '',
      stderr: `Error: ${folder}: no pod to plan (expected at least one)\n`,
    });
    expect((await planWith([])).stderr).toBe("Error: missing required argument 'FILE'\n");
  });
});
