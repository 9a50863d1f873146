import { describe, expect, it } from 'vitest';
import type { JournalEntry, JournalEvent } from '../../../../src/model/journal/journal.js';
import { explainWhy } from '../../../../src/tools/why/why.js';

const pod = { uid: 'u1', namespace: 'default', name: 'web' };
const app = { pod, container: 'app' };

const started: JournalEvent = { kind: 'call', call: 'StartContainer', target: 'c', durationMs: 3 };
const unhealthy = (message: string): JournalEvent => ({
  kind: 'event',
  ...{ type: 'Warning', reason: 'Unhealthy' },
  message,
});
const probe = (
  name: 'startup' | 'readiness' | 'liveness',
  result: 'success' | 'failure',
  output?: string,
): JournalEvent => ({ kind: 'probe', probe: name, result, ...(output !== undefined && { output }) });
const died: JournalEvent = { kind: 'runtime-changed', change: 'ContainerDied', containerId: 'c', exitCode: 137 };

/** What is said at second 20 of a pod that was added at 1 and whose container was started at 2, and of what came then. */
type Line = readonly [second: number, event: JournalEvent];
const why = (...events: readonly Line[]): readonly string[] =>
  explainWhy({
    entries: [
      { id: 'e1', at: 1000, causes: [], kind: 'config', op: 'ADD', source: 'file', from: 'web.yaml', pod },
      { id: 'e2', at: 2000, causes: ['e1'], ...started, ...app },
      ...events.map(([second, event], index): JournalEntry => ({
        id: `e${index + 3}`,
        at: second * 1000,
        causes: [],
        ...event,
        ...app,
      })),
    ],
    pod: 'web',
    now: 20_000,
  });
const container = (...events: readonly Line[]): string | undefined => why(...events)[1]?.trim();

describe('why', () => {
  it.each<[string, readonly Line[], string]>([
    [
      'has never been ready',
      [
        [5, unhealthy('Readiness probe failed: no\nnot yet\n')],
        [6, unhealthy('Readiness probe failed: still no\n')],
      ],
      'app runs for 18 s, is not ready: its readiness probe fails since 15 s: still no',
    ],
    [
      'cannot be asked',
      [[5, unhealthy('Readiness probe errored and resulted in unknown state: no such container: c')]],
      'app runs for 18 s, is not ready: its readiness probe fails since 15 s: no such container: c',
    ],
    ['is ready', [[5, probe('readiness', 'success')]], 'app runs for 18 s'],
    [
      'fails now and then',
      [
        [5, probe('readiness', 'success')],
        [6, unhealthy('Readiness probe failed: no')],
      ],
      'app runs for 18 s',
    ],
    [
      'is not ready any more',
      [
        [5, probe('readiness', 'success')],
        [6, unhealthy('Readiness probe failed: no')],
        [7, probe('readiness', 'failure', 'no\n')],
      ],
      'app runs for 18 s, is not ready: its readiness probe fails since 13 s: no',
    ],
    [
      'is ready again',
      [
        [5, probe('readiness', 'success')],
        [7, probe('readiness', 'failure', 'no')],
        [9, probe('readiness', 'success')],
      ],
      'app runs for 18 s',
    ],
    [
      'has not started',
      [[5, unhealthy('Startup probe failed: ')]],
      'app runs for 18 s, has not started: its startup probe fails since 15 s',
    ],
    [
      'has started, and is not ready',
      [
        [5, unhealthy('Startup probe failed: no')],
        [6, probe('startup', 'success')],
        [7, unhealthy('Readiness probe failed: no')],
      ],
      'app runs for 18 s, is not ready: its readiness probe fails since 13 s: no',
    ],
    ['is not well', [[5, unhealthy('Liveness probe failed: no')]], 'app runs for 18 s'],
    [
      'is another one by now',
      [
        [5, unhealthy('Readiness probe failed: no')],
        [6, died],
        [8, started],
      ],
      'app runs for 12 s, ended 1 time before',
    ],
  ])('describes a container that %s', (_, events, text) => {
    expect(container(...events)).toBe(text);
  });

  it('says what a probe has found out, and when the container was started', () => {
    expect(why([5, probe('readiness', 'success')], [7, probe('readiness', 'failure', 'gone\nfar')]).slice(-4)).toEqual([
      'because:',
      '  13 s ago  the readiness probe of app failed: gone',
      '  18 s ago  started app',
      '  19 s ago  the pod was added by file web.yaml',
    ]);
  });
});
