import { readdirSync, readFileSync } from 'node:fs';
import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import {
  checkFeatureGates,
  featureGates,
  GATE_DEFAULTS,
  isGateOn,
} from '../../../src/cli/config/fields/feature-gates.js';
import { registerFeatureGates } from '../../../src/server/metrics/feature-gate-metric.js';

const ROOT = new URL('../../../', import.meta.url);
const PAGE = readFileSync(new URL('docs/configuration.md', ROOT), 'utf8');

/** The gates of the table and their defaults. */
const rows = (): readonly (readonly [string, string])[] =>
  (PAGE.split('## Feature gates\n')[1]?.split('\n## ')[0] ?? '')
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .flatMap((line) => {
      const [, names = '', standard = ''] = line.split('|').map((cell) => cell.trim());
      return names.split(', ').map((name) => [name.replaceAll('`', ''), standard] as const);
    });

/** The gates by which some file decides. */
const gatesRead = (): ReadonlySet<string> =>
  new Set(
    readdirSync(new URL('src', ROOT), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.startsWith('generated'))
      .flatMap((file) => [...readFileSync(new URL(`src/${file}`, ROOT), 'utf8').matchAll(/isGateOn\([^)]*?'(\w+)'/g)])
      .flatMap(([, name]) => name ?? []),
  );

describe('the table of feature gates in docs/configuration.md', () => {
  it('has each gate that the agent knows, once, with its default', () => {
    const byName = (list: readonly (readonly [string, string])[]) => list.toSorted(([a], [b]) => (a < b ? -1 : 1));
    expect(byName(rows())).toEqual(byName([...GATE_DEFAULTS]));
  });

  it('has each gate by which the agent decides', () => {
    const names = rows().map(([name]) => name);
    expect(gatesRead().size).toBeGreaterThan(10);
    for (const name of gatesRead()) expect(names).toContain(name);
  });

  it('names defaults that are in effect', () => {
    for (const [name, standard] of rows()) expect([name, isGateOn({}, name)]).toEqual([name, standard !== 'off']);
  });
});

it.each(['ClusterTrustBundle', 'ClusterTrustBundleProjection', 'PodCertificateRequest', 'ResourceHealthStatus'])(
  '%s stays on, and a setting that switches it off is reported',
  (name) => {
    expect(isGateOn({ [name]: false }, name)).toBe(true);
    expect(checkFeatureGates({ [name]: true })).toEqual({ errors: [], warnings: [] });
    expect(checkFeatureGates({ [name]: false })).toEqual({
      errors: [],
      warnings: [`feature gate ${name} stays on: it cannot be switched off`],
    });
  },
);

it.each([
  ...['NodeDeclaredFeatures', 'PLEGOnDemandRelist', 'PodReadyToStartContainersCondition', 'SidecarContainers'],
  ...['InPlacePodVerticalScalingInitContainers', 'HostnameOverride', 'UserNamespacesSupport', 'ProcMountType'],
])('%s stops the start where it is switched off', (name) => {
  expect(isGateOn({ [name]: false }, name)).toBe(true);
  expect(checkFeatureGates({ [name]: true })).toEqual({ errors: [], warnings: [] });
  expect(checkFeatureGates({ [name]: false })).toEqual({
    errors: [`cannot set feature gate ${name} to false, feature is locked to true`],
    warnings: [],
  });
});

describe('a switch for a stage', () => {
  it('sets the gates that have this stage in the metric, and no others', () => {
    const switches: readonly Readonly<Record<string, boolean>>[] = [
      { AllAlpha: true },
      { AllBeta: true },
      { AllBeta: false },
    ];
    for (const { name, stage, isOn } of featureGates({})) {
      const switched = switches.map((gates) => isGateOn(gates, name));
      const expected = { ALPHA: [true, isOn, isOn], BETA: [isOn, true, false] }[stage as string] ?? [isOn, isOn, isOn];
      expect([name, ...switched]).toEqual([name, ...expected]);
    }
  });

  it('leaves gates alone that are set by name', () => {
    expect(isGateOn({ AllAlpha: true, EventedPLEG: false }, 'EventedPLEG')).toBe(false);
    expect(isGateOn({ AllBeta: false, EnvFiles: true }, 'EnvFiles')).toBe(true);
  });

  it('of beta turns on the two that are off, with which the agent may start', () => {
    const before = featureGates({}).filter(({ isOn }) => isOn);
    const after = featureGates({ AllBeta: true }).filter(({ isOn }) => isOn);
    const names = (gates: typeof after) => gates.map(({ name }) => name);
    expect(names(after).filter((name) => !names(before).includes(name))).toEqual([
      'PodAndContainerStatsFromCRI',
      'PodLevelResourceManagers',
      'AllBeta',
    ]);
    expect(checkFeatureGates({ AllBeta: true })).toEqual({ errors: [], warnings: [] });
    expect(checkFeatureGates({ AllBeta: false })).toEqual({ errors: [], warnings: [] });
  });
});

it('no unknown gate is on, unless it is set', () => {
  expect(isGateOn({}, 'Unheard')).toBe(false);
  expect(isGateOn({ AllAlpha: true, AllBeta: true }, 'Unheard')).toBe(false);
  expect(isGateOn({ Unheard: true }, 'Unheard')).toBe(true);
  expect(checkFeatureGates({ Unheard: true })).toEqual({
    errors: [],
    warnings: ['unrecognized feature gate: Unheard'],
  });
});

describe('kubernetes_feature_enabled', () => {
  const scraped = async (gates: Readonly<Record<string, boolean>>): Promise<readonly string[]> => {
    const registry = new Registry();
    registerFeatureGates(registry, featureGates(gates));
    return (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('# HELP'));
  };

  it('has each gate with its stage, and the switches for whole stages', async () => {
    const [type, ...lines] = await scraped({});
    expect(type).toBe('# TYPE kubernetes_feature_enabled gauge');
    expect(lines).toHaveLength(GATE_DEFAULTS.size + 2);
    for (const [name, standard] of GATE_DEFAULTS) {
      const value = standard === 'off' ? 0 : 1;
      expect(lines.filter((line) => line.includes(`{name="${name}",`) && line.endsWith(`} ${value}`))).toHaveLength(1);
    }
    for (const line of [
      '{name="SidecarContainers",stage=""} 1',
      '{name="ClusterTrustBundle",stage=""} 1',
      '{name="NodeDeclaredFeatures",stage=""} 1',
      '{name="EnvFiles",stage="BETA"} 1',
      '{name="PodAndContainerStatsFromCRI",stage="BETA"} 0',
      '{name="EventedPLEG",stage="ALPHA"} 0',
      '{name="ChangeContainerStatusOnKubeletRestart",stage="DEPRECATED"} 0',
      '{name="AllAlpha",stage="ALPHA"} 0',
      '{name="AllBeta",stage="BETA"} 0',
    ]) {
      expect(lines).toContain(`kubernetes_feature_enabled${line}`);
    }
  });

  it('has what the configuration sets, also by a switch for a stage', async () => {
    const lines = await scraped({ AllAlpha: true, EventedPLEG: false, EnvFiles: false, ClusterTrustBundle: false });
    for (const line of [
      '{name="AllAlpha",stage="ALPHA"} 1',
      '{name="ContainerStopSignals",stage="ALPHA"} 1',
      '{name="EventedPLEG",stage="ALPHA"} 0',
      '{name="EnvFiles",stage="BETA"} 0',
      '{name="ClusterTrustBundle",stage=""} 1',
    ]) {
      expect(lines).toContain(`kubernetes_feature_enabled${line}`);
    }
  });
});
