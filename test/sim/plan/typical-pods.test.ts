import { describe, expect, it } from 'vitest';
import type { InstancePlan } from '../../../src/tools/sim/plan/plan.js';
import { containerIn, planned, podIn, seconds, type Sketch } from './plan-of.js';

/** The pod of a sketch; its image is there, so that containers start as soon as the pod is known. */
const podOf = ({ scenario = '', ...sketch }: Sketch) =>
  podIn(planned({ ...sketch, scenario: `images: {"i:1": {present: true}}\n${scenario}` }).plan);

/** What an error may put off: the back-off, times 1 to 1.5, until the next tick of a second. Source: completeWork in pod_workers.go. */
const withinJitter = (backOffSeconds: number): readonly [number, number] => [
  backOffSeconds,
  // A wait of more than a minute is looked at every minute, so only what is left at the last look is stretched.
  backOffSeconds + 0.5 * Math.min(backOffSeconds, 60) + 1,
];

const expectWaits = (instances: readonly InstancePlan[], delays: readonly number[]): void => {
  const waits = instances.slice(1, 1 + delays.length);
  expect(waits.map(({ backOff }) => (backOff?.delayMs ?? 0) / 1000)).toEqual(delays);
  for (const [index, { waitedMs = NaN }] of waits.entries()) {
    const [least, most] = withinJitter(delays[index]!);
    expect(waitedMs / 1000).toBeGreaterThanOrEqual(least);
    expect(waitedMs / 1000).toBeLessThanOrEqual(most);
  }
};

