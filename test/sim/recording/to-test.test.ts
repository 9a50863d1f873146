import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { incidentTest } from '../../../src/cli/to-test/incident-test.js';
import type { Container, Pod } from '../../../src/model/pod/pod.js';
import { readIncident } from '../../../src/tools/recording/incident/read-incident.js';
import type { Fault } from '../../../src/tools/sim/faults/fault.js';
import type { History } from '../../../src/tools/sim/histories/history.js';
import { runHistory } from '../../../src/tools/sim/histories/run-history.js';
import { aPod } from '../../support/a-pod.js';
import { type Change, changedBundle } from '../../support/changed-bundle.js';
import { sourceBundle } from '../../support/source-bundle.js';
import { recordingsInMemory } from './recordings-in-memory.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const SECOND = 1_000;
const MINUTE = 60 * SECOND;

const podOf = (name: string, container: Partial<Container> & { readonly name: string }, uid = `uid-${name}`): Pod =>
  aPod({ uid, name, spec: { containers: [{ image: `registry.test/${name}:1`, ...container }] } });

const probe = { periodSeconds: 5, timeoutSeconds: 1, successThreshold: 1, failureThreshold: 2, initialDelaySeconds: 0 };

const crashing = podOf('crashing', { name: 'main' });
const sick = podOf('sick', { name: 'main', livenessProbe: { ...probe, tcpSocket: { port: 80 } } });
const moody = podOf('moody', { name: 'main', readinessProbe: { ...probe, httpGet: { port: 80, path: '/' } } });
const changed = podOf('changed', { name: 'main' });
const changedAgain = podOf('changed', { name: 'main', command: ['again'] }, 'uid-changed-2');
const deaf = podOf('deaf', { name: 'main' });

/** What its container needs is in no API server. */
const lacking = podOf('lacking', { name: 'main', envFrom: [{ configMapRef: { name: 'nowhere' } }] });
const referring: Pod = {
  ...crashing,
  spec: {
    ...crashing.spec,
    runtimeClassName: 'sandboxed',
    containers: crashing.spec.containers.map((container) => ({
      ...container,
      envFrom: [{ configMapRef: { name: 'all' } }, { prefix: 'P_', secretRef: { name: 'all' } }],
      env: [
        { name: 'A', valueFrom: { configMapKeyRef: { name: 'some', key: 'a' } } },
        { name: 'B', valueFrom: { secretKeyRef: { name: 'some', key: 'b' } } },
        { name: 'C', value: 'c' },
      ],
    })),
  },
};

const outage: Fault = { kind: 'runtime-restarts', atMs: 100 * SECOND, downMs: 7 * SECOND };

/** Ten minutes with everything that a test can be made of. */
const HISTORY: History = {
  seed: 8,
  node: { eventedPleg: false, syncFrequencyMs: MINUTE, maxRestartBackOffMs: 5 * MINUTE, parallelPulls: 1 },
  pods: [
    { key: 'crashing', source: 'file', changes: [{ atMs: 0, pod: crashing }] },
    { key: 'sick', source: 'file', changes: [{ atMs: 0, pod: sick }] },
    { key: 'moody', source: 'http', changes: [{ atMs: 3 * SECOND, pod: moody }] },
    {
      key: 'changed',
      source: 'file',
      changes: [
        { atMs: 5 * SECOND, pod: changed },
        { atMs: 60 * SECOND, pod: changedAgain },
      ],
    },
    { key: 'deaf', source: 'file', changes: [{ atMs: 0, pod: deaf }, { atMs: 200 * SECOND }] },
  ],
  behaviours: {
    containers: {
      'crashing/main': [
        { exitsAfterMs: 3 * SECOND, exitCode: 3 },
        { exitsAfterMs: 20 * SECOND, exitCode: 4 },
      ],
      'sick/main': [{ probeFailures: [{ fromMs: 70 * SECOND }] }, {}],
      'moody/main': [{ probeFailures: [{ fromMs: 30 * SECOND, toMs: 90 * SECOND }] }],
      'changed/main': [{ startsAfterMs: 2 * SECOND, onStop: { kind: 'exits', afterMs: 400, exitCode: 9 } }],
      'deaf/main': [{ onStop: { kind: 'hangs' } }],
    },
    images: {
      'registry.test/deaf:1': { pullMs: 8 * SECOND },
      'registry.test/changed:1': { isPresent: true },
      'registry.test/moody:1': { pullError: { message: 'the registry is away', times: 2 } },
    },
  },
  faults: [outage],
  quietFromMs: 9 * MINUTE,
  endMs: 10 * MINUTE,
};

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'incident-'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** The test that is made of the recording of a history. */
const madeOf = (history: History): { readonly text: string; readonly problems: readonly string[] } => {
  const { makeKubelet, recordings } = recordingsInMemory();
  const { violations } = runHistory(history, { makeKubelet });
  expect(violations).toEqual([]);
  const [recording] = recordings();
  if (!recording) throw new Error('nothing was recorded');
  const incident = readIncident(recording.header, recording.entries);
  return incidentTest(incident, { recording: 'node.rec', by: 'rx-kubelet 1.2.3' });
};

