import { existsSync, readdirSync, readFileSync, readlinkSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { NODE_NAME } from '../embedded/agent-files.js';
import { eventually } from '../embedded/eventually.js';
import { linesWritten, rotatedNames, writeLines, writtenOver } from '../embedded/rotated-logs.js';
import { type ContainerdNode, it, WAIT } from './containerd-node.js';
import { overContainerd } from './missing.js';

const SLOW_MACHINE_MS = 300_000;
const LINES = 4_000;
/** Garbage is collected every minute. */
const COLLECTED_MS = 120_000;

const configured = (node: ContainerdNode, maxFiles: number): string =>
  node.configuration({
    containerLogMaxSize: '40Ki',
    containerLogMaxFiles: maxFiles,
    containerLogMonitorInterval: '3s',
  });

overContainerd('the log of a container', () => {
  it(
    'is rotated and compressed when it grows, without losing or doubling a line; a link leads to it',
    { timeout: SLOW_MACHINE_MS },
    async ({ node }) => {
      node.apply({ name: 'writer', containers: [{ script: writeLines(LINES, WAIT) }] });
      await node.start('--config', configured(node, 50));
      const { logPath, id } = await node.reached('writer', 'CONTAINER_RUNNING');
      const links = join(node.logs, '..', 'containers');
      const link = join(links, `writer-${NODE_NAME}_default_main-${id}.log`);
      await eventually('there is a link', () => existsSync(link));
      expect(readlinkSync(link)).toBe(logPath);

      const written = await eventually(
        'everything is written, and was rotated twice',
        () => {
          expect(rotatedNames(logPath).length).toBeGreaterThan(1);
          const lines = writtenOver(logPath);
          return lines.at(-1) === linesWritten(LINES, LINES)[0] && lines;
        },
        SLOW_MACHINE_MS / 2,
      );
      expect(written).toEqual(linesWritten(1, LINES));
      await eventually('all but the newest are compressed, and the link leads to what is written now', () => {
        const rotated = rotatedNames(logPath);
        for (const name of rotated.slice(0, -1)) expect(name).toMatch(/^0\.log\.\d{8}-\d{6}\.gz$/);
        expect(rotated.at(-1)).toMatch(/^0\.log\.\d{8}-\d{6}$/);
        expect(readFileSync(link, 'utf8')).toBe(readFileSync(logPath, 'utf8'));
        return true;
      });

      // The link goes with its pod, and so does one that leads nowhere.
      symlinkSync(join(node.logs, 'gone.log'), join(links, 'gone_default_main-0123456789abcdef.log'));
      node.delete('writer.yaml');
      await eventually(
        'nothing of it is left',
        async () => {
          expect([await node.tracesOf('writer'), readdirSync(links)]).toEqual([[], []]);
          return true;
        },
        COLLECTED_MS,
      );
    },
  );

  it(
    'is kept in no more files than the configuration says: the oldest lines go',
    { timeout: SLOW_MACHINE_MS },
    async ({ node }) => {
      node.apply({ name: 'chatty', containers: [{ script: writeLines(99_999, WAIT) }] });
      await node.start('--config', configured(node, 3));
      const { logPath } = await node.reached('chatty', 'CONTAINER_RUNNING');
      const [first] = linesWritten(1, 1);
      let most = 0;
      const left = await eventually(
        'the oldest lines have gone',
        () => {
          most = Math.max(most, rotatedNames(logPath).length);
          const lines = writtenOver(logPath);
          return lines[0] !== undefined && lines[0] !== first && lines;
        },
        SLOW_MACHINE_MS / 2,
      );
      const from = Number(/^line (\d+)/.exec(left[0] ?? '')?.[1]);
      expect(from).toBeGreaterThan(100);
      expect(left).toEqual(linesWritten(from, from + left.length - 1));
      // And the log itself.
      expect(most).toBe(2);
    },
  );
});