describe('a container that fails a second after each start', () => {
  const pod = podOf({
    spec: '  containers: [{name: main, image: "i:1"}]\n',
    scenario: 'containers: {main: {exitsAfter: 1s, exitCode: 1}}',
    for: '1h',
  });
  const { instances } = containerIn(pod, 'main');

  it('restarts at once, then after 10, 20, 40, 80, 160 and 300 s, and 300 s from then on', () => {
    expectWaits(instances, [0, 10, 20, 40, 80, 160, 300, 300, 300]);
    expect(instances.slice(2, 8).map(({ backOff }) => backOff?.step)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(instances[2]?.backOff?.steps).toBe(6);
  });

  it('counts restarts from 0, ends by itself each time, and stays Running', () => {
    expect(instances.map(({ attempt }) => attempt)).toEqual(instances.map((_, index) => index));
    expect(new Set(instances.map(({ exitCode, endedBy }) => `${exitCode} ${endedBy}`))).toEqual(new Set(['1 exit']));
    expect(pod.phases.map(({ phase }) => phase)).toEqual(['Pending', 'Running']);
  });

  it('is told of by BackOff', () => {
    const backOff = pod.events.find(({ reason }) => reason === 'BackOff');
    expect(backOff).toMatchObject({ type: 'Warning', container: 'main' });
    expect(backOff?.message).toMatch(/^Back-off restarting failed container main in pod pod_default\(/);
  });
});

it('starts over with the table after more than ten minutes of running', () => {
  const { instances } = containerIn(
    podOf({
      spec: '  containers: [{name: main, image: "i:1"}]\n',
      scenario: `containers:
  main:
    - {exitsAfter: 1s, exitCode: 1}
    - {exitsAfter: 1s, exitCode: 1}
    - {exitsAfter: 1s, exitCode: 1}
    - {exitsAfter: 11m, exitCode: 1}
    - {exitsAfter: 1s, exitCode: 1}
`,
      for: '30m',
    }),
    'main',
  );
  expectWaits(instances, [0, 10, 20, 0, 10, 20, 40]);
});

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
    // Failures at 60, 70 and 80 s. Not being ready, it is probed again at once, and the period begins anew there.
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

describe('init containers', () => {
  it('go one after the other, each until it succeeds, before anything else', () => {
    const pod = podOf({
      spec: `  initContainers: [{name: one, image: "i:1"}, {name: two, image: "i:1"}]
  containers: [{name: app, image: "i:1"}]
`,
      scenario: `containers:
  one: {exitsAfter: 5s}
  two: [{exitsAfter: 1s, exitCode: 1}, {exitsAfter: 1s, exitCode: 1}, {exitsAfter: 3s}]
`,
      for: '5m',
    });
    const [one, two, app] = ['one', 'two', 'app'].map((name) => containerIn(pod, name));
    expect([one?.instances.length, two?.instances.length, app?.instances.length]).toEqual([1, 3, 1]);
    expect(two?.instances[0]?.startedMs).toBeGreaterThanOrEqual(one?.instances[0]?.endedMs ?? NaN);
    expect(app?.instances[0]?.startedMs).toBeGreaterThanOrEqual(two?.instances[2]?.endedMs ?? NaN);
    // The back-off is that of regular containers.
    expectWaits(two?.instances ?? [], [0, 10]);
    expect(pod.phases.map(({ phase }) => phase)).toEqual(['Pending', 'Running']);
    expect(pod.phases[1]?.atMs).toBeGreaterThanOrEqual(app?.instances[0]?.startedMs ?? NaN);
  });

  it('that fail for good make the pod fail', () => {
    const pod = podOf({
      spec: `  restartPolicy: Never
  initContainers: [{name: one, image: "i:1"}]
  containers: [{name: app, image: "i:1"}]
`,
      scenario: 'containers: {one: {exitsAfter: 1s, exitCode: 3}}',
      for: '1m',
    });
    expect(pod.phases.map(({ phase }) => phase)).toEqual(['Pending', 'Failed']);
    expect(containerIn(pod, 'app').instances).toEqual([]);
  });
});

describe('sidecars', () => {
  const pod = podOf({
    spec: `  terminationGracePeriodSeconds: 30
  initContainers:
    - {name: log, image: "i:1", restartPolicy: Always}
    - name: proxy
      image: i:1
      restartPolicy: Always
      startupProbe: {exec: {command: [up]}, periodSeconds: 1, failureThreshold: 10}
    - {name: prepare, image: "i:1"}
  containers: [{name: app, image: "i:1"}, {name: web, image: "i:1"}]
`,
    scenario: `containers:
  log: {stopsAfter: 2s}
  proxy: {readyAfter: 3500ms, stopsAfter: 1s}
  prepare: {exitsAfter: 5s}
  app: {stopsAfter: 6s}
  web: {stopsAfter: 4s}
`,
    for: '2m',
  });

  it('start in order; the next waits for the startup probe, and not for the end', () => {
    const at = (name: string) => seconds(containerIn(pod, name).instances[0]?.startedMs);
    // The startup probe of proxy succeeds with its fifth attempt, 4 s after the start.
    expect(['log', 'proxy', 'prepare', 'app', 'web'].map(at)).toEqual([0, 0, 4, 9, 9]);
    expect(containerIn(pod, 'log').kind).toBe('sidecar');
    expect(containerIn(pod, 'prepare').kind).toBe('init');
  });

  it('stop after the regular containers, the last one first', () => {
    const { steps = [], atMs = NaN, stoppedAfterMs } = pod.drain ?? {};
    const order = steps.map(({ container, what, atMs: at }) => `${seconds(at - atMs)} ${container} ${what}`);
    expect(order.slice(0, 2).toSorted()).toEqual(['0 app stop-signal', '0 web stop-signal']);
    expect(order.slice(2)).toEqual([
      ...['4 web exited', '6 app exited'],
      ...['6 proxy stop-signal', '7 proxy exited'],
      ...['7 log stop-signal', '9 log exited'],
    ]);
    // What is waited for the others is taken from the grace.
    const signals = steps.filter(({ what }) => what === 'stop-signal');
    expect(signals.map(({ graceSeconds }) => graceSeconds)).toEqual([30, 30, 24, 23]);
    expect(seconds(stoppedAfterMs)).toBe(9);
  });
});

describe('a drain', () => {
  const drainOf = (grace: number, scenario: string) =>
    podOf({
      spec: `  terminationGracePeriodSeconds: ${grace}
  containers:
    - name: app
      image: i:1
      lifecycle: {preStop: {exec: {command: [drain]}}}
`,
      scenario: `containers: {app: ${scenario}}`,
      for: '1m',
    }).drain;
  const stepsOf = (drain: ReturnType<typeof drainOf>) =>
    drain?.steps.map(({ what, atMs, graceSeconds }) =>
      [seconds(atMs - drain.atMs), what, graceSeconds].filter((part) => part !== undefined).join(' '),
    );

  it('takes as long as its hook and its program, within the grace', () => {
    const drain = drainOf(60, '{preStop: {takes: 20s}, stopsAfter: 15s}');
    expect(stepsOf(drain)).toEqual(['0 pre-stop', '20 pre-stop-ended', '20 stop-signal 40', '35 exited']);
    expect(seconds(drain?.stoppedAfterMs)).toBe(35);
  });

  it('ends with SIGKILL at the end of the grace', () => {
    const drain = drainOf(30, '{preStop: {takes: 8s}, onStop: hangs}');
    expect(stepsOf(drain)).toEqual(['0 pre-stop', '8 pre-stop-ended', '8 stop-signal 22', '30 killed']);
    expect(drain?.graceSeconds).toBe(30);
  });

  it('leaves two seconds to a program whose hook has used up everything', () => {
    const drain = drainOf(10, '{preStop: {takes: 1m}, onStop: hangs}');
    expect(stepsOf(drain)).toEqual(['0 pre-stop', '10 stop-signal 2', '12 killed']);
  });
});

describe('an image that cannot be pulled at first', () => {
  const pod = podIn(
    planned({
      spec: '  containers: [{name: app, image: "i:1"}]\n',
      scenario: 'images: {"i:1": {pull: 2s, failures: 4, error: not found}}',
      for: '10m',
    }).plan,
  );
  const { pulls, backOffs, instances } = containerIn(pod, 'app');

  it('is pulled again after 10, 20, 40 and 80 s, when the pod is looked at', () => {
    expect(pulls.map(({ error }) => error)).toEqual([...Array<string>(4).fill('not found'), undefined]);
    expect(pulls.map(({ fromMs, toMs }) => seconds(toMs - fromMs))).toEqual([2, 2, 2, 2, 2]);
    const waits = pulls.slice(1).map(({ fromMs }, index) => (fromMs - pulls[index]!.toMs) / 1000);
    for (const [index, delay] of [10, 20, 40, 80].entries()) {
      expect(waits[index]).toBeGreaterThanOrEqual(delay);
      // An error of a pull carries no time: the pod is looked at every 10 to 15 s, and at a tick of a second.
      expect(waits[index]).toBeLessThanOrEqual(delay + 16);
    }
    expect(backOffs.map(({ delayMs, subject }) => `${subject} ${delayMs / 1000}`)).toEqual([
      ...['image-pull 10', 'image-pull 20', 'image-pull 40', 'image-pull 80'],
    ]);
  });

  it('keeps the pod Pending, says so, and the container starts when it is there', () => {
    expect(pod.phases.map(({ phase }) => phase)).toEqual(['Pending', 'Running']);
    expect(pod.events.map(({ reason }) => reason)).toEqual(
      expect.arrayContaining(['Pulling', 'Failed', 'BackOff', 'Pulled', 'Created', 'Started']),
    );
    expect(seconds((instances[0]?.startedMs ?? NaN) - (pulls[4]?.toMs ?? NaN))).toBe(0);
  });

  it('says how much of the earliest Ready is jitter', () => {
    const { atMs = NaN, shortestMs = NaN, longestMs = NaN } = pod.firstReady ?? {};
    expect(shortestMs).toBeLessThan(longestMs);
    expect(atMs).toBeGreaterThanOrEqual(shortestMs);
    expect(atMs).toBeLessThanOrEqual(longestMs);
  });
});

describe('a job', () => {
  const pod = podOf({
    spec: '  restartPolicy: OnFailure\n  containers: [{name: app, image: "i:1"}]\n',
    scenario: 'containers: {app: [{exitsAfter: 5s, exitCode: 1}, {exitsAfter: 7s}]}',
    for: '10m',
  });

  it('is started again until it succeeds, and then never', () => {
    const { instances } = containerIn(pod, 'app');
    expect(instances.map(({ exitCode }) => exitCode)).toEqual([1, 0]);
    expectWaits(instances, [0]);
    expect(pod.phases.map(({ phase }) => phase)).toEqual(['Pending', 'Running', 'Succeeded']);
  });

  it('has nothing left to drain', () => {
    expect(pod.drain).toBeUndefined();
  });

  it('that may not be started again fails', () => {
    const never = podOf({
      spec: '  restartPolicy: Never\n  containers: [{name: app, image: "i:1"}]\n',
      scenario: 'containers: {app: {exitsAfter: 5s, exitCode: 1}}',
      for: '1m',
    });
    expect(never.phases.map(({ phase }) => phase)).toEqual(['Pending', 'Running', 'Failed']);
    expect(containerIn(never, 'app').instances).toHaveLength(1);
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

it('rejects a pod that may not run on this node, with the reason of the kubelet', () => {
  const pod = podOf({
    spec: `  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms: [{matchExpressions: [{key: gpu, operator: Exists}]}]
  containers: [{name: app, image: "i:1"}]
`,
    for: '1m',
  });
  expect(pod.rejected?.reason).toBe('NodeAffinity');
  expect(containerIn(pod, 'app').instances).toEqual([]);
  expect(pod.drain).toBeUndefined();
});

it('takes every size of a pod, and the labels that it selects', () => {
  const pod = podOf({
    spec: `  nodeSelector: {disk: fast}
  containers: [{name: app, image: "i:1", resources: {requests: {cpu: 200, memory: 2Ti}}}]
`,
    for: '1m',
  });
  expect(pod.rejected).toBeUndefined();
  expect(pod.firstReady).toBeDefined();
});

describe('what nobody has said how it goes', () => {
  const spec = `  initContainers:
    - {name: prepare, image: "i:1"}
    - {name: proxy, image: "i:1", restartPolicy: Always}
  containers: [{name: app, image: "i:1"}]
`;
  const lives = (scenario: string) => {
    const pod = podOf({ spec, scenario, for: '10m' });
    return Object.fromEntries(
      ['prepare', 'proxy', 'app'].map((name) => [name, containerIn(pod, name).instances.map(({ endedBy }) => endedBy)]),
    );
  };
  const untilTheEnd = ['deletion'];

  it('ends after a second if others wait for it, and runs for good otherwise', () => {
    expect(lives('')).toEqual({ prepare: ['exit'], proxy: untilTheEnd, app: untilTheEnd });
  });

  it('does so too where a scenario speaks of all others', () => {
    expect(lives('containers: {"*": {readyAfter: 5s}}').prepare).toEqual(['exit']);
  });

  it('is not assumed of an init container that the scenario names', () => {
    expect(lives('containers: {prepare: {readyAfter: 5s}}')).toEqual({ prepare: untilTheEnd, proxy: [], app: [] });
  });
});
