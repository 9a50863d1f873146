import { map, of, throwError, timer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { ContainerStatus, Pod, Probe } from '../../src/model/pod.js';
import { PROBE_FAST_ANNOTATION, PROBE_PERIOD_ANNOTATION } from '../../src/model/probes/probe-pace.js';
import type { ProbeRecord } from '../../src/model/probes/probe-record.js';
import type { ProbeOutcome, ProbeRecords, ProbeTarget } from '../../src/streams/ports.js';
import { memoryProbeRecords } from '../support/memory-probe-records.js';
import { forever, MINUTE, onNode, pod, SECOND, sets, type Stage, starts } from './virtual-node.js';

const HOUR = 60 * MINUTE;
const good = of<ProbeOutcome>({ result: 'success', output: 'fine' });
const bad = of<ProbeOutcome>({ result: 'failure', output: 'no' });
/** A port per type tells in a fake which probe it is. */
const PORTS = { startup: 1, readiness: 2, liveness: 3 } as const;
const typeOf = ({ probe }: ProbeTarget) =>
  (Object.keys(PORTS) as (keyof typeof PORTS)[]).find((type) => PORTS[type] === probe.tcpSocket?.port)!;
const probe = (type: keyof typeof PORTS, rest: Probe = {}): Probe => ({
  tcpSocket: { port: PORTS[type] },
  ...{ periodSeconds: 10, timeoutSeconds: 1, successThreshold: 1, failureThreshold: 3 },
  ...rest,
});
const probedPod = (
  probes: { startupProbe?: Probe; readinessProbe?: Probe; livenessProbe?: Probe },
  rest: Parameters<typeof pod>[1] = {},
): Pod => pod({ containers: [{ name: 'main', image: 'host', ...probes }] }, rest);

/** Each change of what the API would see of `main`: `<ms> ready=… started=… Ready=…`. */
const watchMain = ({ scheduler }: Stage, pods: () => readonly Pod[], untilMs: number): string[] => {
  const seen: string[] = [];
  let last = '';
  const look = (): void => {
    const status = pods()[0]?.status;
    const all = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
    const main: ContainerStatus | undefined = all.find(({ name }) => name === 'main');
    const ready = status?.conditions?.find(({ type }) => type === 'Ready')?.status;
    const text = main?.state?.running ? `started=${main.started} ready=${main.ready} Ready=${ready}` : 'not running';
    if (text !== last) seen.push(`${scheduler.now()} ${text}`);
    last = text;
    if (scheduler.now() < untilMs) scheduler.schedule(look, 1);
  };
  scheduler.schedule(look, 0);
  return seen;
};
const seconds = (lines: readonly string[]): readonly string[] =>
  lines.map((line) => line.replace(/^\d+/, (ms) => `${Math.round(Number(ms) / SECOND)}`));

describe('a readiness probe', () => {
  it('makes a pod ready within milliseconds of its start, and not ready with the failure that counts', () => {
    let seen: readonly string[] = [];
    const probes: number[] = [];
    onNode(
      {
        untilMs: 3 * MINUTE,
        probe: (_, atMs) => {
          probes.push(atMs);
          return atMs >= 60 * SECOND && atMs < 100 * SECOND ? bad : good;
        },
      },
      (stage) => {
        const agent = stage.start({ sources: { file: forever(probedPod({ readinessProbe: probe('readiness') })) } });
        seen = watchMain(stage, agent.pods, 3 * MINUTE);
      },
    );
    // Started at 8 ms; failures at 60, 70 and 80 s; the sync that follows a failure asks once more, and so do later ones.
    expect(seconds(seen)).toEqual([
      '0 not running',
      '0 started=true ready=true Ready=True',
      '80 started=true ready=false Ready=False',
      expect.stringMatching(/^1[01]\d started=true ready=true Ready=True$/),
    ]);
    expect(probes[0]).toBeLessThan(20);
  });

  it('is asked for the first time when the initial delay ends', () => {
    const probes: number[] = [];
    const { fake } = onNode(
      {
        untilMs: MINUTE,
        probe: (_, atMs) => {
          probes.push(atMs);
          return good;
        },
      },
      ({ start }) => {
        const readinessProbe = probe('readiness', { initialDelaySeconds: 7 });
        start({ sources: { file: forever(probedPod({ readinessProbe })) } });
      },
    );
    const startedAt = Number(fake.history.find((line) => line.includes('start main'))?.split(' ')[0]);
    expect(probes.slice(0, 3).map((at) => at - startedAt)).toEqual([7_000, 17_000, 27_000]);
  });

  it('goes on while the pod stops', () => {
    const probes: string[] = [];
    onNode(
      {
        behaviours: { main: [{ stopsAfterMs: 20 * SECOND }] },
        untilMs: 2 * MINUTE,
        probe: (target, atMs) => {
          probes.push(`${Math.floor(atMs / SECOND)} ${typeOf(target)}`);
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
    expect(probes.filter((line) => line.endsWith('liveness'))).toEqual(['0', '10', '20'].map((at) => `${at} liveness`));
    expect(probes.filter((line) => line.endsWith('readiness'))).toEqual(
      ['0', '10', '20', '30', '40'].map((at) => `${at} readiness`),
    );
  });
});

describe('a liveness probe', () => {
  it('restarts a container after so many failures, with its own grace period, and without making it wait', () => {
    const { fake, records, events } = onNode(
      {
        behaviours: { main: [{ stopsAfterMs: HOUR }, {}] },
        untilMs: 2 * MINUTE,
        probe: (_, atMs) => (atMs >= 30 * SECOND && atMs < 53 * SECOND ? bad : good),
      },
      ({ start }) => {
        const livenessProbe = probe('liveness', { terminationGracePeriodSeconds: 4 });
        start({ sources: { file: forever(probedPod({ livenessProbe })) } });
      },
    );
    expect(seconds(fake.history).filter((line) => line.includes('main'))).toEqual([
      '0 start main 0',
      '50 stop main 4',
      '54 exit main 137',
      '54 start main 1',
    ]);
    expect(events.filter((event) => event.endsWith(' Unhealthy'))).toHaveLength(3);
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
    expect(starts(fake.history, 'main')).toEqual([0]);
    expect(fake.history.some((line) => line.includes('stop main 30'))).toBe(true);
  });

  it('that finds nothing out restarts nothing', () => {
    const { fake, events } = onNode(
      { untilMs: 5 * MINUTE, probe: () => throwError(() => new Error('away')) },
      ({ start }) => {
        start({ sources: { file: forever(probedPod({ livenessProbe: probe('liveness') })) } });
      },
    );
    expect(starts(fake.history, 'main')).toEqual([0]);
    expect(events.filter((event) => event.endsWith(' Unhealthy')).length).toBeGreaterThan(25);
  });

  it('that always fails backs off like a container that always fails', () => {
    const { fake } = onNode({ untilMs: 90 * MINUTE, probe: () => bad }, ({ start }) => {
      start({ sources: { file: forever(probedPod({ livenessProbe: probe('liveness', { failureThreshold: 1 }) })) } });
    });
    const at = starts(fake.history, 'main');
    // The pass that kills starts anew at once, by the end before; so of two starts one waits, as with the kubelet.
    const gaps = at.slice(10).map((start, index) => start - at[index + 8]!);
    expect(gaps.length).toBeGreaterThan(20);
    expect(gaps.filter((gap) => gap < 300 || gap > 303)).toEqual([]);
    expect(fake.containers.size).toBeLessThan(5);
  });
});

describe('a startup probe', () => {
  it('holds the others back until it succeeds, then readiness is asked at once', () => {
    let seen: readonly string[] = [];
    const probes: string[] = [];
    onNode(
      {
        untilMs: 2 * MINUTE,
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
        seen = watchMain(stage, agent.pods, 2 * MINUTE);
      },
    );
    expect(seconds(probes.slice(0, 6))).toEqual([
      ...['0 startup', '10 startup', '20 startup', '30 startup'],
      ...['30 liveness', '30 readiness'],
    ]);
    const [started, , ready] = probes.slice(3, 6).map((line) => Number(line.split(' ')[0]));
    expect(ready! - started!).toBeLessThan(10);
    expect(probes.filter((line) => line.endsWith('startup'))).toHaveLength(4);
    expect(seconds(seen).filter((line) => !line.includes('ready=false Ready=False') || line.startsWith('0'))).toEqual([
      '0 not running',
      '0 started=false ready=false Ready=False',
      '30 started=true ready=true Ready=True',
    ]);
  });

  it('that keeps failing restarts the container, whose startup begins anew', () => {
    const { fake } = onNode(
      { untilMs: 2 * MINUTE, probe: (_, atMs) => (atMs < 30 * SECOND ? bad : good) },
      ({ start }) => {
        const startupProbe = probe('startup', { failureThreshold: 2, terminationGracePeriodSeconds: 3 });
        start({ sources: { file: forever(probedPod({ startupProbe })) } });
      },
    );
    expect(seconds(fake.history).filter((line) => line.includes('main'))).toEqual([
      '0 start main 0',
      '10 stop main 3',
      '10 exit main 143',
      '10 start main 1',
      '20 stop main 3',
      '20 exit main 143',
      '20 start main 2',
    ]);
  });

  it('of a sidecar lets the containers after it start as soon as it has succeeded', () => {
    const { fake } = onNode({ untilMs: MINUTE, probe: (_, atMs) => (atMs < 5 * SECOND ? bad : good) }, ({ start }) => {
      const startupProbe = probe('startup', { periodSeconds: 1, failureThreshold: 30 });
      const sidecar = { name: 'sidecar', image: 'host', restartPolicy: 'Always', startupProbe };
      start({ sources: { file: forever(pod({ initContainers: [sidecar] })) } });
    });
    expect(seconds(fake.history).filter((line) => line.includes('start '))).toEqual([
      '0 start sidecar 0',
      '5 start main 0',
    ]);
  });
});

describe('annotations', () => {
  const probesOf = (annotations: Record<string, string>): readonly number[] => {
    const probes: number[] = [];
    onNode(
      {
        untilMs: 20 * SECOND,
        probe: (_, atMs) => {
          probes.push(atMs);
          return atMs < 1_900 ? bad : good;
        },
      },
      ({ start }) => {
        const startupProbe = probe('startup', { failureThreshold: 100 });
        start({ sources: { file: forever(probedPod({ startupProbe }, { annotations })) } });
      },
    );
    return probes.map((at) => at - probes[0]!);
  };

  it('set a period in milliseconds', () => {
    expect(probesOf({ [PROBE_PERIOD_ANNOTATION]: 'main.startup=500' })).toEqual([0, 500, 1_000, 1_500, 2_000]);
  });

  it('set one until the first success', () => {
    expect(probesOf({ [PROBE_FAST_ANNOTATION]: 'main.startup=400' })).toEqual([0, 400, 800, 1_200, 1_600, 2_000]);
  });

  it('that cannot be used are told once, and have no effect', () => {
    const { events } = onNode({ untilMs: 10 * MINUTE, probe: () => good }, ({ start }) => {
      const annotations = { [PROBE_PERIOD_ANNOTATION]: 'main.readiness=5' };
      start({ sources: { file: forever(probedPod({ readinessProbe: probe('readiness') }, { annotations })) } });
    });
    expect(events.filter((event) => event.endsWith('InvalidProbePeriod'))).toHaveLength(1);
  });
});

describe('an agent that takes over', () => {
  const takeOver = (
    probeRecords: ProbeRecords,
    answer: (atMs: number, target: ProbeTarget) => typeof good,
    {
      random,
      probes = { readinessProbe: probe('readiness') },
    }: { random?: () => number; probes?: Parameters<typeof probedPod>[0] } = {},
  ) => {
    let seen: readonly string[] = [];
    const asked: string[] = [];
    const stage = onNode(
      {
        untilMs: 3 * MINUTE,
        probeRecords,
        ...(random && { random }),
        probe: (target, atMs) => {
          asked.push(`${atMs} ${typeOf(target)}`);
          return answer(atMs, target);
        },
      },
      (stage) => {
        const first = stage.start({ sources: { file: forever(probedPod(probes)) } });
        stage.scheduler.schedule(() => first.subscription.unsubscribe(), 65 * SECOND);
        stage.scheduler.schedule(() => {
          const second = stage.start({ sources: { file: forever(probedPod(probes)) } });
          seen = watchMain(stage, second.pods, 3 * MINUTE);
        }, 70 * SECOND);
      },
    );
    return { seen: seconds(seen), asked: seconds(asked), stage };
  };

  it('finds a container ready that was, and spreads its first probes over a period', () => {
    const { seen, asked } = takeOver(memoryProbeRecords(), () => good, { random: () => 0.6 });
    expect(seen.filter((line) => line.includes('started'))).toEqual(['70 started=true ready=true Ready=True']);
    expect(asked.filter((line) => Number(line.split(' ')[0]) >= 70).slice(0, 2)).toEqual([
      '76 readiness',
      '86 readiness',
    ]);
  });

  it('finds one not ready that was not', () => {
    const { seen } = takeOver(memoryProbeRecords(), (at) => (at < 80 * SECOND ? bad : good), { random: () => 0.6 });
    expect(seen.find((line) => line.includes('started'))).toBe('70 started=true ready=false Ready=False');
    expect(seen.at(-1)).toContain('Ready=True');
  });

  it('does not probe the startup again of what had started', () => {
    const probes = { startupProbe: probe('startup'), livenessProbe: probe('liveness') };
    const { seen, asked, stage } = takeOver(memoryProbeRecords(), () => good, { probes });
    expect(asked.filter((line) => line.endsWith('startup'))).toEqual(['0 startup']);
    expect(seen.filter((line) => line.includes('started'))).toEqual(['70 started=true ready=true Ready=True']);
    expect(starts(stage.fake.history, 'main')).toEqual([0]);
  });

  it('asks again where nothing was left, and runs all the same when what was left cannot be read', () => {
    const unreadable: ProbeRecords = { ...memoryProbeRecords(), read: () => throwError(() => new Error('garbage')) };
    const { seen } = takeOver(unreadable, () => good);
    expect(seen.at(-1)).toBe('70 started=true ready=true Ready=True');
  });

  it('leaves nothing behind of pods that are gone', () => {
    const kept: ProbeRecord[][] = [];
    onNode({ untilMs: 2 * MINUTE, probeRecords: memoryProbeRecords(kept), probe: () => good }, ({ start }) => {
      const web = probedPod({ readinessProbe: probe('readiness') });
      start({ sources: { file: sets([0, [web]], [30 * SECOND, []]) } });
    });
    expect(kept.map((records) => records.length).slice(-2)).toEqual([1, 0]);
  });
});

describe('probes', () => {
  it('that are swapped for silence are not made, and containers are as if they had none', () => {
    let seen: readonly string[] = [];
    const probes: number[] = [];
    onNode({ untilMs: MINUTE, probe: (_, atMs) => (probes.push(atMs), bad) }, (stage) => {
      const all = { readinessProbe: probe('readiness'), startupProbe: probe('startup') };
      const agent = stage.start({
        sources: { file: forever(probedPod(all)) },
        swap: (inputs) => ({
          ...inputs,
          probe$: timer(2 * MINUTE, stage.scheduler).pipe(map(() => undefined as never)),
        }),
      });
      seen = watchMain(stage, agent.pods, MINUTE);
    });
    expect(probes).toEqual([]);
    expect(seconds(seen)).toEqual(['0 not running', '0 started=true ready=true Ready=True']);
  });

  it('of twenty pods for an hour come as often as they should, one at a time for each container', () => {
    const TWENTY = 20;
    const pods = Array.from({ length: TWENTY }, (_, index) =>
      probedPod(
        { readinessProbe: probe('readiness'), livenessProbe: probe('liveness', { periodSeconds: 30 }) },
        { uid: `uid-${index}`, name: `web-${index}` },
      ),
    );
    const counts = { readiness: 0, liveness: 0, startup: 0 };
    const busy = new Set<string>();
    let overlaps = 0;
    const { fake } = onNode(
      {
        untilMs: HOUR,
        probe: (target) => {
          const key = `${target.containerId} ${typeOf(target)}`;
          if (busy.has(key)) overlaps += 1;
          busy.add(key);
          counts[typeOf(target)] += 1;
          return timer(300).pipe(
            map(() => {
              busy.delete(key);
              return { result: 'success', output: '' } as const;
            }),
          );
        },
      },
      ({ start }) => {
        start({ sources: { file: forever(...pods) } });
      },
    );
    expect(fake.history.filter((line) => line.includes(' start '))).toHaveLength(TWENTY);
    expect(overlaps).toBe(0);
    expect(counts.readiness / TWENTY).toBeCloseTo(360, -1);
    expect(counts.liveness / TWENTY).toBeCloseTo(120, -1);
  });
});
