import { describe, expect, it } from 'vitest';
import { containerIn, podOf, seconds } from './plan-of.js';

describe('a slow start', () => {
  const probes = (startup: boolean) => `  containers:
    - name: app
      image: i:1
${startup ? '      startupProbe: {exec: {command: [up]}, periodSeconds: 5, failureThreshold: 12}\n' : ''}      readinessProbe: {exec: {command: [ready]}, periodSeconds: 10}
      livenessProbe: {exec: {command: [live]}, periodSeconds: 10, failureThreshold: 3}
`;
  const slow = 'containers: {app: {readyAfter: 42s}}';

  it('is waited for by a startup probe, and everything else begins when that succeeds', () => {
    const pod = podOf({ spec: probes(true), scenario: slow, for: '10m' });
    const { instances, probes: made } = containerIn(pod, 'app');
    const [app] = instances;
    const since = (ms: number | undefined) => seconds((ms ?? NaN) - (app?.startedMs ?? NaN));
    expect(instances).toHaveLength(1);
    // First at once, then every 5 s: the tenth one, after 45 s, is the first after 42 s.
    expect(since(app?.startupMs)).toBe(45);
    expect(made.map(({ probe, attempts, failures, firstMs }) => [probe, attempts, failures, since(firstMs)])).toEqual([
      ['startup', 10, 9, 0],
      ['readiness', expect.any(Number), 0, 45],
      ['liveness', expect.any(Number), 0, 45],
    ]);
    expect(since(app?.firstReadyMs)).toBe(45);
    expect(since(pod.firstReady?.atMs)).toBe(45);
  });

  it('is killed by a liveness probe without one, again and again', () => {
    const pod = podOf({ spec: probes(false), scenario: slow, for: '10m' });
    const { instances, probes: made } = containerIn(pod, 'app');
    // Failures at 0, 10 and 20 s: the third one kills.
    const lives = instances.flatMap(({ startedMs, endedMs, endedBy }) =>
      endedBy === 'liveness' ? [seconds((endedMs ?? NaN) - startedMs)] : [],
    );
    expect(new Set(lives)).toEqual(new Set([20]));
    expect(lives.length).toBeGreaterThan(4);
    expect(made.find(({ probe }) => probe === 'readiness')?.firstSuccessMs).toBeUndefined();
    expect(pod.firstReady).toBeUndefined();
    expect(pod.events.find(({ reason }) => reason === 'Killing')?.message).toBe(
      'Container app failed liveness probe, will be restarted',
    );
  });

  it('is killed by a startup probe that has no patience, at the threshold', () => {
    const pod = podOf({
      spec: probes(true).replace('failureThreshold: 12', 'failureThreshold: 9'),
      scenario: slow,
      for: '2m',
    });
    // Failures every 5 s from 0 on: the ninth one at 40 s, two seconds too early.
    const [first] = containerIn(pod, 'app').instances;
    expect(seconds((first?.endedMs ?? NaN) - (first?.startedMs ?? NaN))).toBe(40);
    expect(first?.endedBy).toBe('startup');
  });
});

describe('thresholds of a readiness probe', () => {
  const ready = (window: string) =>
    podOf({
      spec: `  containers:
    - name: app
      image: i:1
      readinessProbe: {exec: {command: [ready]}, periodSeconds: 10, failureThreshold: 3, successThreshold: 2}
`,
      scenario: `containers: {app: {failsProbes: ${window}}}`,
      for: '5m',
    });
  const verdictsOf = (pod: ReturnType<typeof ready>) => {
    const { probes, instances } = containerIn(pod, 'app');
    const started = instances[0]?.startedMs ?? NaN;
    return probes[0]?.verdicts.map(({ atMs, result }) => `${result} ${seconds(atMs - started)}`);
  };

  it('are not reached by two failures of three', () => {
    // Probes at 60 and 70 s fail, the one at 80 s does not.
    expect(verdictsOf(ready('{from: 60s, to: 80s}'))).toEqual(['success 0']);
  });

  it('are reached by the third failure; two successes in a row take it back', () => {
    // Failures at 60, 70 and 80 s. Not being ready, it is probed again at once, and its period begins again there.
    const pod = ready('{from: 60s, to: 80500ms}');
    expect(verdictsOf(pod)).toEqual(['success 0', 'failure 80', 'success 100']);
    expect(pod.ready.map(({ fromMs, toMs }) => [seconds(fromMs), seconds(toMs)])).toEqual([
      [0, 80],
      [100, 300],
    ]);
  });
});

describe('a liveness probe that fails between 2 and 5 minutes', () => {
  const pod = (instances: string) =>
    podOf({
      spec: `  terminationGracePeriodSeconds: 30
  containers:
    - name: app
      image: i:1
      livenessProbe: {exec: {command: [live]}, periodSeconds: 10, terminationGracePeriodSeconds: 5}
`,
      scenario: `containers: {app: ${instances}}`,
      for: '10m',
    });
  const failing = 'failsProbes: {from: 2m, to: 5m, probe: liveness}';

  it('kills at the third failure', () => {
    const { instances, probes } = containerIn(pod(`[{${failing}}, {}]`), 'app');
    const [first, second] = instances;
    expect([instances.length, seconds((first?.endedMs ?? NaN) - (first?.startedMs ?? NaN))]).toEqual([2, 140]);
    expect(first).toMatchObject({ endedBy: 'liveness', exitCode: 143 });
    // Killed and started in one go: the instance that was killed does not count as one that has ended.
    expect(second?.backOff).toBeUndefined();
    expect(second?.waitedMs).toBeLessThan(1000);
    expect(probes[0]?.failures).toBe(3);
  });

  it('has the grace of the probe, not that of the pod', () => {
    const [first] = containerIn(pod(`[{${failing}, onStop: hangs}, {}]`), 'app').instances;
    expect(seconds((first?.endedMs ?? NaN) - (first?.startedMs ?? NaN))).toBe(145);
    expect(first?.exitCode).toBe(137);
  });
});

it('asks a server on the network of the node at the address of the node, by the name of its port', () => {
  const pod = podOf({
    spec: `  hostNetwork: true
  containers:
    - name: app
      image: i:1
      ports: [{name: web, containerPort: 8080}]
      readinessProbe: {httpGet: {host: 127.0.0.1, port: web}, periodSeconds: 5}
      livenessProbe: {tcpSocket: {port: web}}
`,
    scenario: 'containers: {app: {readyAfter: 12s}}',
    for: '1m',
  });
  // The liveness probe fails at 0 and 10 s, one less than it may; readiness is asked every 5 s.
  const { instances, probes } = containerIn(pod, 'app');
  expect(instances).toHaveLength(1);
  expect(seconds((pod.firstReady?.atMs ?? NaN) - (instances[0]?.startedMs ?? NaN))).toBe(15);
  expect(probes.map(({ probe, failures }) => [probe, failures])).toEqual([
    ['readiness', 4],
    ['liveness', 2],
  ]);
});
