import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { FlagError, readFlags } from '../../scripts/simulate/flags.js';
import { generateHistory } from '../../src/tools/sim/histories/generate-history.js';

describe('the flags', () => {
  it.each([
    ['', { seeds: 1000, from: 1, timeMs: Infinity, workers: 4, tolerate: 0 }],
    ['--fresh --time 45s --tolerate 2', { from: undefined, timeMs: 45_000, tolerate: 2 }],
    ['--seeds 50 --from 7 --workers 2', { seeds: 50, from: 7, workers: 2 }],
    ['--seed 123', { seeds: 1, from: 123 }],
    ['--fresh --seeds 10', { seeds: 10, from: undefined }],
    ['--time 1m30s', { seeds: 2 ** 31, from: 1, timeMs: 90_000 }],
    ['--time 5s --seeds 3', { seeds: 3, timeMs: 5_000 }],
    ['--history one.json', { history: 'one.json', kind: 'node' }],
    ['--cluster --seed 4', { kind: 'cluster', from: 4 }],
    ['--clocks --seed 4', { kind: 'clocks', from: 4 }],
    ['--power --seed 4', { kind: 'power', from: 4 }],
    ['--shutdowns --seed 4', { kind: 'shutdowns', from: 4 }],
    ['--pressure --seed 4', { kind: 'pressure', from: 4 }],
  ])('%s', (text, flags) => {
    expect(readFlags(text.split(' ').filter(Boolean), 4)).toMatchObject(flags);
  });

  it('ask for help', () => {
    expect(readFlags(['-h'], 1)).toBe('help');
  });

  it.each([
    ['--seeds 0', '--seeds is "0": expected a whole number from 1 to'],
    ['--seeds many', '--seeds is "many": expected a whole number'],
    ['--from=-1', '--from is "-1": expected a whole number from 0 to'],
    ['--seed 1.5', '--seed is "1.5": expected a whole number'],
    ['--tolerate some', '--tolerate is "some": expected a whole number from 0'],
    ['--workers 0', '--workers is "0": expected a whole number from 1 to 256'],
    ['--time soon', '--time is "soon": expected a duration such as 90s or 5m'],
    ['--time 0s', '--time is "0s": expected a duration'],
    ['--seed 1 --seeds 2', '--seed is about one history, and --seeds about many'],
    ['--history a --fresh', '--history is about one history, and --fresh about many'],
    ['--seed 1 --history a', '--seed and --history exclude each other'],
    ['--cluster --history a', 'the file of --history states what its node is: leave --cluster out'],
    ['--cluster --clocks', '--cluster and --clocks exclude each other'],
    ['--clocks --power', '--clocks and --power exclude each other'],
    ['--fresh --from 3', '--fresh draws the first seed, and --from gives it'],
    ['--sead 1', "Unknown option '--sead'"],
  ])('cannot be %s', (text, problem) => {
    expect(() => readFlags(text.split(' '), 1)).toThrow(FlagError);
    expect(() => readFlags(text.split(' '), 1)).toThrow(problem);
  });
});

describe('the command', () => {
  const script = fileURLToPath(new URL('../../scripts/simulate.mjs', import.meta.url));
  const directory = mkdtempSync(join(tmpdir(), 'rx-kubelet-test-'));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  const simulate = (...args: readonly string[]) =>
    new Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }>((resolve) => {
      execFile(process.execPath, [script, ...args], (error, stdout, stderr) =>
        resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
      );
    });

  it('runs its seeds in workers, says which, and how to repeat them', async () => {
    const { code, stdout, stderr } = await simulate('--seeds', '3', '--from', '40', '--workers', '2');
    expect(stderr).toBe('');
    expect(stdout).toContain('seeds 40 to 42, 2 workers');
    expect(stdout).toMatch(/3 seeds, 0 failed, in .* hours of virtual time/);
    expect(stdout).toContain('repeat with: npm run simulate -- --from 40 --seeds 3');
    expect(code).toBe(0);
  });

  it('runs nodes of a cluster, and says how to repeat them', async () => {
    const { code, stdout } = await simulate('--cluster', '--seeds', '2', '--from', '1');
    expect(stdout).toMatch(/2 seeds, 0 failed, in .* hours of virtual time/);
    expect(stdout).toContain('repeat with: npm run simulate -- --cluster --from 1 --seeds 2');
    expect(code).toBe(0);
  });

  it('prints the seed that it has drawn', async () => {
    const { stdout } = await simulate('--fresh', '--seeds', '1');
    expect(stdout).toMatch(/repeat with: npm run simulate -- --from \d+ --seeds 1/);
  });

  it('runs the history of a file', async () => {
    const file = join(directory, 'history.json');
    writeFileSync(file, JSON.stringify(generateHistory(3)));
    const { code, stdout } = await simulate('--history', file);
    expect(stdout).toMatch(/history\.json: nothing is violated in .* s of virtual time/);
    expect(code).toBe(0);
  });

  it('says what is wrong with its flags, and with a file', async () => {
    const flags = await simulate('--seeds', 'x');
    expect([flags.code, flags.stderr.split('\n')[0]]).toEqual([
      2,
      'simulate: --seeds is "x": expected a whole number from 1 to 2147483648',
    ]);
    const file = join(directory, 'broken.json');
    writeFileSync(file, '{"pods": 1}');
    const broken = await simulate('--history', file);
    expect([broken.code, broken.stderr.split('\n')[0]]).toEqual([
      2,
      `simulate: --history ${file}: field pods: expected a list`,
    ]);
  });
});
