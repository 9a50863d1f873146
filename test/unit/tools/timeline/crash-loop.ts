import type { JournalContext, JournalEntry, JournalEvent } from '../../../../src/model/journal/journal.js';

export const web = { uid: 'u1', namespace: 'default', name: 'web' };
const app = { pod: web, container: 'app' };

/** `[millisecond, event, context]`; ids are e1, e2 … in order. */
export type Line = readonly [ms: number, event: JournalEvent, context?: Partial<JournalContext>];

/** Noon of the first day of 2026. */
export const NOON = Date.UTC(2026, 0, 1, 12);

export const journal = (...lines: readonly Line[]): readonly JournalEntry[] =>
  lines.map(([ms, event, context], index) => ({
    id: `e${index + 1}`,
    at: NOON + ms,
    causes: [],
    ...event,
    ...context,
  }));

export const agentStarted: JournalEvent = { kind: 'agent-started', version: '0.1.0', node: 'n' };

const sync = (trigger = 'sync'): JournalEvent => ({ kind: 'sync-started', work: 'sync', trigger });
const ended = (error?: string): JournalEvent => ({
  kind: 'sync-ended',
  work: 'sync',
  ...(error === undefined ? {} : { error }),
  next: { kind: 'resync', dueAt: NOON + 60_000 },
});
const call = (name: string, durationMs: number): JournalEvent => ({ kind: 'call', call: name, durationMs });

/** One run of `app`: a sync creates and starts it, it ends a second later, and a sync puts its restart off. */
const run = (at: number, first: number, backOffMs: number, step: number): readonly Line[] => [
  [at, sync(), { pod: web }],
  [at + 20, call('CreateContainer', 15), { ...app, causes: [`e${first}`] }],
  [at + 100, call('StartContainer', 70), { ...app, causes: [`e${first}`] }],
  [at + 110, ended(), { pod: web, causes: [`e${first}`] }],
  [at + 1100, { kind: 'runtime-changed', change: 'ContainerDied', containerId: `c${step}`, exitCode: 1 }, app],
  [at + 1110, sync(), { pod: web, causes: [`e${first + 4}`] }],
  [
    at + 1115,
    {
      ...{ kind: 'back-off', subject: 'restart', exitCode: 1, delayMs: backOffMs, until: NOON + at + 1100 + backOffMs },
      ...{ step, steps: 6, resetAfterMs: 600_000 },
    },
    { ...app, causes: [`e${first + 5}`] },
  ],
  [at + 1120, ended('CrashLoopBackOff'), { pod: web, causes: [`e${first + 5}`] }],
];

/** A pod that was added, started, and crashed three times, with back-offs of 10, 20 and 40 s and a sync in the last one. */
export const crashLoop: readonly JournalEntry[] = journal(
  [0, agentStarted],
  [500, { kind: 'config', source: 'file', op: 'ADD' }, { pod: web }],
  [510, { kind: 'phase', to: 'Pending' }, { pod: web, causes: ['e2'] }],
  ...run(600, 4, 10_000, 1),
  [800, { kind: 'phase', to: 'Running' }, { pod: web, causes: ['e4'] }],
  ...run(12_000, 13, 20_000, 2),
  ...run(35_000, 21, 40_000, 3),
  [55_000, { kind: 'work-due' }, { pod: web }],
  [55_000, sync(), { pod: web, causes: ['e29'] }],
  [55_010, ended(), { pod: web, causes: ['e30'] }],
).toSorted((one, other) => one.at - other.at);
