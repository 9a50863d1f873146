import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ESLint, Linter } from 'eslint';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const RULE = 'no-restricted-syntax';
const SENDER = 'src/processes/send-signal.ts';

/** One file of each folder with code. */
const files = [
  ...new Map(
    ['src', 'test', 'bench', 'examples', 'scripts']
      .flatMap((top) =>
        readdirSync(join(ROOT, top), { recursive: true, encoding: 'utf8' }).map((name) => join(top, name)),
      )
      .filter((file) => /\.(ts|mjs)$/.test(file) && !file.startsWith('src/generated/') && file !== SENDER)
      .map((file) => [dirname(file), file]),
  ).values(),
  ...['src/kubelet.ts', 'src/node.ts', 'eslint.config.js', '.dependency-cruiser.cjs'],
];

const eslint = new ESLint({ cwd: ROOT });
const ruleOf = async (file: string): Promise<unknown> => {
  const config = (await eslint.calculateConfigForFile(join(ROOT, file))) as {
    readonly rules?: Record<string, unknown>;
  };
  return config.rules?.[RULE];
};
const problemsIn = (text: string, rule: unknown): number =>
  new Linter().verify(text, { rules: { [RULE]: rule as Linter.RuleEntry } }).length;

describe('the rule that one function sends signals', () => {
  it('holds in every folder', async () => {
    expect(files.length).toBeGreaterThan(80);
    const rules = await Promise.all(files.map(async (file) => ({ file, rule: await ruleOf(file) })));
    const without = rules.filter(({ rule }) => rule === undefined || problemsIn('process.kill(0, 9);', rule) !== 1);
    expect(without.map(({ file }) => file)).toEqual([]);
  });

  it('excepts this function', async () => {
    expect(problemsIn('process.kill(17, 9);', await ruleOf(SENDER))).toBe(0);
  });

  it.each([
    ['process.kill(pid);', 1],
    ["process['kill'](pid);", 1],
    ['process?.kill(pid);', 1],
    ['globalThis.process.kill(pid);', 1],
    ['pids.forEach(process.kill);', 1],
    ['const { kill } = process;', 1],
    ['const { kill: end } = globalThis.process;', 1],
    ["import { kill } from 'node:process';", 1],
    ['child.kill();', 0],
    ['sendSignal(process.pid, 0);', 0],
    ['const { pid } = process;', 0],
  ])('counts in %s the calls of kill(2): %i', async (text, count) => {
    for (const file of ['src/cli/main.ts', 'src/model/pod/pod.ts', 'src/kubelet.ts'])
      expect(problemsIn(text, await ruleOf(file))).toBe(count);
  });
});
