import { ignoreElements, interval, merge } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { kubelet } from '../../../src/kubelet.js';
import { generateHistory } from '../../../src/tools/sim/histories/generate-history.js';
import { describeHistory } from '../../../src/tools/sim/histories/describe-history.js';
import { type History, HISTORY_START_MS } from '../../../src/tools/sim/histories/history.js';
import { investigateFailure } from '../../../src/tools/sim/histories/investigate-failure.js';
import { readHistory } from '../../../src/tools/sim/histories/read-history.js';
import { runHistory } from '../../../src/tools/sim/histories/run-history.js';
import type { Invariant } from '../../../src/tools/sim/invariants/monitor.js';
import type { WorldEvent } from '../../../src/tools/sim/world/world-event.js';
import { failureText, Tally } from '../../../scripts/simulate/report.js';

/** What happens in a run, as text. */
const tale = (history: History): readonly string[] => {
  const lines: string[] = [];
  const plain = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);
  runHistory(history, { tell: (event) => lines.push(JSON.stringify(event, plain)) });
  return lines;
};

/** A small history with everything that a test wants to happen to it. */
const quiet = (rest: Partial<History>): History => {
  const { pods, ...history } = generateHistory(5);
  const [plan] = pods;
  const first = { ...plan!, changes: [{ ...plan!.changes[0]!, atMs: 0 }] };
  return { ...history, pods: [first], behaviours: {}, faults: [], quietFromMs: 60_000, endMs: 90_000, ...rest };
};

const happened = (history: History, kind: WorldEvent['kind']): readonly number[] => {
  const times: number[] = [];
  runHistory(history, {
    invariants: [],
    tell: (event) => event.kind === kind && times.push(event.at - Date.UTC(2026, 0, 1)),
  });
  return times;
};

/** No running container may be stopped. */
const nothingStops: Invariant = {
  name: 'nothing-stops',
  rule: 'No container is ever stopped.',
  source: 'this test',
  watch: () => ({
    on: (event) =>
      event.kind === 'container-stopping'
        ? [{ uid: event.uid, container: event.container, message: 'is stopped (expected it to run on)' }]
        : undefined,
  }),
};
const stopping = Array.from({ length: 100 }, (_, seed) => seed).find(
  (seed) => runHistory(generateHistory(seed), { invariants: [nothingStops] }).violations.length > 0,
)!;

