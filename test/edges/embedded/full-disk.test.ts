import { execFileSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually, isRoot, processesWith, RuntimeUnderTest } from './runtime-under-test.js';

/** More than a pipe and the buffer of its reader hold together. */
const MORE_THAN_PIPES_BYTES = 512 * 1024;
const LINE_BYTES = 1000;
const MORE_LINES_THAN_PIPES = Math.ceil(MORE_THAN_PIPES_BYTES / LINE_BYTES);

describe.skipIf(!isRoot)('a disk that is full', () => {
  let directory: string;
  let disk: string;
  let host: RuntimeUnderTest;
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'full-disk-'));
    disk = join(directory, 'disk');
    mkdirSync(disk);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'none', disk]);
    host = new RuntimeUnderTest({ parent: disk });
    await host.start();
  });
  afterEach(async () => {
    try {
      rmSync(filler(), { force: true });
      await host.dispose();
    } finally {
      execFileSync('umount', ['--lazy', disk]);
      rmSync(directory, { recursive: true });
    }
  });

  const filler = (): string => join(disk, 'filler');
  /** Takes all there is of the disk. */
  const fill = (): void => {
    const file = openSync(filler(), 'a');
    try {
      for (const bytes of [64 * 1024, 1]) for (;;) if (writeSync(file, Buffer.alloc(bytes)) < bytes) break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    } finally {
      closeSync(file);
    }
  };

  /** Prints lines with a number, which it also writes down on another disk, until a file asks it to end with code 7. */
  const printer = async () => {
    const [progress, end] = [join(directory, 'progress'), join(directory, 'end')];
    const line = 'x'.repeat(LINE_BYTES);
    const script = `i=0; while ! [ -e ${end} ]; do i=$((i+1)); echo "line $i ${line}"; echo "line $i ${line}" >&2; echo $i > ${progress}.new; mv ${progress}.new ${progress}; done; exit 7`;
    const id = await host.run(await host.sandbox('full'), script);
    const printed = (): number => (existsSync(progress) ? Number(readFileSync(progress, 'utf8')) : 0);
    const goesOn = async (lines: number): Promise<number> => {
      const until = printed() + lines;
      return eventually(`${until} lines are printed`, () => (printed() >= until ? printed() : undefined));
    };
    const ended = async (): Promise<void> => {
      writeFileSync(end, '');
      await eventually('the printer has ended', () => processesWith(progress).length === 0);
    };
    return { id, goesOn, ended };
  };

  it('ends no container that prints, and its log goes on when there is room again', async () => {
    const { id, goesOn } = await printer();
    const { startedAt, logPath } = await host.status(id);
    await goesOn(10);
    fill();
    await goesOn(MORE_LINES_THAN_PIPES);
    rmSync(filler());
    const later = await goesOn(1);
    for (const stream of ['stdout', 'stderr']) {
      const lines = await eventually(`later lines are in the log of ${stream}`, () => {
        const all = host.output(logPath, stream).split('\n');
        return all.some((line) => Number(/^line (\d+) x+$/.exec(line)?.[1]) > later) ? all : undefined;
      });
      expect(lines).toContainEqual(expect.stringContaining('[rx-kubelet: output was lost here'));
    }
    expect(await host.status(id)).toMatchObject({ state: 'CONTAINER_RUNNING', startedAt });
  });

  it('keeps no command of a probe or a hook from running', async () => {
    const id = await host.run(await host.sandbox('full'), 'while :; do sleep 0.05; done');
    fill();
    const cmd = ['sh', '-c', `cat; echo "${'x'.repeat(100_000)}" | wc -c; exit 3`];
    const { stdout, exitCode } = await host.runtime.execSync({ containerId: id, cmd, timeout: 0n });
    expect([
      Buffer.from(stdout ?? [])
        .toString()
        .trim(),
      exitCode,
    ]).toEqual(['100001', 3]);
  });

  it('hides no exit code, also not from the next runtime', async () => {
    const { id, goesOn, ended } = await printer();
    await goesOn(10);
    fill();
    await goesOn(MORE_LINES_THAN_PIPES);
    await host.kill('SIGKILL');
    await ended();
    rmSync(filler());
    await host.start();
    expect(await host.exited(id)).toMatchObject({ exitCode: 7, reason: 'Error' });
  });
});
