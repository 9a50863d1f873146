import { describe, expect, it } from 'vitest';
import type { JournalEvent } from '../../../../src/model/journal/journal.js';
import { type Line, added, agentStarted, running, sync, web, why } from './journal-lines.js';

type Step = 'mount' | 'update' | 'unmount';
const volume = (step: Step, error?: string, name = 'settings'): JournalEvent => ({
  kind: 'volume',
  volume: name,
  step,
  durationMs: 0,
  ...(error !== undefined && { error }),
});
const MISSING = 'configmap "settings" not found';
const waiting: readonly Line[] = [
  [0, agentStarted],
  [1, added, { pod: web }],
  [1, sync('config'), { pod: web, causes: ['e2'] }],
  [1, volume('mount', 'timed out'), { pod: web, causes: ['e3'] }],
  [2, volume('mount', MISSING), { pod: web, causes: ['e3'] }],
];
const ABOUT = /^ {2}the volume/;
const about = (lines: readonly Line[], second: number): readonly string[] =>
  why(lines, second).filter((line) => ABOUT.test(line));

describe('why, of volumes', () => {
  it('names the volume that a pod waits for, since when, and the newest reason', () => {
    expect(about(waiting, 13)).toEqual([`  the volume settings is not mounted for 12 s: ${MISSING}`]);
    expect(why(waiting, 13)).toContain(`  11 s ago  mounting the volume settings failed: ${MISSING}`);
  });

  it('names each volume, and none that is well again', () => {
    const two: readonly Line[] = [
      ...waiting,
      [3, volume('mount', 'disk full', 'scratch'), { pod: web, causes: ['e3'] }],
    ];
    expect(about(two, 13)).toEqual([
      `  the volume settings is not mounted for 12 s: ${MISSING}`,
      '  the volume scratch is not mounted for 10 s: disk full',
    ]);
    expect(about([...two, [5, volume('mount'), { pod: web, causes: ['e3'] }]], 13)).toEqual([
      '  the volume scratch is not mounted for 10 s: disk full',
    ]);
  });

  it('counts the time from the first failure after a success', () => {
    const again: readonly Line[] = [
      ...waiting,
      [5, volume('mount'), { pod: web, causes: ['e3'] }],
      [9, volume('update', MISSING), { pod: web, causes: ['e3'] }],
    ];
    expect(about(again, 13)).toEqual([`  the volume settings is not up to date for 4 s: ${MISSING}`]);
  });

  it('names a volume that keeps the end of a pod', () => {
    const ending: readonly Line[] = [
      ...running,
      [20, volume('unmount', 'target is busy'), { pod: web, causes: ['e3'] }],
    ];
    expect(about(ending, 25)).toEqual(['  the volume settings is not unmounted for 5 s: target is busy']);
  });

  it('forgets failures of an earlier life of the agent', () => {
    const restarted: readonly Line[] = [
      ...waiting,
      [5, { kind: 'agent-stopping', reason: 'SIGTERM' }],
      [6, agentStarted],
    ];
    expect(about(restarted, 13)).toEqual([]);
  });
});
