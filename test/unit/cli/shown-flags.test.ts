import { Command } from 'commander';
import { expect, it } from 'vitest';
import { configurationView } from '../../../src/cli/config/document/configuration-view.js';
import { loadConfiguration } from '../../../src/cli/config/load-configuration.js';
import { addRunFlags, readRunFlags } from '../../../src/cli/arguments/run-flags.js';
import { shownFlags } from '../../../src/cli/arguments/shown-flags.js';

const command = (): Command => addRunFlags(new Command('run')).exitOverride();

const shown = (...args: string[]): Readonly<Record<string, string>> => {
  const flags = readRunFlags(command().parse(args, { from: 'user' }).opts());
  const { config } = loadConfiguration({ file: '', directory: '', flags: flags.fields });
  return shownFlags(flags, configurationView(config));
};

it('every flag of the command line is shown, with its default', () => {
  const flags = shown();
  const names = command().options.map((option) => option.name());
  expect(names.length).toBeGreaterThan(40);
  expect(Object.keys(flags).sort()).toEqual([...new Set(names)].sort());
  expect(flags).toMatchObject({
    'healthz-port': '10248',
    'sync-frequency': '1m0s',
    'enforce-node-allocatable': 'pods',
    'stop-pods-on-exit': 'false',
    kubeconfig: '',
    v: '0',
  });
});

it('the values in effect are shown as a user writes them', () => {
  expect(
    shown(
      ...['-v', '4', '--node-labels', 'a=1,b=2', '--node-ip', '10.0.0.1', '--sync-frequency', '90s'],
      ...['--feature-gates', 'EventedPLEG=true', '--authorization-mode', 'AlwaysAllow'],
    ),
  ).toMatchObject({
    v: '4',
    'node-labels': 'a=1,b=2',
    'node-ip': '10.0.0.1',
    'sync-frequency': '1m30s',
    'feature-gates': 'EventedPLEG=true',
    'authorization-mode': 'AlwaysAllow',
  });
});

it('no value of a header, and no password, is shown', () => {
  const flags = shown(
    ...['--manifest-url', 'https://user:hush@example.com/pods', '--manifest-url-header', 'Authorization:Bearer hush'],
  );
  expect(JSON.stringify(flags)).not.toContain('hush');
  expect(flags['manifest-url-header']).toBe('Authorization=<masked>');
});
