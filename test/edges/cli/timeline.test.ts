import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BUNDLE } from '../../embedded/daemon.js';
import { createRecordingFile } from '../../../src/tools/recording/file/recording-file.js';
import type { Logger } from '../../../src/streams/ports/logger.js';
import { header, recordedPod } from '../../unit/tools/recording/recorded-pod.js';
import { crashLoop } from '../../unit/tools/timeline/crash-loop.js';

const silent: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

let folder = '';
let recording = '';
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'timeline-'));
  mkdirSync(join(folder, 'journal'));
  writeFileSync(
    join(folder, 'journal', 'journal.jsonl'),
    crashLoop.map((entry) => `${JSON.stringify(entry)}\n`).join(''),
  );
  recording = join(folder, 'pod.rec');
  const file = createRecordingFile({ path: recording, lastLine: () => '', maxBytes: 1e6, log: silent });
  for (const entry of [header, ...recordedPod]) file.append(JSON.stringify(entry));
  await file.close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const timeline = async (...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> => {
  const all = [BUNDLE, 'timeline', '--root-dir', folder, ...args];
  const child = spawn(process.execPath, all, { env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined } });
  const [stdout, stderr, exit] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { code: exit[0] as number, stdout, stderr };
};

describe('timeline', () => {
  it('draws the journal of a pod up to its last entry when no agent runs', async () => {
    const { code, stdout, stderr } = await timeline('web', '--width', '100');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('web_default on n\n2026-01-01T12:00:00.500Z to 2026-01-01T12:00:55.010Z, 55s\n');
    expect(stdout).toMatch(/^ app +┄●━.*✗┄.*┄╼●━.*✗┄/m);
    expect(stdout).toMatch(/^12:00:36\.100Z {2}✗ {2}app +app ended with exit code 1 +e25$/m);
  });

  it('draws a part of it, with ASCII characters', async () => {
    const { stdout } = await timeline(
      'web',
      '--since',
      '2026-01-01T12:00:12Z',
      '--until',
      '2026-01-01T12:00:20Z',
      '--ascii',
    );
    expect(stdout).toContain('2026-01-01T12:00:12.000Z to 2026-01-01T12:00:20.000Z, 8s\n');
    expect(stdout).toMatch(/^ app +\.-*o=.*x/m);
    expect(stdout).not.toMatch(/[^\p{ASCII}]/u);
  });

  it('writes JSON, SVG and HTML, into a file if one is named', async () => {
    const json = await timeline('web', '-o', 'json');
    expect(JSON.parse(json.stdout)).toMatchObject({ node: 'n', pods: [{ ref: { name: 'web' } }] });
    for (const [format, begin] of [
      ['svg', '<svg '],
      ['html', '<!doctype html>'],
    ] as const) {
      const file = join(folder, `web.${format}`);
      expect(await timeline('web', '-o', format, '--output-file', file)).toEqual({ code: 0, stdout: '', stderr: '' });
      expect(readFileSync(file, 'utf8').startsWith(begin)).toBe(true);
    }
  });

  it('draws a recording, with what the journal does not have', async () => {
    const { code, stdout, stderr } = await timeline('web', '--recording', recording);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('web-n_default on n\n2026-01-01T12:00:01.100Z to 2026-01-01T12:01:04.000Z, 1m3s\n');
    expect(stdout).toMatch(/× {2}app readiness +the readiness probe of app failed: no +probe-5$/m);
    expect(stdout).toMatch(/▬ {2}calls +ContainerStatus app took 10ms, and failed: broken +call-4$/m);
  });

  it.each([
    [['nobody'], /^Error: no pod "nobody" in the journal; pods it knows: web_default\n$/],
    [
      ['web', '--since', 'soon'],
      /^Error: --since "soon" is no time: expected a duration such as 10m, or a date such as \S+\n$/,
    ],
    [
      ['web', '--until', '2020-01-01'],
      /^Error: nothing is known of web_default in that time; its last entry is of 2026-01-01T12:00:55.010Z\n$/,
    ],
    [['web', '--since', '2026-01-02', '--until', '2026-01-01'], /^Error: --since is after the end of the timeline\n$/],
    [['web', '--width', '5'], /argument '5' is invalid\. expected 20 to 9999 columns\n$/],
    [['web', '-o', 'pdf'], /argument 'pdf' is invalid\. Allowed choices are text, json, svg, html\.\n$/],
    [['web', '--recording', '/nowhere'], /^Error: the recording cannot be read: ENOENT.*'\/nowhere'\n$/],
    [[], /^Error: missing required argument 'POD'\n$/],
  ])('refuses %j in one line', async (args, message) => {
    const { code, stdout, stderr } = await timeline(...args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(message);
  });
});
