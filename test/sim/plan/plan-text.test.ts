import { describe, expect, it } from 'vitest';
import type { InstancePlan, PodPlan } from '../../../src/tools/sim/plan/plan.js';
import { planHeading, podLines } from '../../../src/tools/sim/plan/plan-text.js';

const POD: PodPlan = {
  ...{ name: 'web', namespace: 'default', sandboxes: [], phases: [], ready: [], containers: [], events: [] },
};
const container = {
  name: 'app',
  kind: 'regular',
  image: 'i:1',
  pulls: [],
  ready: [],
  probes: [],
  backOffs: [],
} as const;
const lines = (pod: Partial<PodPlan>) => podLines({ ...POD, ...pod }).map((line) => line.trimEnd());

describe('a plan as text', () => {
  it('begins with what was assumed', () => {
    const plan = { version: 1, seed: '7', forMs: 5_400_000, endMs: 5_400_000 } as const;
    expect(planHeading({ ...plan, pods: [POD, POD] })).toBe(
      '2 pods for 1h30m0s, then deleted; jitter is drawn by seed 7',
    );
  });

  it('says of a pod that never gets anywhere just that', () => {
    expect(lines({ containers: [{ ...container, instances: [] }] })).toEqual([
      'default/web',
      ...['  ready    never', '  phase    none', '  sandbox  none', '  app      regular, never starts'],
    ]);
  });

  it('says why a pod was rejected, and no more', () => {
    expect(lines({ rejected: { atMs: 3, reason: 'OutOfcpu', message: 'too much' } })).toEqual([
      ...['default/web', '  rejected at 0s: OutOfcpu: too much'],
    ]);
  });

  it.each([
    ['what is certain', { atMs: 1040, shortestMs: 1040, longestMs: 1040 }, '1s'],
    ['how much is jitter', { atMs: 61_000, shortestMs: 57_000, longestMs: 62_000 }, '1m1s, 57s to 1m2s by jitter'],
    ['a draw beyond both ends', { atMs: 63_000, shortestMs: 57_000, longestMs: 62_000 }, '1m3s, 57s to 1m3s by jitter'],
  ])('says of the first Ready %s', (_what, firstReady, text) => {
    expect(lines({ firstReady })[1]).toBe(`  ready    ${text}`);
  });

  it('leaves out when Ready is lost because of the deletion', () => {
    const drain = { atMs: 60_000, graceSeconds: 30, steps: [] };
    const firstReady = { atMs: 1000, shortestMs: 1000, longestMs: 1000 };
    const ready = [
      { fromMs: 1000, toMs: 20_000 },
      { fromMs: 30_000, toMs: 61_000 },
    ];
    expect(lines({ firstReady, ready, drain })[1]).toBe('  ready    1s; lost at 20s');
  });

  it('prints the first and the last ones of many restarts', () => {
    const instances = Array.from({ length: 20 }, (_, attempt): InstancePlan => {
      const startedMs = attempt * 10_000;
      const waited = attempt === 0 ? {} : { waitedMs: 9000 };
      return { attempt, startedMs, endedMs: startedMs + 1000, exitCode: 1, endedBy: 'exit', ...waited };
    });
    const printed = lines({ containers: [{ ...container, instances }] });
    const from = printed.indexOf('  restarts of app');
    expect(printed.slice(from).map((line) => line.split('  ').filter(Boolean)[0]?.trim())).toEqual([
      ...['restarts of app', '#', '1', '2', '3', '4', '5', '6', '7', '8', '9', '10', '…', '18', '19'],
    ]);
    expect(printed.at(-3)).toBe('    …   7 more');
    expect(printed.at(-1)).toBe('    19  3m10s   9s      none      exit code 1 at 3m1s');
  });

  it('says the order of the end', () => {
    const drain = {
      atMs: 60_000,
      graceSeconds: 10,
      stoppedAfterMs: 10_000,
      steps: [
        { atMs: 60_000, container: 'app', what: 'pre-stop' },
        { atMs: 63_000, container: 'app', what: 'stop-signal', graceSeconds: 7 },
        { atMs: 70_000, container: 'app', what: 'killed', exitCode: 137 },
      ],
    } as const;
    expect(lines({ drain }).slice(-4)).toEqual([
      '  drain from 1m0s takes 10s of 10s grace',
      '    +0s   app  preStop hook begins',
      '    +3s   app  stop signal, 7s left',
      '    +10s  app  killed: it had not stopped (137)',
    ]);
    expect(lines({ drain: { atMs: 0, graceSeconds: 30, steps: [] } }).at(-1)).toBe('  drain from 0s does not stop');
  });
});
