import { expect } from 'vitest';
import type { JournalEvent } from '../../../../src/model/journal/journal.js';
import { explainWhy } from '../../../../src/tools/why/why.js';
import { added, agentStarted, app, journal, type Line, resync, started, sync, web } from './journal-lines.js';

/** What has to be said at `at`, and what must not, of the pod that `of` names; `web` unless given. */
export interface Story {
  readonly at: number;
  readonly of?: string;
  readonly agentRuns?: boolean;
  readonly lines: readonly Line[];
  readonly says: readonly (string | RegExp)[];
  readonly never?: readonly (string | RegExp)[];
}

export const edited = { uid: 'u2', namespace: 'default', name: 'web' };
export const other = { uid: 'u7', namespace: 'default', name: 'api' };
export const of = { pod: web };
export const heard: JournalEvent = { kind: 'source-heard', source: 'file' };
export const removed: JournalEvent = { kind: 'config', op: 'REMOVE', source: 'file' };
export const stopping: JournalEvent = { kind: 'agent-stopping', reason: 'SIGTERM' };
export const forgotten: JournalEvent = { kind: 'forgotten' };
export const terminating: JournalEvent = {
  kind: 'sync-started',
  work: 'terminating',
  trigger: 'kill',
  graceSeconds: 30,
};
export const nothing = (reason: string): JournalEvent => ({
  kind: 'sync-ended',
  work: 'terminating',
  next: { kind: 'nothing', reason },
});
export const start = (id: string): JournalEvent => ({ ...started, target: id }) as JournalEvent;
export const change = (
  name: 'ContainerStarted' | 'ContainerDied' | 'ContainerRemoved',
  id: string,
  happened?: number,
) =>
  ({
    kind: 'runtime-changed',
    change: name,
    containerId: id,
    ...(name === 'ContainerDied' && { exitCode: 0 }),
    ...(happened !== undefined && { happenedAt: happened * 1000 }),
  }) as const satisfies JournalEvent;
export const problem = (text: string, more: object = {}): JournalEvent => ({
  kind: 'config-problem',
  ...{ source: 'file', from: 'm/web.yaml', problem: text },
  ...more,
});
export const rejected = (detail?: string): JournalEvent => ({
  kind: 'admission-rejected',
  ...{ reason: 'NodePorts', message: 'Predicate NodePorts failed' },
  ...(detail !== undefined && { detail }),
});
export const finding = (text: string): JournalEvent => ({ kind: 'housekeeping', finding: text });

/** From 1 on; its container `c1` runs since 2. */
export const up: readonly Line[] = [
  [0, agentStarted],
  [1, added, of],
  [1, heard],
  [1, sync('config'), { ...of, causes: ['e2'] }],
  [2, start('c1'), { ...app, causes: ['e4'] }],
  [2, resync(62), { ...of, causes: ['e4'] }],
  [3, { kind: 'phase', from: 'Pending', to: 'Running' }, of],
];
/** A job that ended at 10, as its agent saw it. */
export const done: readonly Line[] = [
  ...up,
  [10, change('ContainerDied', 'c1', 10), app],
  [11, { kind: 'phase', from: 'Running', to: 'Succeeded' }, of],
];
/** Another agent starts at `at` and looks at what there is. */
export const again = (at: number, ...lines: readonly Line[]): readonly Line[] => [
  [at, agentStarted],
  ...lines.map(([second, ...rest]): Line => [at + second, ...rest]),
];
export const readAgain: readonly Line[] = [
  [0, added, of],
  [0, heard],
];

export const ID = 'e61ad1c53e24'.padEnd(64, 'a');

const told = ({ lines, at, of: pod = 'web', agentRuns }: Story): string =>
  explainWhy({ entries: journal(...lines), pod, now: at * 1000, ...(agentRuns !== undefined && { agentRuns }) }).join(
    '\n',
  );

/** Everything that has to be said is, and nothing that is not so. */
export const expectTold = (story: Story): void => {
  const text = told(story);
  for (const part of story.says) {
    if (typeof part === 'string') expect(text).toContain(part);
    else expect(text).toMatch(part);
  }
  for (const part of story.never ?? []) expect(text).not.toMatch(part);
};