describe('running a history', () => {
  it('comes out the same every time', () => {
    for (const seed of [1, 2, 3]) expect(tale(generateHistory(seed))).toEqual(tale(generateHistory(seed)));
  });

  it('stops at the first instant at which something is wrong', () => {
    const { violations, stats } = runHistory(generateHistory(stopping), { invariants: [nothingStops] });
    expect(violations[0]!.invariant).toBe('nothing-stops');
    expect(violations[0]!.at).toBe(Date.UTC(2026, 0, 1) + stats.virtualMs);
  });

  it('kills the agent when the history says so, and starts it again', () => {
    const faults: History['faults'] = [{ kind: 'agent-killed', atMs: 10_000, downMs: 500 }];
    expect(happened(quiet({ faults }), 'agent-killed')).toEqual([10_000]);
    expect(happened(quiet({ faults }), 'agent-started')).toEqual([0, 10_500]);
  });

  it.each(['asked', 'answered'] as const)('kills the agent at a step that it has %s for, once', (when) => {
    const faults: History['faults'] = [{ kind: 'agent-killed', atStep: 20, when, downMs: 100 }];
    expect(happened(quiet({ faults }), 'agent-killed').length).toBe(1);
    expect(happened(quiet({ faults }), 'agent-started').length).toBe(2);
  });

  it('turns the machine off, with everything that runs, and boots it', () => {
    const history = quiet({
      faults: [{ kind: 'power-lost', atMs: 30_000, downMs: 7_000, forgetsMs: 0, clockByMs: -60_000 }],
    });
    expect(happened(history, 'power-lost')).toEqual([30_000]);
    expect(happened(history, 'agent-killed')).toEqual([30_000]);
    expect(happened(history, 'container-exited')).toContain(30_000);
    expect(happened(history, 'sandbox-stopped')).toContain(30_000);
    expect(happened(history, 'booted')).toEqual([37_000]);
    expect(happened(history, 'clock-set')).toEqual([37_000]);
    expect(happened(history, 'agent-started')).toEqual([0, 37_000]);
    expect(runHistory(history).violations).toEqual([]);
  });

  it.each(['before', 'unsynced'] as const)('turns it off at a write of the agent: %s', (when) => {
    const faults: History['faults'] = [{ kind: 'power-lost', atWrite: 5, when, downMs: 1_000, forgetsMs: 0 }];
    const [at] = happened(quiet({ faults }), 'power-lost');
    expect(at).toBeGreaterThan(0);
    expect(happened(quiet({ faults }), 'power-lost')).toEqual([at]);
    expect(happened(quiet({ faults }), 'agent-started')).toEqual([0, at! + 1_000]);
    expect(runHistory(quiet({ faults })).violations).toEqual([]);
  });

  it('does not turn it off at a write in the quiet at the end', () => {
    const faults: History['faults'] = [
      { kind: 'power-lost', atWrite: 5, when: 'before', downMs: 60_000, forgetsMs: 0 },
    ];
    expect(happened(quiet({ faults }), 'power-lost')).toEqual([]);
  });

  it('counts the time of the agent from the boot', () => {
    const times: number[] = [];
    const makeKubelet: typeof kubelet = (ports, options) => {
      times.push(ports.scheduler.now());
      return kubelet(ports, options);
    };
    const faults: History['faults'] = [{ kind: 'power-lost', atMs: 30_000, downMs: 7_000, forgetsMs: 0 }];
    runHistory(quiet({ faults }), { makeKubelet });
    expect(times).toEqual([HISTORY_START_MS, HISTORY_START_MS]);
  });

  it.each([
    ['comes back before the boot', 40_000],
    ['comes back after the boot', 30_500],
  ])('starts one agent after a boot, if an agent that was killed %s', (_, atMs) => {
    const faults: History['faults'] = [
      { kind: 'agent-killed', atMs: 30_000, downMs: 12_000 },
      { kind: 'power-lost', atMs, downMs: 5_000, forgetsMs: 0 },
    ];
    expect(happened(quiet({ faults }), 'agent-started')).toEqual([0, atMs + 5_000]);
  });

  it('restarts the runtime, and sets the clock', () => {
    const faults: History['faults'] = [
      { kind: 'runtime-restarts', atMs: 20_000, downMs: 3_000 },
      { kind: 'clock-jumps', atMs: 30_000, byMs: -5_000 },
    ];
    expect(happened(quiet({ faults }), 'runtime-stopped')).toEqual([20_000]);
    expect(happened(quiet({ faults }), 'runtime-started')).toEqual([23_000]);
    const clocks: number[] = [];
    const tell = (event: WorldEvent) => event.kind === 'journal' && clocks.push(event.entry.at - event.at);
    runHistory(quiet({ faults }), { invariants: [], tell });
    expect(Math.max(...clocks)).toBe(0);
    expect(Math.round(Math.min(...clocks) / 1000)).toBe(-5);
  });

  it('ends containers and sandboxes from outside', () => {
    const faults: History['faults'] = [{ kind: 'container-dies', atMs: 30_000, which: 3 }];
    expect(happened(quiet({ faults }), 'container-exited')).toContain(30_000);
    const ofSandbox: History['faults'] = [{ kind: 'sandbox-dies', atMs: 30_000, which: 3 }];
    expect(happened(quiet({ faults: ofSandbox }), 'sandbox-stopped')).toContain(30_000);
  });

  it('lets a source fail and say the same again without a change to its pods', () => {
    const { source } = quiet({}).pods[0]!;
    const faults: History['faults'] = [
      { kind: 'source-breaks', source, atMs: 10_000 },
      { kind: 'source-repeats', source, atMs: 20_000 },
    ];
    const { violations } = runHistory(quiet({ faults }));
    expect(violations).toEqual([]);
    expect(happened(quiet({ faults }), 'container-created')).toEqual(happened(quiet({}), 'container-created'));
  });

  it('says when the agent throws', () => {
    const makeKubelet = () => {
      throw new Error('out of order');
    };
    const { violations } = runHistory(quiet({}), { makeKubelet });
    expect(violations[0]).toMatchObject({ invariant: 'no-crash' });
    expect(violations[0]!.message).toContain('out of order');
  });

  it('ends when the agent works without an end', () => {
    const makeKubelet: typeof kubelet = (ports, options) => {
      const agent = kubelet(ports, options);
      return { ...agent, outcome$: merge(agent.outcome$, interval(1, ports.scheduler).pipe(ignoreElements())) };
    };
    const { violations, stats } = runHistory(quiet({}), { makeKubelet });
    expect(violations).toMatchObject([{ invariant: 'no-endless-work' }]);
    expect(violations[0]!.message).toMatch(/has taken 90001 steps within \d+ virtual seconds/);
    expect(stats.virtualMs).toBeLessThan(90_000);
  });
});

