import { spawnSync } from 'node:child_process';
import { accessSync, constants, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { type Daemon, isRoot, it, NODE_NAME } from './daemon.js';
import { eventually } from './eventually.js';
import { SLEEP } from './manifests.js';

const run = (command: string, ...args: readonly string[]): void => {
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`);
};
const isWritable = (path: string): boolean => {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
};

/** Lets every path below the root directory lead to a read-only mount. Files that are open stay writable, as the kernel has it. */
const makeReadOnly = ({ rootDir }: Daemon): void => {
  run('mount', '--rbind', rootDir, rootDir);
  run('mount', '--make-rprivate', rootDir);
  run('mount', '-o', 'remount,bind,ro', rootDir);
};
const makeWritable = ({ rootDir }: Daemon): void => run('umount', '--recursive', '--lazy', rootDir);

describe.runIf(isRoot)('a root directory that turns read-only under an agent', () => {
  it('ends nothing that runs, loses no end, and is the reason why a new pod waits until it is writable again', async ({
    daemon,
  }) => {
    const gate = join(daemon.directory, 'gate');
    const lines = 'i=0; while :; do i=$((i + 1)); echo "line $i"; sleep 0.05; done';
    daemon.apply({ name: 'steady', containers: [{ script: lines }] });
    // Its next instance stays, and so does the record of this one.
    const once = `if [ -e ${gate} ]; then ${SLEEP}; fi; while [ ! -e ${gate} ]; do sleep 0.05; done; exit 3`;
    daemon.apply({ name: 'ending', containers: [{ script: once }] });
    await daemon.start();
    await daemon.reached('steady', 'CONTAINER_RUNNING');
    await daemon.reached('ending', 'CONTAINER_RUNNING');
    const before = await daemon.processOf('steady');

    makeReadOnly(daemon);
    try {
      expect(isWritable(daemon.rootDir)).toBe(false);
      daemon.apply({ name: 'late', containers: [{ script: SLEEP }] });
      writeFileSync(gate, '');
      await eventually('the log names the error of the new pod', () => /late[^\n]*EROFS/.test(daemon.log));
      const { stdout } = await daemon.run('why', `late-${NODE_NAME}`, '--root-dir', daemon.rootDir);
      expect(stdout).toMatch(/another try in .*: EROFS: read-only file system, mkdir/);
      expect(await daemon.containersOf('late')).toEqual([]);
      expect(daemon.isAgentThere()).toBe(true);
      expect((await daemon.health()).status).toBe(200);
      expect(await daemon.processOf('steady')).toEqual(before);
    } finally {
      makeWritable(daemon);
    }
    expect(isWritable(daemon.rootDir)).toBe(true);

    await daemon.reached('late', 'CONTAINER_RUNNING');
    const ended = await eventually('the container that ended meanwhile runs again', async () => {
      const [newest, former] = await daemon.containersOf('ending');
      return newest?.attempt !== 0 && former && daemon.status(former.id);
    });
    expect(ended.exitCode).toBe(3);
    expect(await daemon.processOf('steady')).toEqual(before);
    const steady = await daemon.reached('steady', 'CONTAINER_RUNNING');
    const written = daemon.output(steady);
    expect(written).toEqual(written.map((_, index) => `line ${index + 1}`));
  });
});
