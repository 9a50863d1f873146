import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

interface Verdict {
  readonly code: number | null;
  readonly lines: readonly string[];
}

let folder: string;
let results: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'verdict-'));
  results = join(folder, 'results.jsonl');
  writeFileSync(results, '');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const verdict = (command: string, ...args: readonly string[]): Verdict => {
  const { status, stdout, stderr } = spawnSync('node', [join(ROOT, '.ci/verdict.mjs'), command, results, ...args], {
    encoding: 'utf8',
  });
  if (stderr !== '') throw new Error(stderr);
  return { code: status, lines: stdout.trim().split('\n') };
};
const say = (...lines: readonly object[]): void =>
  writeFileSync(results, lines.map((line) => `${JSON.stringify(line)}\n`).join(''), { flag: 'a' });

type Outcome = 'passed' | 'failed' | 'skipped';
/** The lines of one vitest over one file. */
const run = (stage: string, attempt: number, tests: Readonly<Record<string, Outcome>>, error = ['Error: no']): void => {
  const common = { stage, try: attempt, file: 'test/a.test.ts' };
  say(
    { ...common, kind: 'expected' },
    ...Object.entries(tests).flatMap(([test, state]) => [
      { ...common, kind: 'begun', test },
      { ...common, kind: 'test', test, state, error: state === 'failed' ? error : [] },
    ]),
    { ...common, kind: 'file', state: 'passed', error: [] },
    { kind: 'run', stage, try: attempt, code: Object.values(tests).every((state) => state === 'passed') ? 0 : 1 },
  );
};

