import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { concat, NEVER, of } from 'rxjs';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { BUNDLE } from '../../embedded/daemon.js';
import { packageVersion } from '../../../src/cli/process/version.js';
import { podSet } from '../../../src/model/pod/pod-set.js';
import { createRecordingFile } from '../../../src/tools/recording/file/recording-file.js';
import { simulatedNode } from '../../../src/tools/sim/simulated-node.js';
import { aPod } from '../../support/a-pod.js';
import { recordingsInMemory } from '../../sim/recording/recordings-in-memory.js';

const HERE = `rx-kubelet ${packageVersion()}`;

/** A minute of a pod that crashes and of one that does not, as lines. */
let lines: readonly string[] = [];
beforeAll(() => {
  const { makeKubelet, recordings } = recordingsInMemory(undefined, { by: HERE });
  const pods = [
    aPod({ uid: 'uid-web', name: 'web' }),
    aPod({ uid: 'uid-crash', name: 'crash-node-1', spec: { containers: [{ name: 'fails', image: 'busy' }] } }),
  ];
  const node = simulatedNode({
    ...{ seed: 3, makeKubelet, sources: { file: concat(of(podSet(pods)), NEVER) } },
    behaviours: { containers: { 'crash/fails': [{ exitsAfterMs: 2_000, exitCode: 3 }] } },
  });
  node.start();
  node.scheduler.runUntil(node.scheduler.now() + 60_000);
  node.stop('the test is over', 1);
  node.scheduler.runUntil(node.scheduler.now() + 60_000);
  lines = recordings()[0]?.lines ?? [];
});

let folder = '';
let file = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'replay-'));
  file = join(folder, 'node.rec');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const nothing = (): void => undefined;
const log = { debug: nothing, info: nothing, warn: nothing, error: nothing };

const write = async (recorded: readonly string[], path = file): Promise<void> => {
  const recording = createRecordingFile({ path, lastLine: (reason) => reason, maxBytes: 2 ** 30, log });
  for (const line of recorded) recording.append(line);
  await recording.close();
};

/** The recording with one line replaced: the first of the journal about a back-off. */
const withBackOff = (change: (line: string) => string): readonly string[] => {
  const index = lines.findIndex((line) => line.includes('"kind":"back-off"'));
  return lines.map((line, number) => (number === index ? change(line) : line));
};

const run = async (...args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> => {
  const child = spawn(process.execPath, [BUNDLE, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const exit = once(child, 'exit') as Promise<[number]>;
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), exit]);
  return { code, stdout, stderr };
};
const replay = (...args: readonly string[]) => run('replay', file, ...args);