/** Runs it with vitest, over the simulation in one file, of sources in which one text may stand for another. */
const runTest = async (
  text: string,
  change?: Change,
): Promise<{ readonly passed: number; readonly failed: readonly string[] }> => {
  const simulation = change
    ? await changedBundle(folder, change, 'src/sim.ts')
    : await sourceBundle(folder, 'src/sim.ts');
  writeFileSync(join(folder, 'incident.test.ts'), text);
  writeFileSync(
    join(folder, 'vitest.config.mjs'),
    `export default {
  resolve: { alias: { 'rx-kubelet/sim': ${JSON.stringify(simulation)} } },
  test: { include: ['incident.test.ts'], testTimeout: 240_000, hookTimeout: 240_000 },
};
`,
  );
  const command = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--root', folder, '--reporter', 'json'];
  const report = await new Promise<string>((resolve, reject) =>
    execFile(process.execPath, command, { cwd: folder, maxBuffer: 2 ** 26 }, (error, stdout, stderr) =>
      stdout.startsWith('{') ? resolve(stdout) : reject(new Error(`${stdout}\n${stderr}`, { cause: error })),
    ),
  );
  const { testResults } = JSON.parse(report) as {
    readonly testResults: readonly {
      readonly assertionResults: readonly { status: string; title: string; failureMessages: string[] }[];
    }[];
  };
  const results = testResults.flatMap(({ assertionResults }) => assertionResults);
  return {
    passed: results.filter(({ status }) => status === 'passed').length,
    failed: results
      .filter(({ status }) => status !== 'passed')
      .map(({ title, failureMessages }) => [title, ...failureMessages].join('\n')),
  };
};