describe('a failure', () => {
  const history = generateHistory(stopping);
  const failure = investigateFailure(history, { invariants: [nothingStops], maxRuns: 150 })!;

  it('is reported with the shortest history, what happened last, why, and how to do it again', () => {
    const text = failureText({ what: `seed ${stopping}`, failure, repeat: `npm run simulate -- --seed ${stopping}` });
    expect(text).toContain(`FAILED: seed ${stopping} violates nothing-stops`);
    expect(text).toContain(`container ${failure.violation.container}: is stopped (expected it to run on)`);
    expect(text).toContain(`repeat with: npm run simulate -- --seed ${stopping}`);
    expect(text).toContain('the shortest history that still fails:');
    expect(text).toMatch(/what happened last to the pod:\n(.*\n)+.*container-stopping/);
    expect(text).toMatch(/why, as the journal has it:\n(.*\n)+.*because:/);
    expect(describeHistory(failure.history).length).toBeLessThan(describeHistory(history).length);
    expect(failure.history.pods.length).toBe(1);
  });

  it('can be done again from the file that holds its history', () => {
    const read = readHistory(JSON.stringify(failure.history));
    expect(read).toEqual(failure.history);
    const { violations } = runHistory(failure.history, { invariants: [nothingStops] });
    expect(violations[0]).toEqual(failure.violation);
  });

  it('is none where nothing is violated', () => {
    expect(investigateFailure(quiet({}), { invariants: [] })).toBeUndefined();
  });
});

it.each([
  ['{', 'is no JSON'],
  ['7', 'expected an object'],
  ['{"pods": 1}', 'field pods: expected a list'],
  ['{"pods": [], "faults": [], "seed": "x"}', 'field seed: expected a number'],
  ['{"pods": [], "faults": [], "seed": 1, "quietFromMs": 1, "endMs": 2}', 'field node: expected an object'],
])('a file that holds %s has no history', (text, problem) => {
  expect(readHistory(text)).toContain(problem);
});

it('adds up what came of the seeds', () => {
  const tally = new Tally();
  const stats = { virtualMs: 1_800_000, events: 10, calls: 4, lives: 2, podMs: 7_200_000 };
  tally.add({ seed: 1, stats, failure: undefined });
  tally.add({
    seed: 2,
    stats,
    failure: investigateFailure(generateHistory(stopping), { invariants: [nothingStops], maxRuns: 1 }),
  });
  expect(tally.progress(1000)).toBe('1 s: 2 seeds, 1 failed, 2.0 seeds/s, 4.0 pod-hours/s');
  expect(tally.total(2000)).toBe(
    '2 seeds, 1 failed, in 2.0 s (1.0 seeds/s, 2.0 pod-hours/s): 1.0 hours of virtual time, 4 lives of the agent, 8 calls, 20 events',
  );
});
