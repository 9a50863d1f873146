import { describe, expect, it } from 'vitest';
import { containerIn, expectWaits, podOf, seconds } from './plan-of.js';

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

describe('a container that the scenario does not name', () => {
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
