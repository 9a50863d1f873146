import { describe, expect, it } from 'vitest';
import { containerIn, expectWaits, planned, podIn, podOf, seconds } from './plan-of.js';

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

  it('has a BackOff event', () => {
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

describe('an image that cannot be pulled at first', () => {
  const pod = podIn(
    planned({
      spec: '  containers: [{name: app, image: "i:1"}]\n',
      scenario: 'images: {"i:1": {pull: 2s, failures: 4, error: not found}}',
      for: '10m',
    }).plan,
  );
  const { pulls, backOffs, instances } = containerIn(pod, 'app');

  it('is pulled again after 10, 20, 40 and 80 s, when the pod syncs', () => {
    expect(pulls.map(({ error }) => error)).toEqual([...Array<string>(4).fill('not found'), undefined]);
    expect(pulls.map(({ fromMs, toMs }) => seconds(toMs - fromMs))).toEqual([2, 2, 2, 2, 2]);
    const waits = pulls.slice(1).map(({ fromMs }, index) => (fromMs - pulls[index]!.toMs) / 1000);
    for (const [index, delay] of [10, 20, 40, 80].entries()) {
      expect(waits[index]).toBeGreaterThanOrEqual(delay);
      // An error of a pull carries no time: the pod syncs every 10 to 15 s, at a tick of a second.
      expect(waits[index]).toBeLessThanOrEqual(delay + 16);
    }
    expect(backOffs.map(({ delayMs, subject }) => `${subject} ${delayMs / 1000}`)).toEqual([
      ...['image-pull 10', 'image-pull 20', 'image-pull 40', 'image-pull 80'],
    ]);
  });

  it('keeps the pod Pending with events, and the container starts when the image is there', () => {
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
