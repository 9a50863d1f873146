import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { kubeletConfiguration, toAgentConfig } from '../../../src/cli/config/fields/kubelet-configuration.js';
import { loadConfiguration } from '../../../src/cli/config/load-configuration.js';
import { addRunFlags, commonForms, FIELD_FLAG_NAMES, readRunFlags } from '../../../src/cli/arguments/run-flags.js';
import { parseGoDuration } from '../../../src/model/values/go-duration.js';

describe('the help of run', () => {
  const run = addRunFlags(new Command('run'));
  const help = run.helpInformation();

  it('says a default in words, never as a value of the program', () => {
    expect(help).not.toMatch(/default: (""|\{)/);
    expect(help).toMatch(/--root-dir <folder> .*for root \/var\/lib\/rx-kubelet/);
  });

  /** Where another thing than the value itself is described. */
  const TOLD_IN_WORDS = ['podLogsDir'];

  it.each(FIELD_FLAG_NAMES)('names the default of $field', ({ field, name }) => {
    const { description } = run.options.find((option) => option.name() === name)!;
    const described = /\(default: (.*)\)$/.exec(description)?.[1];
    const config = toAgentConfig(kubeletConfiguration.parse({}), new Set()) as unknown as Record<string, unknown>;
    const part = field.split('.').reduce<unknown>((all, key) => (all as Record<string, unknown>)[key], config);
    const value = part ?? config[`${field}Ms`];
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

describe('a flag of a part of a field', () => {
  const fieldsOf = (...args: readonly string[]) => {
    const command = addRunFlags(new Command('run')).exitOverride();
    command.parse([...args], { from: 'user' });
    return readRunFlags(command.opts()).fields;
  };

  it('sets that part alone', () => {
    expect(
      fieldsOf('--anonymous-auth', '--client-ca-file', 'ca.crt', '--authorization-mode', 'AlwaysAllow', '--port', '0'),
    ).toEqual({
      authentication: { anonymous: { enabled: true }, x509: { clientCAFile: 'ca.crt' } },
      authorization: { mode: 'AlwaysAllow' },
      port: 0,
    });
    expect(fieldsOf('--anonymous-auth=false', '--authentication-token-webhook=false', '--enable-server=false')).toEqual(
      {
        authentication: { anonymous: { enabled: false }, webhook: { enabled: false } },
        enableServer: false,
      },
    );
  });

  it('leaves the other parts of the file', () => {
    useFolder((file) => {
      const { config } = loadConfiguration({ file, directory: '', flags: fieldsOf('--anonymous-auth', '--port', '0') });
      expect(config.port).toBe(0);
      expect(config.authentication).toMatchObject({
        anonymous: { enabled: true },
        webhook: { enabled: true, cacheTTLMs: 7_000 },
        x509: { clientCAFile: '/ca' },
      });
    });
  });
});

const useFolder = (use: (file: string) => void): void => {
  const folder = mkdtempSync(join(tmpdir(), 'flags-'));
  try {
    const file = join(folder, 'config.yaml');
    const fields = 'authentication: {webhook: {cacheTTL: 7s}, x509: {clientCAFile: /ca}}\n';
    writeFileSync(file, `apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n${fields}`);
    use(file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
