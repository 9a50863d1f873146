import { spawnSync } from 'node:child_process';
import { renameSync, writeFileSync } from 'node:fs';

const { status, stdout } = spawnSync('faketime', ['-m', '-f', '+0', 'sh', '-c', 'echo "$LD_PRELOAD"'], {
  encoding: 'utf8',
});
export const canFakeTime = status === 0;

/**
 * The time of day of the programs that are started with its environment. They read it from the file at each call, and their clock that is
 * never set stays that of the machine. So do the times of files, which the kernel stamps, and the clocks of containers.
 */
export class FakedClock {
  readonly env: NodeJS.ProcessEnv;

  constructor(
    private readonly path: string,
    offsetSeconds: number,
  ) {
    this.set(offsetSeconds);
    this.env = {
      LD_PRELOAD: stdout.trim(),
      FAKETIME_TIMESTAMP_FILE: path,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    };
  }

  /** Sets it to this number of seconds after the clock of the machine, at once. */
  set(offsetSeconds: number): void {
    writeFileSync(`${this.path}.new`, `${offsetSeconds < 0 ? '' : '+'}${offsetSeconds}\n`);
    renameSync(`${this.path}.new`, this.path);
  }
}
