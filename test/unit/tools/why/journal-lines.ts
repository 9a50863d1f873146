import type { JournalContext, JournalEntry, JournalEvent } from '../../../../src/model/journal/journal.js';
import { explainWhy } from '../../../../src/tools/why/why.js';

export const web = { uid: 'u1', namespace: 'default', name: 'web' };
export const file = { source: 'file', from: '/etc/pods/web.yaml' };

/** `[second, event, context]`; ids are e1, e2 … in order. */
export type Line = readonly [second: number, event: JournalEvent, context?: Partial<JournalContext>];

export const journal = (...lines: readonly Line[]): readonly JournalEntry[] =>
  lines.map(([second, event, context], index) => ({
    id: `e${index + 1}`,
    at: second * 1000,
    causes: [],
    ...event,
    ...context,
  }));

export const agentStarted: JournalEvent = { kind: 'agent-started', version: '0.1.0', node: 'n' };
export const added: JournalEvent = { kind: 'config', op: 'ADD', ...file };
export const app = { pod: web, container: 'app' };
export const started: JournalEvent = { kind: 'call', call: 'StartContainer', target: 'c', durationMs: 3 };
export const died = (exitCode: number): JournalEvent => ({
  kind: 'runtime-changed',
  change: 'ContainerDied',
  containerId: 'c',
  exitCode,
});
export const sync = (trigger: string): JournalEvent => ({ kind: 'sync-started', work: 'sync', trigger });
export const resync = (second: number): JournalEvent => ({
  kind: 'sync-ended',
  work: 'sync',
  next: { kind: 'resync', dueAt: second * 1000 },
});
export const phase = (to: string): JournalEvent => ({ kind: 'phase', to });

/** A pod that was added at 1 and runs since 2; its next sync is due at 62. */
export const running: readonly Line[] = [
  [0, agentStarted],
  [1, added, { pod: web }],
  [1, sync('config'), { pod: web, causes: ['e2'] }],
  [
    1,
    { kind: 'actions', actions: [{ action: 'create-sandbox', because: 'the pod has none' }] },
    { pod: web, causes: ['e3'] },
  ],
  [2, started, { ...app, causes: ['e4'] }],
  [2, resync(62), { pod: web, causes: ['e3'] }],
  [3, phase('Running'), { pod: web, causes: ['e5'] }],
];

export const why = (lines: readonly Line[], second: number, pod = 'web', container?: string): readonly string[] =>
  explainWhy({ entries: journal(...lines), pod, container, now: second * 1000 });

/** Its manifest cannot be used any more. */
export const broken: Line = [
  10,
  { kind: 'config-problem', problem: 'web.yaml:3:5: spec.containers: required', keeps: [web], ...file },
];
