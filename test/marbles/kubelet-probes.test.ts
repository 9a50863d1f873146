import { throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { PROBE_FAST_ANNOTATION, PROBE_PERIOD_ANNOTATION } from '../../src/model/probes/probe-pace.js';
import { expectLanes, linesOf } from './lanes.js';
import { bad, good, probe, probedPod, SHOWN, typeOf, watchMain } from './probed-pod.js';
import { forever, MINUTE, onNode, pod, SECOND, sets } from './virtual-node.js';

const SECONDS = { everyMs: SECOND };

describe('a readiness probe', () => {
  it('makes a pod ready within milliseconds of its start, and not ready with the failure that counts', () => {
    let seen: readonly string[] = [];
    const probes: string[] = [];
    onNode(
      {
        untilMs: 2 * MINUTE,
        probe: (_, atMs) => {
          probes.push(`${atMs} probe`);
          return atMs >= 60 * SECOND && atMs < 100 * SECOND ? bad : good;
        },
      },
      (stage) => {
        const agent = stage.start({ sources: { file: forever(probedPod({ readinessProbe: probe('readiness') })) } });
        seen = watchMain(stage, agent.pods, 2 * MINUTE);
      },
    );
    // Probes fail from 60 s to 100 s. The third failure in a row counts, and the sync that follows it probes once more.
    expectLanes([...probes, ...seen], { everyMs: 5 * SECOND }).toBe('(pr)-p-p-p-p-p-p-p-(ppu)-p-(pr)-p', {
      ...SHOWN,
      p: 'probe',
    });
  });

  it('is asked for the first time when the initial delay ends', () => {
    const probes: string[] = [];
    const { fake } = onNode(
      {
        untilMs: 30 * SECOND,
        probe: (_, atMs) => {
          probes.push(`${atMs} probe`);
          return good;
        },
      },
      ({ start }) => {
        const readinessProbe = probe('readiness', { initialDelaySeconds: 7 });
        start({ sources: { file: forever(probedPod({ readinessProbe })) } });
      },
    );
    expectLanes([...fake.history, ...probes], SECONDS).toBe({
      'sandbox web': '0---------------------------',
      'start main': ' 0---------------------------',
      probe: '        -------p---------p---------p',
    });
  });

  it.each([
    { periodSeconds: undefined, picture: 'p---------p---------p---------p' },
    { periodSeconds: 7, picture: 'p------p------p------p------p' },
  ])('comes every period, 10 s unless given: $periodSeconds', ({ periodSeconds, picture }) => {
    const probes: string[] = [];
    onNode(
      {
        untilMs: 31 * SECOND,
        probe: (_, atMs) => {
          probes.push(`${atMs} probe`);
          return good;
        },
      },
      ({ start }) => {
        start({ sources: { file: forever(probedPod({ readinessProbe: probe('readiness', { periodSeconds }) })) } });
      },
    );
    expectLanes(probes, SECONDS).toBe({ probe: picture });
  });

  it('goes on while the pod stops', () => {
    const probes: string[] = [];
    const { fake } = onNode(
      {
        behaviours: { main: [{ stopsAfterMs: 20 * SECOND }] },
        untilMs: MINUTE,
        probe: (target, atMs) => {
          probes.push(`${atMs} ${typeOf(target)}`);
          return good;
        },
      },
      ({ start }) => {
        const all = { readinessProbe: probe('readiness'), livenessProbe: probe('liveness') };
        const deleted = { deletionTimestamp: '1970-01-01T00:00:55Z', deletionGracePeriodSeconds: 30 };
        const steps = [{}, deleted].map((sketch) => probedPod(all, { source: 'api', ...sketch }));
        start({ sources: { api: sets([0, [steps[0]!]], [25 * SECOND, [steps[1]!]]) } });
      },
    );
    expectLanes([...linesOf(fake.history, 'stop main', 'exit main'), ...probes], SECONDS).toBe({
      readiness: '  r---------r---------r---------r---------r-----',
      liveness: '   l---------l---------l-------------------------',
      'stop main': '-------------------------s--------------------',
      'exit main': '---------------------------------------------e',
    });
  });
});

describe('a liveness probe', () => {
  it('restarts a container after `failureThreshold` failures, with its own grace period, and without making it wait', () => {
    const { fake, records, events } = onNode(
      {
        behaviours: { main: [{ stopsAfterMs: 60 * MINUTE }, {}] },
        untilMs: 2 * MINUTE,
        probe: (_, atMs) => (atMs >= 30 * SECOND && atMs < 53 * SECOND ? bad : good),
      },
      ({ start }) => {
        const livenessProbe = probe('liveness', { terminationGracePeriodSeconds: 4 });
        start({ sources: { file: forever(probedPod({ livenessProbe })) } });
      },
    );
    expectLanes([...linesOf(events, 'Unhealthy'), ...fake.history], SECONDS).toBe({
      'sandbox web': '  0 29s -------------------------',
      'start main': '   0 29s ------------------------1',
      Unhealthy: '      - 29s U---------U---------U----',
      'stop main 4': '  - 29s --------------------s----',
      'exit main 137': '- 29s ------------------------e',
    });
    const verdicts = records.filter((entry) => entry.kind === 'probe');
    expect(verdicts).toMatchObject([{ probe: 'liveness', result: 'failure', output: 'no', container: 'main' }]);
    const actions = records.filter((entry) => entry.kind === 'actions').flatMap(({ actions }) => actions);
    expect(actions.map(({ because }) => because)).toContain('container main is killed: its liveness probe failed');
  });

  it('kills for good where the pod does not restart', () => {
    const { fake } = onNode({ untilMs: 5 * MINUTE, probe: () => bad }, ({ start }) => {
      const doomed = probedPod({ livenessProbe: probe('liveness') });
      start({ sources: { file: forever({ ...doomed, spec: { ...doomed.spec, restartPolicy: 'Never' } }) } });
    });
    expectLanes(fake.history, SECONDS).toBe({
      'sandbox web': '     0 19s -',
      'start main': '      0 19s -',
      'stop main 30': '    - 19s s',
      'exit main 143': '   - 19s e',
      'stop-sandbox web': '- 19s s',
    });
  });

  it('restarts one container only, with any rules for an end by itself', () => {
    const { fake } = onNode(
      {
        behaviours: { main: [{ stopsAfterMs: 0 }, {}] },
        untilMs: 2 * MINUTE,
        probe: (_, atMs) => (atMs >= 30 * SECOND && atMs < 53 * SECOND ? bad : good),
      },
      ({ start }) => {
        const restartPolicyRules = [
          { action: 'RestartAllContainers', exitCodes: { operator: 'NotIn' as const, values: [0] } },
        ] as const;
        const restarts = { restartPolicy: 'Always', restartPolicyRules };
        const main = { name: 'main', image: 'host', livenessProbe: probe('liveness'), ...restarts };
        start({ sources: { file: forever(pod({ containers: [main, { name: 'other', image: 'host' }] })) } });
      },
    );
    expectLanes(fake.history, SECONDS).toBe({
      'sandbox web': '  0 49s -',
      'start main': '   0 49s 1',
      'start other': '  0 49s -',
      'stop main 30': ' - 49s s',
      'exit main 143': '- 49s e',
    });
  });

  it('that finds nothing out restarts nothing', () => {
    const { fake, events } = onNode(
      { untilMs: 5 * MINUTE, probe: () => throwError(() => new Error('away')) },
      ({ start }) => {
        start({ sources: { file: forever(probedPod({ livenessProbe: probe('liveness') })) } });
      },
    );
    expectLanes([...fake.history, ...linesOf(events, 'Unhealthy')], { everyMs: 10 * SECOND }).toBe({
      'sandbox web': '0-----------------------------',
      'start main': ' 0-----------------------------',
      Unhealthy: '    UUUUUUUUUUUUUUUUUUUUUUUUUUUUUU',
    });
  });

  it('that always fails backs off like a container that always fails', () => {
    const { fake } = onNode({ untilMs: 40 * MINUTE, probe: () => bad }, ({ start }) => {
      start({ sources: { file: forever(probedPod({ livenessProbe: probe('liveness', { failureThreshold: 1 }) })) } });
    });
    // The sync that kills starts again at once, by the end before; so of two starts one waits, as with the kubelet.
    expectLanes(linesOf(fake.history, 'start main'), SECONDS).toBe({
      'start main': '(012)----------3 20s 4 40s 5 80s 6 160s 7 5m (89) 5m (ss) 5m (ss) 5m (ss) 5m (ss) 5m (ss)',
    });
    // Collected except the newest.
    expect(fake.containers.size).toBe(1);
  });
});

describe('a startup probe', () => {
  it('holds the others back until it succeeds, then readiness is asked at once', () => {
    let seen: readonly string[] = [];
    const probes: string[] = [];
    onNode(
      {
        untilMs: 50 * SECOND,
        probe: (target, atMs) => {
          probes.push(`${atMs} ${typeOf(target)}`);
          return typeOf(target) === 'startup' && atMs < 25 * SECOND ? bad : good;
        },
      },
      (stage) => {
        const all = {
          startupProbe: probe('startup', { failureThreshold: 30 }),
          readinessProbe: probe('readiness'),
          livenessProbe: probe('liveness'),
        };
        const agent = stage.start({ sources: { file: forever(probedPod(all)) } });
        seen = watchMain(stage, agent.pods, 50 * SECOND);
      },
    );
    expectLanes(probes, SECONDS).toBe({
      startup: '  s---------s---------s---------s----------',
      liveness: ' ------------------------------l---------l',
      readiness: '------------------------------r---------r',
    });
    expectLanes(seen, SECONDS).toBe('s 29s r', SHOWN);
  });

  it('that keeps failing restarts the container, whose startup begins again', () => {
    const { fake } = onNode(
      { untilMs: 2 * MINUTE, probe: (_, atMs) => (atMs < 30 * SECOND ? bad : good) },
      ({ start }) => {
        const startupProbe = probe('startup', { failureThreshold: 2, terminationGracePeriodSeconds: 3 });
        start({ sources: { file: forever(probedPod({ startupProbe })) } });
      },
    );
    expectLanes(fake.history, SECONDS).toBe({
      'sandbox web': '  0--------------------',
      'start main': '   0---------1---------2',
      'stop main 3': '  ----------s---------s',
      'exit main 143': '----------e---------e',
    });
  });

  it('of a sidecar lets the containers after it start as soon as it has succeeded', () => {
    const { fake } = onNode({ untilMs: MINUTE, probe: (_, atMs) => (atMs < 5 * SECOND ? bad : good) }, ({ start }) => {
      const startupProbe = probe('startup', { periodSeconds: 1, failureThreshold: 30 });
      const sidecar = { name: 'sidecar', image: 'host', restartPolicy: 'Always', startupProbe };
      start({ sources: { file: forever(pod({ initContainers: [sidecar] })) } });
    });
    expectLanes(fake.history, SECONDS).toBe({
      'sandbox web': '  0-----',
      'start sidecar': '0-----',
      'start main': '   -----0',
    });
  });
});

describe('annotations', () => {
  const probesOf = (annotations: Record<string, string>): readonly string[] => {
    const probes: string[] = [];
    onNode(
      {
        untilMs: 20 * SECOND,
        probe: (_, atMs) => {
          probes.push(`${atMs} probe`);
          return atMs < 1_900 ? bad : good;
        },
      },
      ({ start }) => {
        const startupProbe = probe('startup', { failureThreshold: 100 });
        start({ sources: { file: forever(probedPod({ startupProbe }, { annotations })) } });
      },
    );
    return probes;
  };

  it('set a period in milliseconds', () => {
    const probes = probesOf({ [PROBE_PERIOD_ANNOTATION]: 'main.startup=500' });
    expectLanes(probes, { everyMs: 100 }).toBe({ probe: 'p----p----p----p----p' });
  });

  it('set one until the first success', () => {
    const probes = probesOf({ [PROBE_FAST_ANNOTATION]: 'main.startup=400' });
    expectLanes(probes, { everyMs: 100 }).toBe({ probe: 'p---p---p---p---p---p' });
  });

  it('that cannot be used are reported once, and have no effect', () => {
    const { events } = onNode({ untilMs: 10 * MINUTE, probe: () => good }, ({ start }) => {
      const annotations = { [PROBE_PERIOD_ANNOTATION]: 'main.readiness=5' };
      start({ sources: { file: forever(probedPod({ readinessProbe: probe('readiness') }, { annotations })) } });
    });
    expectLanes(linesOf(events, 'InvalidProbePeriod'), { everyMs: MINUTE }).toBe({ InvalidProbePeriod: 'I' });
  });
});
