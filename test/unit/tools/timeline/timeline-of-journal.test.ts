import { describe, expect, it } from 'vitest';
import type { JournalEvent } from '../../../../src/model/journal/journal.js';
import type { Lane, Mark, Timeline } from '../../../../src/tools/timeline/lanes.js';
import { type JournalOfPods, timelineOfJournal } from '../../../../src/tools/timeline/timeline-of-journal.js';
import { agentStarted, crashLoop, journal, type Line, NOON, web } from './crash-loop.js';

const app = { pod: web, container: 'app' };
const pod = { pod: web };

const draw = (lines: readonly Line[], rest: Omit<Partial<JournalOfPods>, 'entries'> = {}): Timeline =>
  timelineOfJournal({ entries: journal(...lines), ...rest });

/** `look begin-end label` in milliseconds after noon; `!` for what matters and its severity, `~` for routine, `…` for open. */
const told = ({ at, until, look, label, severity, routine, isOpen }: Mark): string => {
  const end = until === undefined ? '' : `-${until - NOON}${isOpen ? '…' : ''}`;
  const weight = routine === undefined ? (severity === 'quiet' ? '' : ` !${severity}`) : ` ~${routine}`;
  return `${look} ${at - NOON}${end} ${label}${weight}`;
};
const laneOf = ({ pods }: Timeline, name: string): Lane | undefined =>
  pods.flatMap(({ lanes }) => lanes).find((lane) => lane.name === name);
const tell = (timeline: Timeline, name: string): readonly string[] => laneOf(timeline, name)?.marks.map(told) ?? [];

const call = (name: string, durationMs: number, error?: string): JournalEvent => ({
  ...{ kind: 'call', call: name, durationMs },
  ...(error === undefined ? {} : { error }),
});
const sync: JournalEvent = { kind: 'sync-started', work: 'sync', trigger: 'sync' };
const ended: JournalEvent = { kind: 'sync-ended', work: 'sync', next: { kind: 'resync', dueAt: NOON + 60_000 } };
const died = (exitCode: number): JournalEvent => ({
  ...{ kind: 'runtime-changed', change: 'ContainerDied', containerId: 'c', exitCode },
});
const probe = (result: 'success' | 'failure'): JournalEvent => ({ kind: 'probe', probe: 'readiness', result });
const unhealthy = (message: string): JournalEvent => ({ kind: 'event', type: 'Warning', reason: 'Unhealthy', message });

describe('the lanes of a pod', () => {
  const timeline = timelineOfJournal({ entries: crashLoop, until: NOON + 60_000 });

  it('stand in one order, and only where there is something on them', () => {
    expect(timeline.pods[0]?.lanes.map(({ name }) => name)).toEqual(['config', 'worker', 'app', 'status', 'calls']);
  });

  it('show a container as it waits, is created, runs and ends', () => {
    expect(tell(timeline, 'app').slice(0, 8)).toEqual([
      'waiting 600-620 waiting',
      'created 620-700 created',
      'start 700 start !good',
      'running 700-1700 running',
      'exit-bad 1700 exit 1 !error',
      'waiting 1700-12020 waiting',
      'created 12020-12100 created',
      'start 12100 start !good',
    ]);
    expect(tell(timeline, 'app').at(-1)).toBe('waiting 36100-60000… waiting');
  });

  it('show what the worker did: passes, back-offs, and what led to nothing as routine', () => {
    expect(tell(timeline, 'worker').slice(0, 3)).toEqual([
      'sync 600-710 sync',
      'sync 1710-1720 sync',
      'back-off 1715-11700 back-off 10s !warning',
    ]);
    expect(tell(timeline, 'worker').slice(-2)).toEqual([
      'sync 55000-55010 sync ~idle sync',
      'tick 55000 timer ~timer firing',
    ]);
  });

  it('show phases and calls as long as they took', () => {
    expect(tell(timeline, 'status')).toEqual(['phase 510-800 Pending !note', 'phase 800-60000… Running !good']);
    expect(tell(timeline, 'calls').slice(0, 2)).toEqual([
      'call 605-620 CreateContainer',
      'call 630-700 StartContainer',
    ]);
  });

  it('name the entries that they stem from, with what led to them', () => {
    const ids = new Set(timeline.entries.map(({ id }) => id));
    for (const { entry, endedBy, causes } of timeline.pods[0]!.lanes.flatMap(({ marks }) => marks)) {
      for (const id of [entry, ...(endedBy === undefined ? [] : [endedBy]), ...causes]) expect(ids).toContain(id);
    }
    expect(laneOf(timeline, 'worker')?.marks[2]).toMatchObject({ entry: 'e10', causes: ['e9'] });
  });
});

