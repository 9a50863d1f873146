import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sendSignal } from '../../../src/processes/send-signal.js';
import { isAlive, type ProcessId, processId } from '../../../src/runtime/embedded/confinement/process-tree.js';
import { lackingForContainerd } from '../../containerd/lacking.js';
import { eventually } from '../../embedded/eventually.js';
import { checkProject, type CheckProject, type Verdict } from './check-project.js';

let project: CheckProject;
beforeEach(() => {
  project = checkProject();
});
afterEach(() => project.remove());

/** The last lines, from the first heading of the result on. */
const resultOf = ({ lines }: Verdict): readonly string[] =>
  lines.slice(lines.findIndex((line) => /^== result/.test(line)));
/** What is below a heading of the result. */
const below = (verdict: Verdict, heading: string): readonly string[] => {
  const lines = resultOf(verdict);
  const at = lines.indexOf(`== ${heading}`);
  return at < 0 ? [] : lines.slice(at + 1, lines.indexOf('', at)).map((line) => line.trim());
};

/** The process that a step has named in a file of its own. */
const namedBy = (file: string): Promise<ProcessId> =>
  eventually(`a process is in ${file}`, () => {
    const path = join(project.folder, file);
    return existsSync(path) ? processId(Number(readFileSync(path, 'utf8'))) : undefined;
  });
/** Of a step: names its process, and does not end. */
const hangs = (file: string): string =>
  `echo $BASHPID >"$OWN/${file}.new"; mv "$OWN/${file}.new" "$OWN/${file}"; exec tail -f /dev/null`;

/** Where they are not there it would install them, with a policy for services in the machine's own folder. */
const hasPlugins = !lackingForContainerd.includes('the CNI plugins');

describe.skipIf(!hasPlugins)('the check as a whole', () => {
  it('takes every step, and the parts of a lane in their order', async () => {
    const verdict = await project.run();
    expect([verdict.code, verdict.lines.at(-1)]).toEqual([0, '19 passed, 0 failed']);
    const begun = project.begun();
    const lane = ['typecheck', 'layers', 'unused', ...Array.from({ length: 6 }, () => 'fixed seeds')];
    expect(begun.filter((step) => lane.includes(step))).toEqual(lane);
    // They run beside all that follows.
    const beside = ['without a clock, Node 97.1.0', 'without a clock, Node 98.2.0'];
    expect(begun.filter((step) => beside.includes(step))).toEqual(beside);
    const others = [...lane, ...beside, 'build', 'newer', 'promtool'];
    expect(begun.filter((step) => !others.includes(step))).toEqual([
      'npm ci',
      'lint',
      'without a clock',
      'edges',
      'launched, Node 97.1.0',
      'launched, Node 98.2.0',
      'containerd',
      'cluster',
      'fresh seeds of a node',
      'fresh seeds of a cluster',
    ]);
    expect(project.folders()).toEqual([]);
  });

  it('goes on in both lanes and with the tests after a check that fails', async () => {
    project.plan({ lint: 'echo "a rule is broken"; exit 1', layers: 'echo "an import runs up"; exit 2' });
    const verdict = await project.run();
    expect([verdict.code, verdict.lines.at(-1)]).toEqual([1, '17 passed, 2 failed']);
    expect(
      below(verdict, 'failed')
        .filter((line) => !line.startsWith('log: '))
        .sort(),
    ).toEqual(['a rule is broken', 'an import runs up', 'failed: layers', 'failed: lint']);
    expect(project.begun()).toEqual(expect.arrayContaining(['unused', 'fixed seeds', 'cluster']));
  });

  it('names an install that fails three times, and what was not run for it', async () => {
    project.plan({ 'npm ci': 'echo "npm error: no mirror" >&2; exit 1' });
    const verdict = await project.run();
    expect([verdict.code, verdict.lines.at(-1)]).toEqual([1, '3 passed, 1 failed']);
    expect(project.begun().filter((step) => step === 'npm ci')).toHaveLength(3);
    expect(below(verdict, 'failed').slice(0, 3)).toEqual([
      'failed: npm ci',
      'npm error: no mirror',
      expect.stringMatching(/try 1 of 3/),
    ]);
    expect(below(verdict, 'not run')).toEqual(expect.arrayContaining(['lint', 'without a clock', 'cluster']));
  });

  it('makes one red line of a server that cannot be built', async () => {
    project.plan({ build: 'echo "go: out of memory"; exit 2' });
    const verdict = await project.run();
    expect([verdict.code, verdict.lines.at(-1)]).toEqual([1, '17 passed, 1 failed']);
    expect(below(verdict, 'failed').slice(0, 2)).toEqual(['failed: a real API server', 'go: out of memory']);
    expect(below(verdict, 'not run')).toEqual(['cluster']);
  });

  it('runs a file alone that has failed, and calls it flaky once it passes', async () => {
    project.plan({ edges: `test 'a test' failed 'Error: not yet'; exit 1`, again: `test 'a test' passed` });
    const verdict = await project.run();
    expect([verdict.code, verdict.lines.at(-1)]).toEqual([0, '19 passed, 0 failed']);
    expect(below(verdict, 'flaky')).toEqual([
      'flaked: test/edges/a-test.test.ts > a test (failed, passed)',
      'Error: not yet',
      `repeat: npx vitest run test/edges/a-test.test.ts -t 'a test'`,
    ]);
    expect(project.begun().filter((step) => step === 'again')).toHaveLength(1);
  });

  it('looks twice again where processes are waited for, and never where there is no clock', async () => {
    const fails = `test 'a test' failed 'Error: never'; exit 1`;
    project.plan({ 'without a clock': fails, cluster: fails, again: fails });
    const verdict = await project.run();
    expect([verdict.code, verdict.lines.at(-1)]).toEqual([1, '17 passed, 2 failed']);
    expect(below(verdict, 'failed').filter((line) => line.startsWith('failed: '))).toEqual([
      'failed: test/without-a-clock/a-test.test.ts > a test',
      'failed: test/cluster/a-test.test.ts > a test',
    ]);
    expect(project.begun().filter((step) => step === 'again')).toHaveLength(2);
  });

  it('names the Node of a test that fails on another version, and how to repeat it there', async () => {
    const fails = `test 'a test' failed 'Error: only here'; exit 1`;
    project.plan({ 'without a clock, Node 97.1.0': fails });
    const verdict = await project.run();
    expect([verdict.code, verdict.lines.at(-1)]).toEqual([1, '18 passed, 1 failed']);
    expect(below(verdict, 'failed')).toEqual([
      'failed: test/without-a-clock,-Node-97.1.0/a-test.test.ts > a test',
      'Error: only here',
      `repeat: PATH=$(test/support/node.sh 97.1.0):$PATH npx vitest run test/without-a-clock,-Node-97.1.0/a-test.test.ts -t 'a test'`,
    ]);
  });

  it('survives a stage that kills its own process group, and names what it was at', async () => {
    project.plan({ edges: `begun 'a kill'; kill -KILL 0`, again: `test 'a kill' failed 'Error: it does'; exit 1` });
    const verdict = await project.run();
    expect([verdict.code, verdict.lines.at(-1)]).toEqual([1, '18 passed, 2 failed']);
    expect(below(verdict, 'failed')).toEqual([
      'failed: test/edges/a-kill.test.ts > a kill',
      'Error: it does',
      `repeat: npx vitest run test/edges/a-kill.test.ts -t 'a kill'`,
      expect.stringMatching(/^failed: edges: vitest was killed after \d+ s$/),
    ]);
    expect(below(verdict, 'flaky').slice(1, 3)).toEqual([
      'the file never reported: its process has died or hung',
      'had not reported: a kill',
    ]);
    expect(project.begun().at(-1)).toBe('fresh seeds of a cluster');
  });

  it('reports fresh seeds that fail, and stays green', async () => {
    project.plan({ 'fresh seeds of a cluster': 'echo "seed 7 failed: two live containers"; exit 1' });
    const verdict = await project.run();
    expect([verdict.code, verdict.lines.at(-1)]).toEqual([0, '19 passed, 0 failed']);
    expect(below(verdict, 'found by fresh seeds')).toEqual([
      'fresh seeds of a cluster',
      'seed 7 failed: two live containers',
      'repeat: npm run simulate -- --seed S --cluster',
    ]);
  });
});

