import { defer, map, type Observable, of, throwError } from 'rxjs';
import type { RunHelpers, TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import { containerLog, type ContainerLogOptions } from '../../../src/streams/logs/container-log.js';
import { LOG_BLOCK_BYTES } from '../../../src/streams/logs/tail-start.js';
import { noLogs } from '../../../src/streams/ports/log-reading.js';
import { criLine, MemoryLogs } from '../../support/memory-logs.js';
import { marbles } from '../marbles.js';

const PATH = '/logs/main/0.log';
const OLD = `${PATH}.20260131-120000`;

interface Stage extends RunHelpers {
  readonly scheduler: TestScheduler;
  readonly logs: MemoryLogs;
  /** Changes the files at this millisecond. */
  readonly at: (ms: number, change: () => void) => void;
  /** The output of `logs`, a letter for each line, without its line break. */
  readonly output: (options?: Partial<ContainerLogOptions>) => Observable<string>;
}

const letters = (bytes: Uint8Array): string => Buffer.from(bytes).toString().replaceAll('\n', '');

const onStage = (body: (stage: Stage) => void): (() => void) =>
  marbles((helpers) => {
    const { scheduler } = helpers;
    const logs = new MemoryLogs();
    logs.create(PATH, criLine('a'));
    body({
      ...helpers,
      logs,
      at: (ms, change) => void scheduler.schedule(change, ms),
      output: (options) =>
        containerLog({
          ...{ path: PATH, files: logs.port(), print: { stream: 'All', timestamps: false }, scheduler },
          ...options,
        }).pipe(map(letters)),
    });
  });

/** A container that runs until this millisecond. */
const runsUntil = (ms: number, scheduler: TestScheduler) => ({
  isRunning: () => defer(() => of(scheduler.now() < ms)),
});
const running = { isRunning: () => of(true) };

describe('a log', () => {
  it(
    'is read to its end, and its file is closed',
    onStage(({ logs, output, expectObservable, flush }) => {
      logs.append(PATH, criLine('b'));
      expectObservable(output()).toBe('(x|)', { x: 'ab' });
      flush();
      expect(logs.openCount).toBe(0);
    }),
  );

  it(
    'is an error where there is no file',
    onStage(({ logs, output, expectObservable }) => {
      const missing = new Error(`there is no log file ${PATH}`);
      expectObservable(output({ files: noLogs })).toBe('#', {}, missing);
      logs.rename(PATH, OLD);
      expectObservable(output()).toBe('#', {}, missing);
    }),
  );

  it(
    'waits for its reader before each further block',
    onStage(({ logs, cold, output, expectObservable }) => {
      const half = 'x'.repeat(LOG_BLOCK_BYTES / 2 - criLine('').length);
      logs.truncate(PATH, criLine(half).repeat(5));
      const ready = () => cold('    ---|     ');
      const expected = '            2--2--1--|';
      const count$ = output({ ready }).pipe(map((text) => String(text.length / half.length)));
      expectObservable(count$).toBe(expected);
    }),
  );

  it(
    'ends at its limit without reading on',
    onStage(({ logs, output, expectObservable, flush }) => {
      logs.append(PATH, criLine('b'.repeat(LOG_BLOCK_BYTES)).repeat(3));
      const print = { stream: 'All', timestamps: false, limitBytes: 2 } as const;
      expectObservable(output({ print })).toBe('(a|)');
      expectObservable(output({ print, follow: running })).toBe('(a|)');
      flush();
      expect(logs.readCount).toBe(2 * LOG_BLOCK_BYTES);
    }),
  );

  it.each([
    [0, ''],
    [1, 'c'],
    [2, 'bc'],
    [9, 'abc'],
  ])('begins with its last %i lines: %j', (tailLines, lines) => {
    onStage(({ logs, output, expectObservable }) => {
      logs.append(PATH, criLine('b') + criLine('c'));
      expectObservable(output({ tailLines })).toBe(lines === '' ? '|' : '(x|)', { x: lines });
    })();
  });
});

describe('a log that is followed', () => {
  it(
    'is read again every second without a change, whether it can be watched or not',
    onStage(({ logs, at, cold, output, expectObservable }) => {
      const watches = [() => cold('-'), () => cold('#'), () => cold('|')];
      at(300, () => logs.append(PATH, criLine('b')));
      at(1_300, () => logs.append(PATH, criLine('c')));
      const expected = '              a 999ms b 999ms c';
      const unsub = '                 2100ms !              ';
      for (const watch of watches) {
        expectObservable(output({ files: logs.port(watch), follow: running }), unsub).toBe(expected);
      }
    }),
  );

  it(
    'is read when the watch reports a change',
    onStage(({ logs, at, cold, output, expectObservable }) => {
      at(3, () => logs.append(PATH, criLine('b')));
      at(5, () => logs.append(PATH, criLine('c')));
      const watch = () => cold('w---w----w');
      const expected = '        a---b----c';
      const unsub = '           ---------- !';
      expectObservable(output({ files: logs.port(watch), follow: running }), unsub).toBe(expected);
    }),
  );

  it(
    'is read once more after a change during a read',
    onStage(({ logs, at, cold, output, expectObservable }) => {
      // The read of the end, from 3 on, has begun before the line is there.
      at(5, () => logs.append(PATH, criLine('b')));
      const files = logs.port(() => cold('-----w'), cold('---(r|)'));
      const expected = '                         ---a-----b';
      const unsub = '                            ---------- !';
      expectObservable(output({ files, follow: running }), unsub).toBe(expected);
    }),
  );

  it(
    'ends within a second after its container, with the last lines that it wrote',
    onStage(({ logs, at, output, expectObservable, scheduler, flush }) => {
      at(2_400, () => logs.append(PATH, criLine('b') + '2026-01-31T12:00:00Z stdout F c'));
      expectObservable(output({ follow: runsUntil(2_500, scheduler) })).toBe('a 2999ms (bc|)');
      flush();
      expect(logs.openCount).toBe(0);
    }),
  );

  it(
    'has the lines that are written between its end and the end of the container',
    onStage(({ logs, cold, output, expectObservable }) => {
      const isRunning = () =>
        defer(() => {
          logs.append(PATH, criLine('b'));
          return cold('--(n|)', { n: false });
        });
      expectObservable(output({ follow: { isRunning } })).toBe('a-(b|)');
    }),
  );

  it(
    'goes on with the next file after a rotation, and first reads the earlier one to its end',
    onStage(({ logs, at, output, expectObservable, flush }) => {
      at(300, () => {
        logs.append(PATH, criLine('b'));
        logs.rename(PATH, OLD);
        // The runtime writes to the earlier file until it opens the next one.
        logs.append(OLD, criLine('c'));
        logs.create(PATH, criLine('d'));
      });
      at(1_300, () => logs.append(PATH, criLine('e')));
      const expected = '                         a 999ms (xd) 996ms e';
      const unsub = '                            2100ms !';
      expectObservable(output({ follow: running }), unsub).toBe(expected, { a: 'a', x: 'bc', d: 'd', e: 'e' });
      flush();
      expect(logs.openCount).toBe(0);
    }),
  );

  it(
    'has the lines that are written to the earlier file between its end and the rotation',
    onStage(({ logs, at, cold, output, expectObservable }) => {
      // The read of the end, from 3 on, has begun before.
      at(5, () => {
        logs.append(PATH, criLine('b'));
        logs.rename(PATH, OLD);
        logs.create(PATH, criLine('c'));
      });
      const files = logs.port(undefined, cold('---(r|)'));
      const expected = '                         ---a-----b-----c';
      const unsub = '                            ---------------- !';
      expectObservable(output({ files, follow: running }), unsub).toBe(expected);
    }),
  );

  it(
    'stays with the renamed file while there is no other one',
    onStage(({ logs, at, output, expectObservable }) => {
      at(300, () => logs.rename(PATH, OLD));
      at(1_300, () => logs.append(OLD, criLine('b')));
      at(2_300, () => logs.create(PATH, criLine('c')));
      expectObservable(output({ follow: running }), '3100ms !').toBe('a 1999ms b 999ms c');
    }),
  );

  it(
    'has the lines of the next file, too, when its container ends after a rotation',
    onStage(({ logs, at, output, expectObservable, scheduler }) => {
      at(300, () => {
        logs.rename(PATH, OLD);
        logs.create(PATH, criLine('b'));
      });
      expectObservable(output({ follow: runsUntil(500, scheduler) })).toBe('a 999ms (b|)');
    }),
  );

  it(
    'is read from its beginning after a truncation, without the line that had begun',
    onStage(({ logs, at, output, expectObservable }) => {
      logs.append(PATH, '2026-01-31T12:00:00Z stdout F lost');
      at(300, () => logs.truncate(PATH, criLine('b')));
      expectObservable(output({ follow: running }), '1100ms !').toBe('a 999ms b');
    }),
  );

  it(
    'is waited for while it is missing and its container runs',
    onStage(({ logs, at, cold, output, expectObservable, scheduler }) => {
      logs.rename(PATH, OLD);
      at(1_300, () => logs.create(PATH, criLine('b') + criLine('c')));
      const unsub = '2100ms !';
      const expected = '2s c';
      const watch = () => cold('w');
      expectObservable(output({ files: logs.port(watch), follow: running, tailLines: 1 }), unsub).toBe(expected);
      const missing = new Error(`there is no log file ${PATH}`);
      expectObservable(output({ follow: runsUntil(0, scheduler) })).toBe('#', {}, missing);
    }),
  );

  it(
    'begins behind its last line if none of them is wanted',
    onStage(({ logs, at, output, expectObservable }) => {
      at(300, () => logs.append(PATH, criLine('b')));
      expectObservable(output({ follow: running, tailLines: 0 }), '1100ms !').toBe('1s b');
    }),
  );

  it(
    'does not wait for a runtime that hangs',
    onStage(({ logs, at, cold, output, expectObservable, expectSubscriptions }) => {
      at(3, () => logs.append(PATH, criLine('b')));
      const hanging = cold('          -');
      const watch = () => cold('      ---w---');
      const expected = '              a--b---';
      const unsub = '                 -------!';
      const asked = [' ^--!', '---^---!'];
      const follow = { isRunning: () => hanging as unknown as Observable<boolean> };
      expectObservable(output({ files: logs.port(watch), follow }), unsub).toBe(expected);
      expectSubscriptions(hanging.subscriptions).toBe(asked);
    }),
  );

  it(
    'fails with the runtime',
    onStage(({ output, expectObservable }) => {
      const broken = throwError(() => 'error');
      expectObservable(output({ follow: { isRunning: () => broken } })).toBe('(a#)');
    }),
  );

  it(
    'closes its file and its watch with its reader',
    onStage(({ logs, cold, output, expectObservable, expectSubscriptions, flush }) => {
      const watch = cold('w--');
      const unsub = '     --!';
      expectObservable(output({ files: logs.port(() => watch), follow: running }), unsub).toBe('a');
      expectSubscriptions(watch.subscriptions).toBe('^-!');
      flush();
      expect(logs.openCount).toBe(0);
    }),
  );
});

it('a log is cold: each reader has all of it', () => {
  onStage(({ output, expectObservable }) => {
    const log$ = output();
    expectObservable(log$).toBe('(a|)');
    expectObservable(log$, '--^').toBe('--(a|)');
  })();
});