describe('a sync of the worker', () => {
  const pass = (...inside: readonly Line[]): readonly string[] =>
    tell(draw([[0, sync, pod], ...inside, [50, ended, { ...pod, causes: ['e1'] }]]), 'worker');
  const because = { ...pod, causes: ['e1'] };

  it.each<[string, readonly Line[], string]>([
    ['that did nothing is routine', [], 'sync 0-50 sync ~idle sync'],
    [
      'that decided and did nothing is routine',
      [[1, { kind: 'actions', actions: [] }, because]],
      'sync 0-50 sync ~idle sync',
    ],
    ['that called something is none', [[2, call('StopContainer', 1), { ...app, causes: ['e1'] }]], 'sync 0-50 sync'],
    ['that changed the phase is none', [[2, { kind: 'phase', to: 'Running' }, because]], 'sync 0-50 sync'],
  ])('%s', (_, inside, expected) => expect(pass(...inside)[0]).toBe(expected));

  it('that failed for no known reason is an error, with a known one it is not', () => {
    const failed: JournalEvent = { ...ended, error: 'oh' };
    const bare = draw([
      [0, sync, pod],
      [50, failed, { ...pod, causes: ['e1'] }],
    ]);
    expect(tell(bare, 'worker')).toEqual(['sync 0-50 sync !error']);
    const reason: Line = [2, call('StartContainer', 1, 'oh'), { ...app, causes: ['e1'] }];
    const told = draw([[0, sync, pod], reason, [50, failed, { ...pod, causes: ['e1'] }]]);
    expect(tell(told, 'worker')).toEqual(['sync 0-50 sync']);
    expect(tell(told, 'calls')).toEqual(['call 1-2 StartContainer !error']);
  });

  it('that has not ended goes on, but not beyond its agent', () => {
    expect(tell(draw([[0, sync, pod]], { until: NOON + 90 }), 'worker')).toEqual(['sync 0-90… sync']);
    const lines: readonly Line[] = [
      [0, agentStarted],
      [10, sync, pod],
      [40, { kind: 'work-due' }, pod],
      [5000, agentStarted],
      [5010, ended, pod],
    ];
    expect(tell(draw(lines), 'worker')[0]).toBe('sync 10-40 sync');
  });

  it('that only repeats a back-off is routine, as are its back-off and its event', () => {
    const backOff: JournalEvent = {
      ...{ kind: 'back-off', subject: 'restart', exitCode: 1, delayMs: 10_000, until: NOON + 10_000 },
      ...{ step: 1, steps: 6, resetAfterMs: 600_000 },
    };
    const event: JournalEvent = { kind: 'event', type: 'Warning', reason: 'BackOff', message: 'again' };
    const failing = (at: number, first: number): readonly Line[] => [
      [at, sync, pod],
      [at + 1, backOff, { ...app, causes: [`e${first}`] }],
      [at + 1, event, { ...app, causes: [`e${first}`] }],
      [at + 2, { ...ended, error: 'CrashLoopBackOff' }, { ...pod, causes: [`e${first}`] }],
    ];
    const timeline = draw([...failing(0, 1), ...failing(5000, 5)]);
    expect(tell(timeline, 'worker')).toEqual([
      'sync 0-2 sync',
      'back-off 1-5002… back-off 10s !warning',
      'sync 5000-5002 sync ~back-off sync',
      'tick 5001 back-off ~repeated back-off',
    ]);
    expect(tell(timeline, 'events')).toEqual(['event 1 BackOff', 'event 5001 BackOff ~repeated event']);
  });
});