describe('replay', () => {
  it('says that nothing differs, as text and as JSON', async () => {
    await write(lines);
    const { code, stdout, stderr } = await replay();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^no difference: \d+ entries, \d+ effects, 1m\d\S*s in \d\S*s\n$/);

    const json = await replay('-o', 'json');
    expect(JSON.parse(json.stdout)).toMatchObject({ same: true, entries: lines.length, end: 'ended', tornBytes: 0 });
    expect(json.code).toBe(0);
  });

  it('names the first difference with its causes', async () => {
    // As if the recorded agent had waited longer.
    await write(withBackOff((line) => line.replace('"delayMs":10000', '"delayMs":20000')));
    const { code, stdout } = await replay();
    expect(code).toBe(1);
    expect(stdout.split('\n')).toEqual([
      expect.stringMatching(
        /^difference at entry \d+, \d+\.\d{3} s after the beginning \(\S+Z\), crash-node-1_default\/fails$/,
      ),
      '  recorded: the restart of fails was put off by 20 s',
      '  replayed: the restart of fails was put off by 10 s',
      expect.stringMatching(/^ {2}during: {3}entry \d+, \w+$/),
      'because:',
      expect.stringMatching(/had to start fails: .* exited with code 3 /),
      '  0 s before: fails ended with exit code 3',
      '  2 s before: started fails',
      expect.stringMatching(/had to start fails: .* exited with code 3 /),
      expect.stringMatching(/before: the pod was added by the source file$/),
      expect.stringMatching(/^\d+ effects before it are the same$/),
      '',
    ]);

    const json = JSON.parse((await replay('-o', 'json')).stdout) as { difference: { entry: number; journal: string } };
    expect(json).toMatchObject({
      same: false,
      difference: {
        pod: 'crash-node-1_default',
        container: 'fails',
        field: { path: 'record.delayMs', expected: '20000', actual: '10000' },
      },
    });
    expect(lines[json.difference.entry]).toContain(`"id":"${json.difference.journal}"`);
  });

  it('names the field that differs where the words are the same', async () => {
    await write(withBackOff((line) => line.replace('"steps":6', '"steps":7')));
    expect((await replay()).stdout).toContain('\n  where:    record.steps was 7 and is 6\n');
  });

  it('shows what was done about a pod, by its name with or without that of the node', async () => {
    await write(lines);
    const { code, stdout } = await replay('--pod', 'crash');
    expect(code).toBe(0);
    expect(stdout).toMatch(/s {2}calls CreateContainer fails\n.*\n*.*started fails\n/s);
    expect(stdout).toMatch(/was put off by 10 s\n/);
    expect(stdout).toMatch(/no difference: .*\n$/);
    expect((await replay('--pod', 'crash-node-1_default')).stdout.split('\n').slice(0, -2)).toEqual(
      stdout.split('\n').slice(0, -2),
    );
    expect(await replay('--pod', 'nobody')).toMatchObject({
      code: 1,
      stderr: `(nothing in ${file} is about a pod "nobody")\n`,
    });
  });

  it('stops at the step of its flag', async () => {
    await write(withBackOff((line) => line.replace('"delayMs":10000', '"delayMs":20000')));
    const early = await replay('--until', '3s');
    expect(early.stdout).toMatch(/^no difference: /);
    const { startedAt } = JSON.parse(lines[0] ?? '') as { startedAt: number };
    expect((await replay('--until', new Date(startedAt + 3_000).toISOString())).stdout).toMatch(/^no difference: /);
    expect((await replay('--until', new Date(startedAt + 30_000).toISOString())).code).toBe(1);
    expect(await replay('--until', 'noon')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^Error: --until "noon" is no time: expected a duration .*\n$/) as string,
    });
  });

  it('reads as far as there is anything', async () => {
    await write(lines.slice(0, -20));
    appendFileSync(file, Buffer.from([0x1f, 0x8b, 8, 4]));
    const { code, stdout } = await replay();
    expect(code).toBe(0);
    expect(stdout).toContain('the recording ends while the agent runs, with 4 bytes that are torn\n');

    const cut = join(folder, 'cut.rec');
    await write([...lines.slice(0, -20), '{"kind":"cut","reason":"it would be too large"}'], cut);
    expect((await run('replay', cut)).stdout).toContain(
      'the recording ends before the agent did: it would be too large\n',
    );
  });

  it('says that it is damaged, and not that anything differs', async () => {
    await write(lines);
    const bytes = readFileSync(file);
    const at = Math.floor(bytes.length * 0.9);
    bytes[at] = (bytes[at] ?? 0) ^ 0x01;
    writeFileSync(file, bytes);
    const { code, stdout, stderr } = await replay();
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^Error: \S+node\.rec is damaged (after entry \d+|at its beginning): no whole block .*\n$/);
  });

  it('says that another recording is behind the first', async () => {
    await write(lines);
    appendFileSync(file, readFileSync(file));
    const { code, stdout } = await replay();
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^no difference: .*\nanother recording begins after it, with entry \d+; it was not replayed/,
    );
    expect(JSON.parse((await replay('-o', 'json')).stdout)).toMatchObject({ same: true, secondFrom: lines.length });
  });

  it('warns of another version and goes on', async () => {
    await write([(lines[0] ?? '').replace(HERE, 'rx-kubelet 0.0.1'), ...lines.slice(1)]);
    const { code, stderr } = await replay();
    expect(code).toBe(0);
    expect(stderr).toBe(`warning: ${file} was recorded by rx-kubelet 0.0.1, and this is ${HERE}\n`);
  });

  it('says in one line what is wrong with a file', async () => {
    expect((await replay()).stderr).toMatch(/^Error: the recording cannot be read: ENOENT.*\n$/);
    writeFileSync(file, 'kind: Pod\n'.repeat(100));
    expect((await replay()).stderr).toBe(`Error: ${file} is no recording: it does not begin with a block of one\n`);
    const contradiction = join(folder, 'contradiction.rec');
    const step = lines.findIndex((line, index) => index > 3 && line.includes('"at":'));
    await write([...lines.slice(0, step), '{"kind":"fired","timer":9999,"at":1}'], contradiction);
    expect(await run('replay', contradiction)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^Error: \S+contradiction\.rec: entry \d+ of the recording: no timer 9999 is set\n$/,
      ) as string,
    });
  });

  it('writes a test, and not over a file that is there', async () => {
    await write(lines);
    const test = join(folder, 'incident.test.ts');
    expect(await replay('--to-test', test)).toMatchObject({ code: 0, stderr: '' });
    const written = readFileSync(test, 'utf8');
    expect(written).toContain(`// Made by ${HERE} from node.rec`);
    expect(written).toContain('"default/crash-node-1 fails": [');
    expect(written).not.toContain(folder);
    expect(await replay('--to-test', test)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('EEXIST') as string,
    });
  });

  it('replay writes no test that would expect nothing, and says why', async () => {
    await write(lines);
    const test = join(folder, 'incident.test.ts');
    const { code, stdout, stderr } = await replay('--until', '0', '--to-test', test);
    expect(stdout).toMatch(/^no difference: /);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr:
        'no test was written: nothing in the recording can be expected: the recording shows no start, end or event of a pod\n',
    });
    expect(existsSync(test)).toBe(false);
  });

  it('replay writes no test that would fail, and names the differences', async () => {
    // As if the recorded agent had emitted another event.
    const told = lines.findIndex((line) => line.includes('"told"') && line.includes('"BackOff"'));
    await write(lines.map((line, number) => (number === told ? line.replace('"BackOff"', '"Elsewhere"') : line)));
    const test = join(folder, 'incident.test.ts');
    const result = await replay('--to-test', test);
    expect(result).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^no test was written: the recording does not replay in a simulation: .*\n( {2}default\/\S+.*: expected .*, and saw .*\n)+$/,
      ) as string,
    });
    expect(existsSync(test)).toBe(false);
  });
});

describe('run --record', () => {
  it.each([
    [['--record-max-size', '12'], "'12' is invalid. expected a size such as 256Mi, and at least 1Mi"],
    [['--record-max-size', 'much'], "'much' is invalid. expected a size such as 256Mi, and at least 1Mi"],
    [['--record', 'here', '--runonce'], '--record records a loop, and there is none with --runonce'],
  ])('refuses %j', async (flags, problem) => {
    const { code, stderr } = await run('run', '--root-dir', folder, ...flags);
    expect(code).toBe(1);
    expect(stderr).toContain(problem);
  });

  it('says at once that there can be no such file', async () => {
    const path = join(folder, 'missing', 'node.rec');
    const { code, stderr } = await run('run', '--root-dir', folder, '--healthz-port', '0', '--record', path);
    expect(code).toBe(1);
    expect(stderr).toContain(`Error: --record: cannot create ${path}: ENOENT`);
    expect(existsSync(join(folder, 'missing'))).toBe(false);
  });
});
