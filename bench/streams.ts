/**
 * The costs of streams: a log that is followed from its beginning, and a command in a container.
 *
 *   npm run bench:streams -- [--mib 64] [--rounds 100]
 *
 * A container over the embedded runtime writes lines of 100 bytes. Then three readers follow its log one after the other: `tail -f` on the file,
 * `rx-kubelet logs -f`, and a client of the kubelet API. The command is `true`, which a bare client of the CRI runs, too: the difference is the
 * agent's part.
 */
import { statSync } from 'node:fs';
import { loadavg } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { readLog } from './streams/log-readers.js';
import { type NodeOfOnePod, withOnePod } from './streams/node-of-one-pod.js';
import { roundTrips } from './streams/round-trips.js';

const MIB = 1024 * 1024;
const LINE_BYTES = 100;
const LOOK_EVERY_MS = 200;

const { values } = parseArgs({
  options: { mib: { type: 'string', default: '64' }, rounds: { type: 'string', default: '100' } },
});
const lines = Math.ceil((Number(values.mib) * MIB) / LINE_BYTES);
const rounds = Number(values.rounds);

/** The size of the log once its last line is written. */
const written = async ({ logFile }: NodeOfOnePod): Promise<number> => {
  for (let before = -1; ; await pause(LOOK_EVERY_MS)) {
    const { size } = statSync(logFile);
    if (size >= lines * LINE_BYTES && size === before) return size;
    before = size;
  }
};

const percentile = (ms: readonly number[], share: number): string => {
  const sorted = ms.toSorted((one, other) => one - other);
  return (sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? NaN).toFixed(1);
};

const script = `yes ${'x'.repeat(LINE_BYTES - 1)} | head -n ${lines}; exec sleep 100000`;
await withOnePod(script, async (node) => {
  const fileBytes = await written(node);
  console.log(
    `a log of ${(fileBytes / MIB).toFixed(0)} MiB, ${rounds} commands, load average ${loadavg()[0]?.toFixed(1)}`,
  );
  for (const { reader, bytes, seconds, cpuSeconds } of await readLog(node, {
    contentBytes: lines * LINE_BYTES,
    fileBytes,
  })) {
    const [rate, cpu] = [bytes / MIB / seconds, (1_000 * cpuSeconds) / (bytes / MIB)];
    console.log(`${reader.padEnd(44)} ${rate.toFixed(0)} MiB/s, ${cpu.toFixed(1)} ms of CPU for a MiB`);
  }
  for (const { way, ms, agentMs } of await roundTrips(node, rounds)) {
    console.log(
      `${way.padEnd(44)} ${percentile(ms, 0.5)} ms (median), ${percentile(ms, 0.99)} ms (p99), ` +
        `${agentMs.toFixed(1)} ms of the agent's CPU`,
    );
  }
});
