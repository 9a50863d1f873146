import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { kubeletConfiguration, toAgentConfig } from '../../../src/cli/config/kubelet-configuration.js';
import { addRunFlags, commonForms, FIELD_FLAG_DEFAULTS } from '../../../src/cli/run-flags.js';
import { parseGoDuration } from '../../../src/model/values/go-duration.js';

describe('the help of run', () => {
  const help = addRunFlags(new Command('run')).helpInformation();

  it('tells a default in words, never as a value of the program', () => {
    expect(help).not.toMatch(/default: (""|\{)/);
    expect(help).toMatch(/--root-dir <folder> .*for root \/var\/lib\/rx-kubelet/);
  });

  /** Where another thing than the value itself is described. */
  const TOLD_IN_WORDS = ['podLogsDir'];

  it.each(FIELD_FLAG_DEFAULTS)('names the default of $field', ({ field, described }) => {
    const config = toAgentConfig(kubeletConfiguration.parse({}), new Set()) as unknown as Record<string, unknown>;
    const value = config[field] ?? config[`${field}Ms`];
    if (TOLD_IN_WORDS.includes(field)) return;
    const isNothing = value === undefined || value === '' || value === false || JSON.stringify(value).length === 2;
    if (described === undefined) expect(isNothing).toBe(true);
    else if (`${field}Ms` in config) expect(parseGoDuration(described)).toBe(value);
    else expect(described).toBe(String(value));
  });
});

it.each([
  [['-v=2'], ['-v2']],
  [
    ['-v', '2'],
    ['-v', '2'],
  ],
  [['--v=2'], ['--v=2']],
  [['-o=json'], ['-ojson']],
  [['--root_dir=a_b'], ['--root-dir=a_b']],
  [
    ['--', '-v=2', '--a_b'],
    ['--', '-v=2', '--a_b'],
  ],
  [
    ['a=b', '-'],
    ['a=b', '-'],
  ],
])('takes flags as the kubelet does: %j', (args, expected) => {
  expect(commonForms(args)).toEqual(expected);
});
