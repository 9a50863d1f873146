import { describe, expect, it } from 'vitest';
import { containerIn, planned, podIn, seconds } from './plan-of.js';

const SPEC = `  containers:
    - name: app
      image: i:1
      readinessProbe: {exec: {command: [ready]}, periodSeconds: 10}
`;
const podWith = (timeline: string, rest = '') =>
  podIn(
    planned({ spec: SPEC, for: '10m', scenario: `images: {"i:1": {present: true}}\n${rest}timeline: [${timeline}]` })
      .plan,
  );

describe('what happens in a plan at its time', () => {
  it('deletes a pod, which then is not there at the end', () => {
    const pod = podWith('{at: 5m, deletePod: pod}');
    expect(seconds(pod.drain?.atMs)).toBe(300);
    expect(seconds(containerIn(pod, 'app').instances[0]?.endedMs)).toBe(300);
    expect(pod.ready.map(({ toMs }) => seconds(toMs))).toEqual([300]);
  });

  it('ends a program, which is started again at once', () => {
    const { instances } = containerIn(podWith('{at: 5m, exit: pod/app, exitCode: 3}'), 'app');
    expect(instances.map(({ startedMs }) => seconds(startedMs))).toEqual([0, 300]);
    expect(instances[0]).toMatchObject({ exitCode: 3, endedBy: 'exit' });
  });

  it('restarts the agent, which adopts what runs, and no pod stops being ready', () => {
    const pod = podWith('{at: 5m, restartAgent: {downFor: 30s}}');
    const { instances, probes } = containerIn(pod, 'app');
    expect(instances).toHaveLength(1);
    expect(pod.ready.map(({ fromMs, toMs }) => [seconds(fromMs), seconds(toMs)])).toEqual([[0, 600]]);
    // Probed every 10 s from 0 to 590 s, except for half a minute; the first one afterwards waits a part of its period.
    expect(probes[0]?.attempts).toBeGreaterThanOrEqual(60 - 4);
    expect(probes[0]?.attempts).toBeLessThanOrEqual(60 - 2);
  });

  it('restarts the runtime, under which containers go on', () => {
    const pod = podWith('{at: 5m, restartRuntime: {downFor: 20s}}');
    expect(containerIn(pod, 'app').instances).toHaveLength(1);
    expect(pod.sandboxes).toHaveLength(1);
    expect(pod.drain?.stoppedAfterMs).toBeDefined();
  });

  it('lets pulls fail from then on, and succeed again', () => {
    const pod = podIn(
      planned({
        spec: SPEC.replace('image: i:1', 'image: i:1\n      imagePullPolicy: Always'),
        scenario: `timeline:
  - {at: 1m, image: "i:1", failures: always, error: no such host}
  - {at: 2m, exit: pod/app}
  - {at: 4m, image: "i:1", pull: 3s}
`,
        for: '20m',
      }).plan,
    );
    const { pulls, instances } = containerIn(pod, 'app');
    const [first, ...others] = pulls;
    expect(first?.error).toBeUndefined();
    const failed = others.filter(({ error }) => error !== undefined);
    expect(failed.length).toBeGreaterThan(1);
    expect(failed.every(({ fromMs, error }) => fromMs < 240_000 && error === 'no such host')).toBe(true);
    const last = pulls.at(-1);
    expect(seconds((last?.toMs ?? NaN) - (last?.fromMs ?? NaN))).toBe(3);
    expect(instances).toHaveLength(2);
    expect(instances[1]?.startedMs).toBeGreaterThanOrEqual(last?.toMs ?? NaN);
  });
});

it('counts a pod that was deleted and gone before the end only once', () => {
  const { plan } = planned({ spec: SPEC, for: '10m', scenario: 'timeline: [{at: 5m, deletePod: pod}]' });
  expect(seconds(plan.endMs)).toBe(600);
  expect(podIn(plan).drain?.steps.map(({ what }) => what)).toEqual(['stop-signal', 'exited']);
});