describe.skipIf(!hasPlugins)('a check that is ended', () => {
  it.each(['lint', 'without a clock', 'build'] as const)('has a verdict, and nothing of %s is left', async (step) => {
    project.plan({ [step]: hangs('hanging') });
    const check = project.start();
    const verdict = project.verdictOf(check);
    const hanging = await namedBy('hanging');
    check.kill('SIGTERM');
    const { code, lines } = await verdict;
    expect([code, lines.at(-1)]).toEqual([1, expect.stringMatching(/^\d+ passed, 1 failed$/)]);
    // A killed process of a busy machine may be on its way out for a moment.
    await eventually('the hanging process has ended', () => !isAlive(hanging));
    expect(project.folders()).toEqual([]);
  });

  it('with kill -9 leaves nothing to the next one', async () => {
    project.plan({ edges: hangs('hanging') });
    const killed = project.start();
    const hanging = await namedBy('hanging');
    sendSignal(killed.pid ?? 0, 'SIGKILL');
    await once(killed, 'exit');
    expect(isAlive(hanging)).toBe(true);
    project.plan({ edges: `test 'a test' passed` });
    const verdict = await project.run();
    expect([verdict.code, verdict.lines.at(-1)]).toEqual([0, '19 passed, 0 failed']);
    expect(verdict.lines.filter((line) => line.startsWith(`a process: ${hanging.pid} `))).toHaveLength(1);
    expect([isAlive(hanging), project.folders()]).toEqual([false, []]);
  });

  it('is not ended by another that begins and ends beside it', async () => {
    project.plan({
      edges: `[[ -e "$OWN/hanging" ]] && { test 'a test' passed; exit; }; ${hangs('hanging').replace('exec tail -f /dev/null', `until [[ -e "$OWN/go" ]]; do /bin/sleep 0.1; done; test 'a test' passed`)}`,
    });
    const first = project.verdictOf(project.start());
    await namedBy('hanging');
    const second = await project.run();
    expect([second.code, second.lines.at(-1)]).toEqual([0, '19 passed, 0 failed']);
    expect(second.lines.filter((line) => line.endsWith('belongs to a run that goes on'))).toHaveLength(1);
    project.put('go');
    const { code, lines } = await first;
    expect([code, lines.at(-1)]).toEqual([0, '19 passed, 0 failed']);
  });
});
