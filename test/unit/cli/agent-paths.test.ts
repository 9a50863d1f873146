import { describe, expect, it } from 'vitest';
import { agentPaths, type PathInputs } from '../../../src/cli/config/settings/agent-paths.js';
import { parseFeatureGates } from '../../../src/cli/config/fields/feature-gates.js';
import { nodeName } from '../../../src/cli/config/settings/node-name.js';

const inputs: PathInputs = {
  rootDir: '',
  podLogsDir: '',
  runtimeEndpoint: '',
  isRoot: false,
  home: '/home/ann',
  xdgStateHome: '',
  workingDirectory: '/here',
};

describe('agent paths', () => {
  const own = '/home/ann/.local/state/rx-kubelet';
  it.each<[string, Partial<PathInputs>, string, string, string]>([
    ['an ordinary user', {}, own, `${own}/pod-logs`, `${own}/container-logs`],
    [
      'an own state folder',
      { xdgStateHome: '/state' },
      '/state/rx-kubelet',
      '/state/rx-kubelet/pod-logs',
      '/state/rx-kubelet/container-logs',
    ],
    ['a relative state folder', { xdgStateHome: 'state' }, own, `${own}/pod-logs`, `${own}/container-logs`],
    [
      'root',
      { isRoot: true },
      '/var/lib/rx-kubelet',
      '/var/lib/rx-kubelet/pod-logs',
      '/var/lib/rx-kubelet/container-logs',
    ],
    [
      'root over containerd',
      { isRoot: true, runtimeEndpoint: 'unix:///c' },
      '/var/lib/rx-kubelet',
      '/var/log/pods',
      '/var/log/containers',
    ],
    ['a root directory', { rootDir: '/r', isRoot: true }, '/r', '/r/pod-logs', '/r/container-logs'],
    ['a relative root directory', { rootDir: 'r' }, '/here/r', '/here/r/pod-logs', '/here/r/container-logs'],
    [
      'explicit pod logs over containerd',
      { rootDir: '/r', podLogsDir: '/logs/pods', runtimeEndpoint: 'unix:///c' },
      '/r',
      '/logs/pods',
      '/logs/containers',
    ],
    ['explicit pod logs', { rootDir: '/r', podLogsDir: '/logs/pods' }, '/r', '/logs/pods', '/logs/containers'],
  ])('of %s', (_who, given, rootDir, podLogsDir, containerLogsDir) => {
    expect(agentPaths({ ...inputs, ...given })).toMatchObject({ rootDir, podLogsDir, containerLogsDir });
  });
});

describe('node name', () => {
  it.each([
    ['', 'Host.Example', 'host.example'],
    [' Node-1 ', 'host', 'node-1'],
  ])('of override %j and host %j is %j', (override, host, name) => {
    expect(nodeName(override, host)).toBe(name);
  });

  it.each([
    ['', ''],
    ['  ', 'host'],
  ])('cannot be made of %j and %j', (override, host) => {
    expect(() => nodeName(override, host)).toThrow('empty hostname is invalid');
  });
});

describe('--feature-gates', () => {
  it('reads gates', () => {
    expect(parseFeatureGates('A=true, B=false,C=1,')).toEqual({ A: true, B: false, C: true });
  });

  it.each([
    ['A', 'missing bool value for A'],
    ['A=maybe', 'invalid value of A=maybe, err: expected true or false'],
  ])('refuses %j', (text, message) => {
    expect(() => parseFeatureGates(text)).toThrow(message);
  });
});
