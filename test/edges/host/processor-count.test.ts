import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

it('counts the processors of the machine, also where the agent may run on one of them only', () => {
  const counted = readFileSync('/proc/cpuinfo', 'utf8').match(/^processor\s/gm)?.length;
  const module = fileURLToPath(new URL('../../../src/host/facts/processor-count.ts', import.meta.url));
  const script = `import { availableParallelism } from 'node:os';
    import { processorCount } from ${JSON.stringify(module)};
    console.log(availableParallelism(), processorCount());`;
  const node = [process.execPath, '--import', 'tsx', '--input-type=module', '-e', script];
  expect(execFileSync('taskset', ['--cpu-list', '0', ...node], { encoding: 'utf8' })).toBe(`1 ${counted}\n`);
});