describe('a test that is made of a recording', () => {
  it('passes where the agent is the same, and fails where it decides otherwise', async () => {
    const { text, problems } = madeOf(HISTORY);
    expect(problems).toEqual([]);
    expect(text).not.toContain('These fail');
    expect(await runTest(text)).toEqual({ passed: 6, failed: [] });

    const later = await runTest(text, {
      file: 'src/model/pod-actions/crash-loop-back-off.ts',
      from: 'CRASH_LOOP_INITIAL_MS = 10_000',
      to: 'CRASH_LOOP_INITIAL_MS = 20_000',
    });
    expect(later.failed.map((failure) => failure.split('\n')[0])).toEqual(['default/crashing main']);
  });

  it('has the node of the recording: its name, which pods of manifests bear, its DNS and SELinux', async () => {
    const placed = (pod: Pod): Pod => ({
      metadata: { ...pod.metadata, name: `${pod.metadata.name}-vm` },
      spec: { ...pod.spec, nodeName: 'vm', dnsPolicy: 'ClusterFirst' },
    });
    const { text, problems } = madeOf({
      ...HISTORY,
      node: {
        ...HISTORY.node,
        facts: {
          ...{ name: 'vm', labels: { 'kubernetes.io/hostname': 'vm' }, clusterDns: [], clusterDomain: '' },
          hasSelinux: true,
        },
      },
      pods: [{ key: 'crashing', source: 'file', changes: [{ atMs: 0, pod: placed(crashing) }] }],
      faults: [],
      endMs: 2 * MINUTE,
      quietFromMs: MINUTE,
    });
    expect(problems).toEqual([]);
    expect(text).toContain('"Warning MissingClusterDNS"');
    expect(text).toContain('"hasSelinux": true');
    expect(text).not.toContain('NodeName"]');
    expect((await runTest(text)).failed).toEqual([]);
  });

  it('passes for pods of a cluster, whose variables come from what a simulated node does not have', async () => {
    const { makeKubelet, recordings } = recordingsInMemory();
    const pods: History['pods'] = [
      { key: 'crashing', source: 'api', changes: [{ atMs: 0, pod: crashing }] },
      { key: 'lacking', source: 'api', changes: [{ atMs: SECOND, pod: lacking }] },
    ];
    runHistory({ ...HISTORY, pods, faults: [], endMs: 2 * MINUTE, quietFromMs: MINUTE }, { makeKubelet });
    const [recording] = recordings();
    if (!recording) throw new Error('nothing was recorded');
    const incident = readIncident(recording.header, recording.entries);
    // As the same is recorded where there is an API server that has the objects.
    const inCluster = incident.pods.map(({ changes, ...told }) => ({
      ...told,
      changes: changes.map(({ atMs, pod }) => ({
        atMs,
        ...(pod && { pod: pod.metadata.name === 'crashing' ? referring : pod }),
      })),
    }));
    const { text, problems } = incidentTest({ ...incident, pods: inCluster }, { recording: 'r', by: 'b' });
    expect(problems).toEqual([]);
    expect(text).toContain('"Warning Failed"');

    // Where it was made in the end, after failures that only the API server could explain, the test says so.
    const made = incident.instances.map((instance) => ({ ...instance, uid: lacking.metadata.uid, pod: 'lacking' }));
    const late = incidentTest({ ...incident, pods: inCluster, instances: made }, { recording: 'r', by: 'b' });
    expect(late.problems.at(-1)).toMatch(
      /^default\/lacking refers to ConfigMaps or Secrets, which a simulated node does not have/,
    );
    expect((await runTest(text)).failed).toEqual([]);
  });

  it('says what fails, and why, where something was not recorded', () => {
    const { makeKubelet, recordings } = recordingsInMemory();
    runHistory(HISTORY, { makeKubelet });
    const [recording] = recordings();
    if (!recording) throw new Error('nothing was recorded');
    const incident = readIncident(recording.header, recording.entries);
    const { text, problems } = incidentTest(
      { ...incident, facts: { ...incident.facts, labels: {} }, instances: incident.instances.slice(1) },
      { recording: 'node.rec', by: 'rx-kubelet 1.2.3' },
    );
    expect(problems.length).toBeGreaterThan(0);
    for (const problem of problems) {
      expect(problem).toMatch(/^default\/\S+( \S+)?: expected .+, and saw .+$/);
      expect(text).toContain(`//   ${problem}`);
    }
  });

  it('says that it proves nothing where all pods were there before', () => {
    const { makeKubelet, recordings } = recordingsInMemory();
    runHistory({ ...HISTORY, endMs: MINUTE, quietFromMs: MINUTE }, { makeKubelet });
    const [recording] = recordings();
    if (!recording) throw new Error('nothing was recorded');
    const incident = readIncident(recording.header, recording.entries);
    const instances = incident.instances.map((instance) => ({ ...instance, isAdopted: true }));
    const { problems } = incidentTest(
      { ...incident, instances, events: [] },
      { recording: 'node.rec', by: 'rx-kubelet 1.2.3' },
    );
    expect(problems.at(-1)).toMatch(/^it expects nothing: .* existed before the recording began$/);
  });
});
