import { EMPTY, ignoreElements, throwError, timer } from 'rxjs';
import { expect, it } from 'vitest';
import type { ProbeRecord } from '../../../src/model/probes/probe-record.js';
import { keepRecords } from '../../../src/streams/probes/keep-records.js';
import { expectLanes } from '../lanes.js';
import { marbles } from '../marbles.js';

const record = (containerId: string): ProbeRecord => ({
  ...{ type: 'readiness', uid: 'u', container: 'main', result: 'success' },
  containerId,
});

/** What is known changes with each value of `times`, and each write goes as `outcomes` says; the last is repeated. */
const play = (
  times: string,
  untilMs: number,
  outcomes: readonly ('ok' | 'error' | 'slow')[] = ['ok'],
  value = (at: number) => `at ${at}`,
) => {
  const writes: string[] = [];
  const warnings: string[] = [];
  marbles(({ hot, scheduler, expectObservable }) => {
    const change$ = hot(times);
    let attempts = 0;
    let known: readonly ProbeRecord[] = [];
    const records = {
      read: () => EMPTY,
      write: (given: readonly ProbeRecord[]) => {
        writes.push(`${scheduler.now()} ${given.map(({ containerId }) => containerId).join()}`);
        const outcome = outcomes[Math.min(attempts++, outcomes.length - 1)];
        if (outcome === 'error') return throwError(() => new Error('full'));
        return outcome === 'slow' ? timer(500, scheduler).pipe(ignoreElements()) : EMPTY;
      },
    };
    const current = () => known;
    const log = { warn: (fields: object, message: string) => warnings.push(`${message} ${JSON.stringify(fields)}`) };
    change$.subscribe(() => (known = [record(value(scheduler.now()))]));
    expectObservable(keepRecords(change$, current, { records, log, scheduler }), `${untilMs}ms !`).toBe('');
  })();
  return { writes, warnings };
};

it('writes after 100 ms of quiet, once for a burst', () => {
  expectLanes(play('a 49ms b 29ms c', 500).writes, { everyMs: 10 }).toBe({ 'at 80': '180ms a' });
});

it('writes once a second while there is no quiet', () => {
  const busy = Array.from({ length: 30 }, () => 'a 89ms').join(' ');
  expectLanes(play(busy, 2_200).writes, { everyMs: 10 }).toBe({
    'at 990': ' 1s a 1070ms -',
    'at 2070': '1s - 1070ms a',
  });
});

it('tries again after 10 s, with what is known by then', () => {
  const { writes, warnings } = play('a 4999ms b', 21_000, ['error', 'error', 'ok']);
  expectLanes(writes, { everyMs: 100 }).toBe({ 'at 0': '   -a 9900ms - 9900ms -', 'at 5000': '-- 9900ms a 9900ms a' });
  expect(warnings[0]).toBe('cannot write the results of probes {"error":"full"}');
});

it('writes what changed during a write after it', () => {
  expectLanes(play('a 149ms b 99ms c', 1_000, ['slow']).writes, { everyMs: 50 }).toBe({
    'at 0': '  --a----------',
    'at 250': '------------a',
  });
});

it('does not write what stands there already', () => {
  expect(play('a 999ms b', 3_000, ['ok'], () => 'same').writes).toEqual(['100 same']);
});
