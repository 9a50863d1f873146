import { concat, NEVER, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { incidentTest, type IncidentTest } from '../../../src/cli/to-test/incident-test.js';
import { CriError } from '../../../src/model/cri/cri-error.js';
import type { Container, Pod } from '../../../src/model/pod/pod.js';
import { podSet } from '../../../src/model/pod/pod-set.js';
import type { SourceObject } from '../../../src/model/references/source-object.js';
import { encodeValue } from '../../../src/tools/recording/entries/encode-value.js';
import type { RecordingEntry } from '../../../src/tools/recording/entries/recording-entry.js';
import type { Incident } from '../../../src/tools/recording/incident/incident.js';
import { readIncident } from '../../../src/tools/recording/incident/read-incident.js';
import type { Fault } from '../../../src/tools/sim/faults/fault.js';
import type { History } from '../../../src/tools/sim/histories/history.js';
import { runHistory } from '../../../src/tools/sim/histories/run-history.js';
import { simulatedNode } from '../../../src/tools/sim/simulated-node.js';
import { aPod } from '../../support/a-pod.js';
import { runIncidentTest } from '../../support/run-incident-test.js';
import { recordingsInMemory } from './recordings-in-memory.js';

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
    // Every pod of a cluster has such a volume.
    volumes: [{ name: 'api', projected: { sources: [{ configMap: { name: 'kube-root-ca.crt' } }] } }],
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

/** The test that is made of the recording of a history. */
const madeOf = (history: History): string => textOf(made(incidentOf(history)));

/** The incident in the recording of the last life of a history's agent. */
const incidentOf = (history: History): Incident => {
  const { makeKubelet, recordings } = recordingsInMemory();
  const { violations } = runHistory(history, { makeKubelet });
  expect(violations).toEqual([]);
  return lastIncident(recordings());
};

const lastIncident = (recordings: ReturnType<ReturnType<typeof recordingsInMemory>['recordings']>): Incident => {
  const recording = recordings.at(-1);
  if (!recording) throw new Error('nothing was recorded');
  return readIncident(recording.header, recording.entries);
};

/** The entries of a machine that stands still during each call of the port. */
const withSlow = (
  port: string,
  standsStillMs: number,
  entries: readonly RecordingEntry[],
): readonly RecordingEntry[] => {
  const calls = new Set<number>();
  let lateMs = 0;
  return entries.map((entry) => {
    if (entry.kind === 'call' && entry.port === port) calls.add(entry.call);
    if (entry.kind === 'reply' && calls.has(entry.call)) lateMs += standsStillMs;
    return 'at' in entry ? { ...entry, at: entry.at + lateMs } : entry;
  });
};

const made = (incident: Incident): IncidentTest =>
  incidentTest(incident, { recording: 'node.rec', by: 'rx-kubelet 1.2.3' });

const textOf = (test: IncidentTest): string => {
  if (test.kind !== 'test') throw new Error(JSON.stringify(test));
  return test.text;
};

describe('a test that is made of a recording', () => {
  it('passes where the agent is the same, and fails where it decides otherwise', async () => {
    const text = madeOf(HISTORY);
    expect(await runIncidentTest(text)).toEqual({ passed: 6, failed: [] });

    const later = await runIncidentTest(text, {
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
    const text = madeOf({
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
    expect(text).toContain('"Warning MissingClusterDNS"');
    expect(text).toContain('"hasSelinux": true');
    expect(text).not.toContain('NodeName"]');
    expect((await runIncidentTest(text)).failed).toEqual([]);
  });

  it('passes for pods of a cluster, whose variables come from what a simulated node does not have', async () => {
    const { makeKubelet, recordings } = recordingsInMemory();
    const pods: History['pods'] = [
      { key: 'crashing', source: 'api', changes: [{ atMs: 0, pod: crashing }] },
      { key: 'lacking', source: 'api', changes: [{ atMs: SECOND, pod: lacking }] },
    ];
    runHistory({ ...HISTORY, pods, faults: [], endMs: 2 * MINUTE, quietFromMs: MINUTE }, { makeKubelet });
    const incident = lastIncident(recordings());
    // As the same is recorded where there is an API server that has the objects.
    const inCluster = incident.pods.map(({ changes, ...told }) => ({
      ...told,
      changes: changes.map(({ atMs, pod }) => ({
        atMs,
        ...(pod && { pod: pod.metadata.name === 'crashing' ? referring : pod }),
      })),
    }));
    const text = textOf(made({ ...incident, pods: inCluster }));
    expect(text).toContain('"Warning Failed"');
    expect(text).not.toContain('kube-root-ca.crt');

    // Where it was made in the end, after failures that only the API server could explain, there is no test.
    const instances = incident.instances.map((one) => ({ ...one, uid: lacking.metadata.uid, pod: 'lacking' }));
    const late = made({ ...incident, pods: inCluster, instances });
    expect(late).toMatchObject({ kind: 'does-not-replay' });
    expect('differences' in late && late.differences.at(-1)).toMatch(
      /^default\/lacking refers to objects of an API server, which a simulated node does not have/,
    );
    expect((await runIncidentTest(text)).failed).toEqual([]);
  });

  it('a test of pods that read ConfigMaps and Secrets of their source has these objects, and each of their versions', () => {
    const uid = 'uid-settings';
    const settings = (data: Readonly<Record<string, string>>): SourceObject => ({
      ...{ kind: 'ConfigMap', apiVersion: 'v1', data },
      metadata: { name: 'settings', namespace: 'default', uid },
    });
    const reading = podOf('reading', {
      name: 'main',
      env: [{ name: 'COLOR', valueFrom: { configMapKeyRef: { name: 'settings', key: 'color' } } }],
    });
    const mounting: Pod = aPod({
      ...{ uid: 'uid-mounting', name: 'mounting' },
      spec: {
        volumes: [{ name: 'settings', configMap: { name: 'settings' } }],
        containers: [{ name: 'main', image: 'registry.test/mounting:1' }],
      },
    });
    const incident = incidentOf({
      ...HISTORY,
      pods: [
        { key: 'reading', source: 'file', changes: [{ atMs: 0, pod: reading }] },
        { key: 'mounting', source: 'file', changes: [{ atMs: 5 * SECOND, pod: mounting }] },
      ],
      // The key that the pod needs comes late.
      objects: [
        {
          source: 'file',
          changes: [
            { atMs: 0, object: settings({ size: 'L' }) },
            { atMs: 40 * SECOND, object: settings({ size: 'L', color: 'blue' }) },
            { atMs: 90 * SECOND },
          ],
        },
      ],
      faults: [],
      endMs: 2 * MINUTE,
      quietFromMs: MINUTE,
    });
    expect(incident.objects).toEqual([
      {
        source: 'file',
        changes: [
          { atMs: expect.closeTo(0, 0) as number, object: settings({ size: 'L' }) },
          { atMs: 40 * SECOND, object: settings({ size: 'L', color: 'blue' }) },
          { atMs: 90 * SECOND },
        ],
      },
    ]);
    const text = textOf(made(incident));
    expect(text).toMatch(
      /"default\/reading main": \[[^\]]*\],\n(?:.*\n)*?.*"Warning Failed"(?:.*\n)*?.*"Normal Started"/,
    );
    expect(text).toContain('"default/mounting main"');
    expect(made({ ...incident, objects: [] })).toMatchObject({ kind: 'does-not-replay' });
  });

  it('a test has every pull of the recording in its order, also one that fails after others have succeeded', () => {
    const image = 'registry.test/pulling:1';
    const pulling = podOf('pulling', { name: 'main', imagePullPolicy: 'Always' });
    const incident = incidentOf({
      ...HISTORY,
      pods: [{ key: 'pulling', source: 'file', changes: [{ atMs: 0, pod: pulling }] }],
      behaviours: {
        containers: { 'pulling/main': [{ exitsAfterMs: 20 * SECOND, exitCode: 1 }, {}] },
        images: {
          [image]: {
            pulls: [
              { takesMs: 9 * SECOND },
              { takesMs: 4 * SECOND, error: 'the registry is away' },
              { takesMs: 2 * SECOND },
            ],
          },
        },
      },
      faults: [],
      endMs: 2 * MINUTE,
      quietFromMs: MINUTE,
    });
    expect(incident.pulls.map(({ tookMs, error }) => [Math.round(tookMs / SECOND), error])).toEqual([
      [9, undefined],
      [4, 'the registry is away'],
      [2, undefined],
    ]);
    const text = textOf(made(incident));
    expect(text.match(/"(Normal Pull\w+|Warning Failed)"/g)).toEqual([
      '"Normal Pulling"',
      '"Normal Pulled"',
      '"Normal Pulling"',
      '"Warning Failed"',
      '"Normal Pulling"',
      '"Normal Pulled"',
    ]);
  });

  it('a pull that a restart of the runtime cut off is part of the restart, and no behaviour of the image', () => {
    const { pulls } = incidentOf({
      ...HISTORY,
      pods: [{ key: 'deaf', source: 'file', changes: [{ atMs: 0, pod: deaf }] }],
      faults: [{ kind: 'runtime-restarts', atMs: 4 * SECOND, downMs: 2 * SECOND }],
      endMs: MINUTE,
      quietFromMs: 50 * SECOND,
    });
    expect(pulls).toMatchObject([{ image: 'registry.test/deaf:1' }]);
    expect(pulls[0]).not.toHaveProperty('error');
  });

  it('a pull that fails because the registry is unavailable is a behaviour of the image', () => {
    const { makeKubelet, recordings } = recordingsInMemory();
    runHistory({ ...HISTORY, faults: [], endMs: MINUTE, quietFromMs: 50 * SECOND }, { makeKubelet });
    const [recording] = recordings();
    if (!recording) throw new Error('nothing was recorded');
    const error = encodeValue(new CriError('unavailable', 'PullImage', 'no registry answers'));
    const entries = recording.entries.map((entry): RecordingEntry => {
      const isRefused = entry.kind === 'failed' && JSON.stringify(entry.error).includes('the registry is away');
      return isRefused ? { ...entry, error } : entry;
    });
    const { pulls } = readIncident(recording.header, entries);
    expect(pulls.filter((pull) => pull.error === 'no registry answers')).toHaveLength(2);
  });

  it('there is no test where something was not recorded, and each difference is named', () => {
    const incident = incidentOf({ ...HISTORY, endMs: 2 * MINUTE, quietFromMs: MINUTE });
    const test = made({
      ...incident,
      facts: { ...incident.facts, labels: {} },
      instances: incident.instances.slice(1),
    });
    if (test.kind !== 'does-not-replay') throw new Error(test.kind);
    expect(test.differences.length).toBeGreaterThan(0);
    for (const difference of test.differences)
      expect(difference).toMatch(/^default\/\S+( \S+)?: expected .+, and saw .+$/);
  });

  it('there is no test where every pod ran before the recording began', () => {
    const incident = incidentOf({
      ...HISTORY,
      pods: [{ key: 'deaf', source: 'file', changes: [{ atMs: 0, pod: deaf }] }],
      faults: [{ kind: 'agent-killed', atMs: 30 * SECOND, downMs: SECOND }],
      endMs: MINUTE,
      quietFromMs: MINUTE,
    });
    expect(incident.earlierPods).toEqual([{ namespace: 'default', pod: 'deaf', isRunning: true }]);
    expect(made(incident)).toEqual({
      kind: 'nothing-to-expect',
      because: 'default/deaf existed before the recording began',
    });
  });

  it('there is no test of a recording that ends right after all that it shows', () => {
    const pods: History['pods'] = [{ key: 'deaf', source: 'file', changes: [{ atMs: 20 * SECOND, pod: deaf }] }];
    const times = { quietFromMs: 21 * SECOND, endMs: 21 * SECOND };
    expect(made(incidentOf({ ...HISTORY, pods, faults: [], ...times }))).toEqual({
      kind: 'nothing-to-expect',
      because:
        'all that the recording shows of pods is after 19.0 s, in the 2.0 s before its end, in which nothing is expected: record for longer',
    });
  });

  it('has a greater tolerance only where slow calls of the runtime explain what is late', async () => {
    const { makeKubelet, recordings } = recordingsInMemory();
    const pods: History['pods'] = [{ key: 'deaf', source: 'file', changes: [{ atMs: 0, pod: deaf }] }];
    runHistory({ ...HISTORY, pods, faults: [], endMs: MINUTE, quietFromMs: MINUTE }, { makeKubelet });
    const { header, entries } = recordings()[0]!;
    const incident = readIncident(header, withSlow('runtime.createContainer', 3 * SECOND, entries));
    // The simulated call takes 3 ms itself.
    expect(incident.slowMs).toBe(3_003);
    expect(made({ ...incident, slowMs: 0 })).toEqual({
      kind: 'does-not-replay',
      differences: ['default/deaf main: expected Normal Created at 11.0 s, and saw Normal Created at 8.0 s'],
    });
    const text = textOf(made(incident));
    expect(text).toContain('const WITHIN_MS = 5003;');
    expect((await runIncidentTest(text)).failed).toEqual([]);
    // Slow calls that delay nothing do not make the test less exact.
    const even = readIncident(header, entries);
    expect(textOf(made({ ...even, slowMs: MINUTE }))).toContain('const WITHIN_MS = 2000;');
  });

  it('pods that had been stopped before the recording began are expected to start, and a finished one is left out', () => {
    const { makeKubelet, recordings } = recordingsInMemory();
    const pods = [deaf, { ...crashing, spec: { ...crashing.spec, restartPolicy: 'Never' as const } }];
    const node = simulatedNode({
      ...{ seed: 3, makeKubelet, sources: { file: concat(of(podSet(pods)), NEVER) } },
      behaviours: { containers: { 'crashing/main': [{ exitsAfterMs: 2_000 }] } },
    });
    const runFor = (ms: number): void => node.scheduler.runUntil(node.scheduler.now() + ms);
    node.start();
    runFor(MINUTE);
    node.stop('the pods are stopped', 1);
    runFor(MINUTE);
    node.start();
    runFor(MINUTE);
    node.dispose();
    expect(recordings()).toHaveLength(2);
    const incident = lastIncident(recordings());
    expect(incident.earlierPods.map(({ pod, isRunning }) => [pod, isRunning])).toEqual([
      ['deaf', false],
      ['crashing', false],
    ]);
    const text = textOf(made(incident));
    expect(text).toMatch(/as they are started again here:\n\/\/ {3}default\/crashing\nimport/);
    expect(text).toMatch(/"default\/deaf main": \[\s*\[\d+,"Normal Pulled"\],/);
    expect(text).toContain('"Normal Started"');
  });
});
