import { readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { it } from './daemon.js';
import { eventually } from './eventually.js';
import { followLog } from './follow-log.js';
import { SLEEP } from './manifests.js';
import { linesWritten, rotatedNames, writeLines, writtenOver } from './rotated-logs.js';

const SLOW_MACHINE_MS = 480_000;
const LINES = 4_000;

describe('over the embedded runtime, a log that grows', () => {
  it(
    'is rotated and followed without losing or doubling a line, though the agent is killed meanwhile',
    { timeout: SLOW_MACHINE_MS },
    async ({ daemon }) => {
      const config = daemon.configuration({
        containerLogMaxSize: '40Ki',
        containerLogMaxFiles: 50,
        containerLogMonitorInterval: '3s',
      });
      daemon.apply({ name: 'writer', containers: [{ script: writeLines(LINES, SLEEP) }] });
      await daemon.start('--config', config);
      const { logPath, id } = await daemon.reached('writer', 'CONTAINER_RUNNING');
      const link = join(daemon.rootDir, 'container-logs', `writer-node1_default_main-${id}.log`);
      // It is made when the runtime has answered, which may be after the runtime shows the container.
      await eventually('there is a link to the log', () => readlinkSync(link) === logPath);

      const followed = followLog(daemon, 'writer');
      await eventually('the log is rotated', () => rotatedNames(logPath).length > 0, SLOW_MACHINE_MS / 4);
      await daemon.kill('SIGKILL');
      await daemon.start('--config', config);
      const written = await eventually(
        'everything is written, and rotated a second time',
        () => {
          expect(rotatedNames(logPath).length).toBeGreaterThan(1);
          const lines = writtenOver(logPath);
          return lines.at(-1) === linesWritten(LINES, LINES)[0] && lines;
        },
        SLOW_MACHINE_MS / 2,
      );
      expect(written).toEqual(linesWritten(1, LINES));
      // Its reader does not need the agent, either.
      await eventually('all lines have been followed', () => {
        expect(followed.problems).toBe('');
        return followed.output.length >= written.join('\n').length + 1;
      });
      expect(followed.output.split('\n')).toEqual([...written, '']);
      await eventually('all but the newest are compressed, and the link leads to what is written now', () => {
        const rotated = rotatedNames(logPath);
        for (const name of rotated.slice(0, -1)) expect(name).toMatch(/^0\.log\.\d{8}-\d{6}\.gz$/);
        expect(rotated.at(-1)).toMatch(/^0\.log\.\d{8}-\d{6}$/);
        expect(readFileSync(link, 'utf8')).toBe(readFileSync(logPath, 'utf8'));
        return true;
      });
    },
  );
});