describe('the verdict of the check', () => {
  it('counts checks and tests', () => {
    say({ kind: 'check', name: 'lint', state: 'passed' });
    run('edges', 1, { one: 'passed', two: 'passed' });
    expect(verdict('end')).toEqual({ code: 0, lines: ['3 passed, 0 failed'] });
  });

  it('counts tests of the same name one by one', () => {
    run('edges', 1, { one: 'passed' });
    const common = { stage: 'edges', try: 1, file: 'test/a.test.ts' };
    say({ ...common, kind: 'test', test: 'one', state: 'passed', error: [] });
    expect(verdict('end')).toEqual({ code: 0, lines: ['2 passed, 0 failed'] });
  });

  it('says where the time went, and what was left over', () => {
    verdict('check', 'lint', 'passed', '/nowhere', '125');
    verdict('check', 'npm ci', 'passed', '/nowhere', '9');
    verdict('check', 'nothing', 'passed', '/nowhere', '0');
    say({ kind: 'run', stage: 'edges', try: 2, code: 0, seconds: 60, busy: 91 });
    run('edges', 1, { one: 'passed' });
    verdict('left', 'a process: 12 sleep\na mount: /tmp/rxci-1/x');
    expect(verdict('end')).toEqual({
      code: 0,
      lines: [
        '== left over',
        'ended and removed:',
        '    a process: 12 sleep',
        '    a mount: /tmp/rxci-1/x',
        '',
        'time: lint 2:05, edges again 1:00 (91 % busy), npm ci 0:09',
        '',
        '4 passed, 0 failed',
      ],
    });
  });

  it('names a failed check with the end of its log', () => {
    writeFileSync(join(folder, 'log'), 'much\nE: no such package\n');
    verdict('check', 'install', 'failed', join(folder, 'log'));
    expect(verdict('end')).toEqual({
      code: 1,
      lines: [
        '== failed',
        'failed: install',
        '    much',
        '    E: no such package',
        `    log: ${join(folder, 'log')}`,
        '',
        '0 passed, 1 failed',
      ],
    });
  });

  it('counts a skipped test as failed', () => {
    run('edges', 1, { one: 'passed', two: 'skipped' });
    const { code, lines } = verdict('end');
    expect([code, lines[1], lines.at(-1)]).toEqual([1, 'skipped: test/a.test.ts > two', '1 passed, 1 failed']);
  });

  it('lists what failed and then passed alone as flaky, and as passed', () => {
    run('edges', 1, { one: 'passed', two: 'failed' });
    expect(verdict('again', 'edges').lines).toEqual(['test/a.test.ts']);
    run('edges', 2, { one: 'passed', two: 'passed' });
    expect(verdict('again', 'edges').lines).toEqual(['']);
    expect(verdict('end')).toEqual({
      code: 0,
      lines: [
        '== flaky',
        'flaked: test/a.test.ts > two (failed, passed)',
        '    Error: no',
        "    repeat: npx vitest run test/a.test.ts -t 'two'",
        '',
        '2 passed, 0 failed',
      ],
    });
  });

  it('looks twice again, and no further', () => {
    for (const attempt of [1, 2]) run('edges', attempt, { one: 'failed' });
    expect(verdict('again', 'edges').lines).toEqual(['test/a.test.ts']);
    run('edges', 3, { one: 'failed' });
    expect(verdict('again', 'edges').lines).toEqual(['']);
    expect(verdict('end').code).toBe(1);
  });

  it.each([
    ['once', ['failed', 'passed'], 1],
    ['three times', ['failed', 'passed', 'passed', 'passed'], 0],
    ['three times, but not in a row', ['failed', 'passed', 'failed', 'passed'], 1],
  ] as const)('of a broken promise of the agent that passed %s', (_, states, code) => {
    states.forEach((state, index) => run('edges', index + 1, { one: state }, ['two live containers: a/b']));
    expect(verdict('end').code).toBe(code);
  });

  it('asks for three more looks at a broken promise, and for none once one has failed', () => {
    const broken = (attempt: number, state: Outcome): void => run('edges', attempt, { 'without losing a line': state });
    const files = ['test/a.test.ts'];
    broken(1, 'failed');
    expect(verdict('again', 'edges').lines).toEqual(files);
    broken(2, 'passed');
    expect(verdict('again', 'edges').lines).toEqual(files);
    broken(3, 'failed');
    expect(verdict('again', 'edges').lines).toEqual(['']);
  });

  const all = (count: number, state: Outcome): Record<string, Outcome> =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`test ${index}`, state]));

  it('a run with three flaky tests is red, and one with two is green', () => {
    run('edges', 1, { ...all(2, 'failed'), 'test 2': 'passed' });
    run('edges', 2, all(3, 'passed'));
    expect(verdict('end').lines).toContain('3 passed, 0 failed');
    run('containerd', 1, { one: 'failed' });
    run('containerd', 2, { one: 'passed' });
    expect(verdict('end').lines).toEqual(
      expect.arrayContaining(['failed: 3 flaky tests, more than 2', '4 passed, 1 failed']),
    );
  });

  it('the files of nine failed tests are not run again', () => {
    run('edges', 1, all(9, 'failed'));
    expect(verdict('again', 'edges').lines).toEqual(['']);
  });

  it('reports what fresh seeds have found, and does not count it', () => {
    run('edges', 1, { one: 'passed' });
    run('fresh', 1, { property: 'failed' });
    expect(verdict('end')).toEqual({
      code: 0,
      lines: [
        '== found by fresh seeds',
        'test/a.test.ts > property',
        '    Error: no',
        "    repeat: npx vitest run test/a.test.ts -t 'property'",
        '',
        '1 passed, 0 failed',
      ],
    });
  });

  it('names a stage that was ended after its limit, and what had not reported', () => {
    const common = { stage: 'edges', try: 1, file: 'test/a.test.ts' };
    say({ ...common, kind: 'expected' }, { ...common, kind: 'begun', test: 'hangs' });
    say({ kind: 'run', stage: 'edges', try: 1, code: 124, limit: 900 });
    const { code, lines } = verdict('end');
    expect(code).toBe(1);
    expect(lines.slice(1, 4)).toEqual([
      'failed: test/a.test.ts > (the file as a whole)',
      '    the file never reported: its process has died or hung',
      '    had not reported: hangs',
    ]);
    expect(lines).toContain('failed: edges: ended after its limit of 900 s');
  });

  it('distinguishes a stage that was killed from one that was ended after its limit', () => {
    say({ kind: 'run', stage: 'edges', try: 1, code: 137, limit: 900, seconds: 12 });
    say({ kind: 'run', stage: 'cluster', try: 1, code: 137, limit: 900, seconds: 930 });
    expect(verdict('end').lines.filter((line) => line.startsWith('failed: '))).toEqual([
      'failed: edges: vitest was killed after 12 s',
      'failed: cluster: ended after its limit of 900 s',
    ]);
  });

  it('names what was planned and did not happen', () => {
    say({ kind: 'planned', name: 'lint' }, { kind: 'planned', name: 'edges' }, { kind: 'planned', name: 'cluster' });
    say({ kind: 'check', name: 'lint', state: 'passed' });
    expect(verdict('end')).toEqual({
      code: 1,
      lines: [
        '== failed',
        'failed: the check did not come to its end',
        '',
        '== not run',
        'edges',
        'cluster',
        '',
        '1 passed, 1 failed',
      ],
    });
  });

  it('is red when vitest fails and no test says why, and when nothing was run', () => {
    expect(verdict('end').code).toBe(1);
    run('edges', 1, { one: 'passed' });
    expect(verdict('end').code).toBe(0);
    say({ kind: 'run', stage: 'cluster', try: 1, code: 1 });
    expect(verdict('end').lines).toContain('failed: cluster: no test was run (exit code 1)');
  });

  it('has at most 120 lines, the names of failures before their details', () => {
    const tests = Array.from({ length: 300 }, (_, index): [string, Outcome] => [`test ${index}`, 'failed']);
    run('edges', 1, Object.fromEntries(tests), Array<string>(15).fill('a line of an error'));
    const { lines } = verdict('end', '/logs');
    expect(lines.length).toBeLessThanOrEqual(120);
    expect(lines[1]).toBe('failed: test/a.test.ts > test 0');
    expect(lines.slice(-3)).toEqual(['logs: /logs', '', '0 passed, 300 failed']);
  });
});