describe('what is wanted and what becomes of it', () => {
  it('shows changes, problems of the place and requests to stop', () => {
    const lines: readonly Line[] = [
      [0, { kind: 'config', source: 'file', op: 'ADD' }, pod],
      [1, { kind: 'config', source: 'api', op: 'RECONCILE' }, pod],
      [2, { kind: 'config-problem', source: 'file', problem: 'bad yaml', keeps: [web] }],
      [3, { kind: 'kill-requested', reason: 'evicted' }, pod],
      [4, { kind: 'admission-rejected', reason: 'OutOfcpu', message: 'no' }, pod],
    ];
    expect(tell(draw(lines), 'config')).toEqual([
      'change 0 ADD !note',
      'tick 1 RECONCILE ~reconcile',
      'failure 2 problem !error',
      'kill 3 evicted !warning',
      'failure 4 OutOfcpu !error',
    ]);
  });

  it('shows the wait of a pod for others that make room, which ends with its run', () => {
    const lines: readonly Line[] = [
      [0, { kind: 'config', source: 'file', op: 'ADD' }, pod],
      [0, { kind: 'room-awaited', pods: [{ ...web, name: 'other' }] }, { ...pod, causes: ['e1'] }],
      [0, { kind: 'sync-started', work: 'sync', trigger: 'config' }, { ...pod, causes: ['e1'] }],
      [9, { kind: 'sync-ended', work: 'sync', next: { kind: 'now' } }, { ...pod, causes: ['e3'] }],
    ];
    expect(tell(draw(lines), 'worker')).toEqual(['sync 0-9 sync ~idle sync', 'back-off 0-9 waits for room !warning']);
  });

  it('shows stopping, cleaning up and the end of it', () => {
    const lines: readonly Line[] = [
      [0, call('StartContainer', 1), app],
      [10, { kind: 'sync-started', work: 'terminating', trigger: 'kill', graceSeconds: 30 }, pod],
      [40, call('StopContainer', 25), { ...app, causes: ['e2'] }],
      [41, died(0), app],
      [42, { kind: 'sync-ended', work: 'terminating', next: { kind: 'now' } }, { ...pod, causes: ['e2'] }],
      [43, { kind: 'sync-started', work: 'terminated', trigger: 'kill' }, pod],
      [
        44,
        { kind: 'sync-ended', work: 'terminated', next: { kind: 'nothing', reason: 'gone' } },
        { ...pod, causes: ['e6'] },
      ],
      [45, { kind: 'forgotten' }, pod],
    ];
    const timeline = draw(lines, { until: NOON + 100 });
    expect(tell(timeline, 'worker')).toEqual([
      'stopping 10-42 stopping !note',
      'cleanup 43-44 cleanup',
      'change 45 forgotten !note',
    ]);
    expect(tell(timeline, 'app')).toEqual([
      'start 0 start !good',
      'running 0-41 running',
      'kill 15 stop !warning',
      'exit-good 41 exit 0 !note',
    ]);
  });

  it('does not let a container that has done its work wait', () => {
    const lines: readonly Line[] = [
      [0, call('StartContainer', 1), app],
      [5, died(0), app],
      [6, { kind: 'phase', to: 'Succeeded' }, pod],
    ];
    expect(tell(draw(lines, { until: NOON + 100 }), 'app').at(-1)).toBe('exit-good 5 exit 0 !note');
  });
});

