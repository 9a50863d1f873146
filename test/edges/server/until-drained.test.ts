import { PassThrough, Writable } from 'node:stream';
import { lastValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { containerLog } from '../../../src/streams/logs/container-log.js';
import { LOG_BLOCK_BYTES } from '../../../src/streams/logs/tail-start.js';
import { untilDrained } from '../../../src/server/logs/until-drained.js';
import { criLine, MemoryLogs } from '../../support/memory-logs.js';

/** An output whose reader takes something only when it is asked to. */
const slowOutput = () => {
  const taken: (() => void)[] = [];
  const bytes: Buffer[] = [];
  const output = new Writable({
    highWaterMark: 1,
    write: (chunk: Buffer, _encoding, done) => {
      bytes.push(chunk);
      taken.push(done);
    },
  });
  return { output, bytes, take: () => taken.shift()?.() };
};

const settled = (): Promise<unknown> => new Promise((resolve) => setImmediate(resolve));

describe('an output', () => {
  it('takes more at once while it is not full', async () => {
    await expect(lastValueFrom(untilDrained(new PassThrough()), { defaultValue: 'at once' })).resolves.toBe('at once');
  });

  it.each<[string, (slow: ReturnType<typeof slowOutput>) => void]>([
    ['its reader has read', ({ take }) => take()],
    ['it is closed', ({ output }) => output.destroy()],
  ])('takes more when %s', async (_, act) => {
    const slow = slowOutput();
    slow.output.write('x');
    let isReady = false;
    const ready = lastValueFrom(untilDrained(slow.output), { defaultValue: undefined }).then(() => (isReady = true));
    await settled();
    expect(isReady).toBe(false);
    act(slow);
    await ready;
  });

  it('that is slow holds up the reading of a log: no more than a block is in memory', async () => {
    const logs = new MemoryLogs();
    const line = criLine('x'.repeat(1_000));
    logs.create('/log', line.repeat(5_000));
    const { output, bytes, take } = slowOutput();
    const log$ = containerLog({
      ...{ path: '/log', files: logs.port(), print: { stream: 'All', timestamps: false } },
      ready: () => untilDrained(output),
    });
    const read = log$.forEach((chunk) => void output.write(chunk));
    for (let blocks = 1; blocks <= 5; blocks += 1) {
      await settled();
      expect(logs.readCount).toBe(blocks * LOG_BLOCK_BYTES);
      take();
    }
    let isOver = false;
    void read.then(() => (isOver = true));
    while (!isOver) {
      await settled();
      take();
    }
    expect(Buffer.concat(bytes).toString()).toBe(`${'x'.repeat(1_000)}\n`.repeat(5_000));
  });
});