describe('the lines that vitest writes for the check', () => {
  const tests = {
    'fails.test.mjs': `describe('a suite', () => {
        it('passes', () => {});
        it('is not equal', () => expect([1, 2]).toEqual([1, 3]));
        it.skip('is skipped', () => {});
        it('hangs', () => new Promise(() => {}));
        it('has an agent', ({ task, onTestFailed }) => {
          onTestFailed(() => void (task.meta.agentLog = 'started\\nended\\n'));
          throw new Error('no');
        });
      });`,
    'dies.test.mjs': `it('ends its own process', () => process.kill(process.pid, 'SIGKILL'));`,
    'unhandled.test.mjs': `it('rejects later', () => {
        void Promise.reject(new Error('no test waits'));
        return new Promise((resolve) => setImmediate(resolve));
      });`,
    'import.test.mjs': `import './gone.mjs';`,
    'hook.test.mjs': `describe('a suite', () => {
        afterAll(() => {
          throw new Error('cannot clean up');
        });
        it('is fine', () => {});
      });`,
  };

  it('distinguish an assertion, a hang, a dead process, an unhandled rejection, a missing module and a failed hook', () => {
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    writeFileSync(
      join(folder, 'vitest.config.mjs'),
      `export default { test: { globals: true, testTimeout: 1000, include: ['*.test.mjs'] } };`,
    );
    for (const [name, text] of Object.entries(tests)) writeFileSync(join(folder, name), text);
    const own = Object.entries(process.env).filter(([name]) => !/^(VITEST|CI_)/.test(name));
    const { status } = spawnSync(
      join(ROOT, 'node_modules/.bin/vitest'),
      ['run', '--reporter=dot', `--reporter=${join(ROOT, '.ci/lines-reporter.mjs')}`],
      { cwd: folder, env: { ...Object.fromEntries(own), CI_RESULTS: results, CI_STAGE: 'edges', CI_TRY: '1' } },
    );
    say({ kind: 'run', stage: 'edges', try: 1, code: status });

    const { code, lines } = verdict('end');
    expect(code).toBe(1);
    expect(lines.at(-1)).toBe('3 passed, 8 failed');
    expect(lines.filter((line) => /^(failed|skipped): /.test(line)).sort()).toEqual([
      'failed: dies.test.mjs > (the file as a whole)',
      'failed: fails.test.mjs > a suite > hangs',
      'failed: fails.test.mjs > a suite > has an agent',
      'failed: fails.test.mjs > a suite > is not equal',
      'failed: hook.test.mjs > (the file as a whole)',
      'failed: import.test.mjs > (the file as a whole)',
      'failed: unhandled.test.mjs > (the file as a whole)',
      'skipped: fails.test.mjs > a suite > is skipped',
    ]);
    const told = (text: string): string => lines.find((line) => line.includes(text))?.trim() ?? `no ${text}`;
    expect(told('deeply equal')).toBe('AssertionError: expected [ 1, 2 ] to deeply equal [ 1, 3 ]');
    expect(told('Test timed out')).toBe('Error: Test timed out in 1000ms.');
    expect(lines.filter((line) => line.includes('agent: '))).toEqual(['    agent: started', '    agent: ended']);
    expect(told('never reported')).toBe('the file never reported: its process has died or hung');
    expect(told('no test waits')).toBe('Error: no test waits');
    expect(told('after the test')).toBe('unhandled, after the test "rejects later" or during it');
    expect(told('gone.mjs')).toContain("Cannot find module './gone.mjs'");
    expect(told('cannot clean up')).toBe('Error: cannot clean up');
    expect(lines).toContain("    repeat: npx vitest run fails.test.mjs -t 'a suite hangs'");
  });
});