describe('a probe', () => {
  it('shows verdicts as spans that end with the container, and the first of equal failures', () => {
    const lines: readonly Line[] = [
      [0, probe('success'), app],
      [10, unhealthy('Readiness probe failed: no'), app],
      [12, unhealthy('Readiness probe failed: no'), app],
      [14, probe('failure'), app],
      [20, died(1), app],
      [30, probe('success'), app],
    ];
    expect(tell(draw(lines, { until: NOON + 50 }), 'app readiness')).toEqual([
      'passing 0-14 passing',
      'verdict-good 0 passing !good',
      'failure 10 failure !warning',
      'failure 12 failure ~repeated failure',
      'failing 14-20 failing',
      'verdict-bad 14 failing !error',
      'passing 30-50… passing',
      'verdict-good 30 passing !good',
    ]);
    expect(laneOf(draw(lines), 'events')).toBeUndefined();
  });

  it('shows every result of a recording, and a change of mind as news', () => {
    const result = (at: number, outcome: 'success' | 'failure') =>
      ({
        kind: 'probe-result',
        id: `probe-${at}`,
        pod: web,
        container: 'app',
        probe: 'readiness',
        at: NOON + at,
        result: outcome,
      }) as const;
    const observed = { observations: [result(1, 'success'), result(2, 'failure'), result(3, 'failure')], relists: [] };
    expect(tell(draw([[0, sync, pod]], { observed, until: NOON + 9 }), 'app readiness')).toEqual([
      'success 1 success ~readiness success',
      'failure 2 failure !warning',
      'failure 3 failure ~readiness failure',
    ]);
  });
});

describe('the agent', () => {
  const breaks = (...lines: readonly Line[]): readonly string[] => draw(lines, { until: NOON + 100 }).breaks.map(told);
  const here: Line = [0, { kind: 'config', source: 'file', op: 'ADD' }, pod];

  it('breaks every lane where it was away', () => {
    expect(breaks(here, [10, { kind: 'agent-stopping', reason: 'SIGTERM' }], [50, agentStarted])).toEqual([
      'away 10-50 no agent !note',
      'break 50 agent started !note',
    ]);
    expect(breaks(here, [10, { kind: 'work-due' }, pod], [50, agentStarted])[0]).toBe('away 10-50 no agent !error');
    expect(breaks(here, [10, { kind: 'agent-stopping', reason: 'SIGTERM' }])).toEqual(['away 10-100… no agent !note']);
  });

  it('leaves a pod behind that the next one does not know, and finds containers as they had ended', () => {
    const running: Line = [1, { kind: 'phase', to: 'Running' }, pod];
    const gone: readonly Line[] = [running, [20, died(1), app], [50, agentStarted]];
    expect(tell(draw(gone, { until: NOON + 100 }), 'status')).toEqual(['phase 1-20… Running !good']);
    const found = draw([...gone, [60, died(1), app]], { until: NOON + 100 });
    expect(tell(found, 'status')).toEqual(['phase 1-100… Running !good']);
    expect(tell(found, 'app')).toEqual(['exit-bad 20 exit 1 !error', 'tick 60 known exit ~known exit']);
  });

  it('breaks every lane while the runtime is down, but not before its first look at it', () => {
    const down: JournalEvent = { kind: 'runtime-health', healthy: false };
    const up: JournalEvent = { kind: 'runtime-health', healthy: true };
    expect(breaks(here, [1, down], [2, up], [10, down], [20, up], [30, down])).toEqual([
      'unhealthy 1-2 runtime down',
      'unhealthy 10-20 runtime down !error',
      'unhealthy 30-100… runtime down !error',
    ]);
  });

  it('says where entries are missing', () => {
    expect(breaks(here, [5, { kind: 'entries-dropped', count: 3 }])).toEqual(['break 5 entries lost !warning']);
  });
});

describe('a part of the time', () => {
  const part = (from: number, until: number): Timeline =>
    timelineOfJournal({ entries: crashLoop, from: NOON + from, until: NOON + until });

  it('cuts spans and keeps what led to what is seen', () => {
    const timeline = part(13_100, 20_000);
    expect(tell(timeline, 'app')).toEqual([
      'running 13100-13100 run 2',
      'exit-bad 13100 exit 1 !error',
      'waiting 13100-20000… waiting',
    ]);
    expect(tell(timeline, 'status')).toEqual(['phase 13100-20000… Running !good']);
    expect(timeline.entries.map(({ id }) => id)).toEqual(['e4', 'e12', 'e13', 'e15', 'e17', 'e18', 'e19', 'e20']);
  });

  it('has no pod of which nothing is known then', () => {
    expect(part(-5000, -1000).pods).toEqual([]);
  });
});
