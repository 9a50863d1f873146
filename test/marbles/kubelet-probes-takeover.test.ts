import { map, throwError, timer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { ProbeRecord } from '../../src/model/probes/probe-record.js';
import type { ProbeTarget } from '../../src/streams/ports/probe-handlers.js';
import type { ProbeRecords } from '../../src/streams/ports/probe-records.js';
import { memoryProbeRecords } from '../support/memory-probe-records.js';
import { expectLanes, linesOf } from './lanes.js';
import { bad, good, probe, probedPod, SHOWN, typeOf, watchMain } from './probed-pod.js';
import { forever, MINUTE, onNode, SECOND, sets } from './virtual-node.js';

const SECONDS = { everyMs: SECOND };

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
        untilMs: 110 * SECOND,
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
          seen = watchMain(stage, second.pods, 110 * SECOND);
        }, 70 * SECOND);
      },
    );
    return { seen, asked, stage };
  };

  it('finds a container ready that was, and spreads its first probes over a period', () => {
    const { seen, asked } = takeOver(memoryProbeRecords(), () => good, { random: () => 0.6 });
    // The first agent ends at 65 s, the second one starts at 70 s.
    expectLanes([...asked, ...seen], { everyMs: 2 * SECOND }).toBe(
      'p----p----p----p----p----p----p----r--p----p----p----p',
      { ...SHOWN, p: 'readiness' },
    );
  });

  it('finds one not ready that was not', () => {
    const { seen, asked } = takeOver(memoryProbeRecords(), (at) => (at < 80 * SECOND ? bad : good), {
      random: () => 0.6,
    });
    expectLanes([...asked, ...seen], { everyMs: 2 * SECOND }).toBe(
      'p----p----p----p----p----p----p----u--p----(pr)----p----p',
      { ...SHOWN, p: 'readiness' },
    );
  });

  it('does not probe the startup again of what had started', () => {
    const probes = { startupProbe: probe('startup'), livenessProbe: probe('liveness') };
    const { seen, asked, stage } = takeOver(memoryProbeRecords(), () => good, { probes });
    expectLanes([...linesOf(stage.fake.history, 'start main'), ...asked], { everyMs: 10 * SECOND }).toBe({
      'start main': '0----------',
      startup: '     s----------',
      liveness: '    lllllllllll',
    });
    expectLanes(seen, SECONDS).toBe('70s r', SHOWN);
  });

  it('asks again where nothing was left, and runs all the same when what was left cannot be read', () => {
    const unreadable: ProbeRecords = { ...memoryProbeRecords(), read: () => throwError(() => new Error('garbage')) };
    const { seen, asked } = takeOver(unreadable, () => good);
    expectLanes([...asked, ...seen], { everyMs: 2 * SECOND }).toBe(
      'p----p----p----p----p----p----p----(pr)----p----p----p',
      { ...SHOWN, p: 'readiness' },
    );
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
    expectLanes(seen, SECONDS).toBe('r', SHOWN);
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
        untilMs: 60 * MINUTE,
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
    expect(counts).toEqual({ readiness: TWENTY * 360, liveness: TWENTY * 120, startup: 0 });
  });
});
