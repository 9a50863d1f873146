import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { BUNDLE, type Daemon } from './daemon.js';

export interface FollowedLog {
  /** The output so far. */
  readonly output: string;
  readonly problems: string;
  /** Resolves with the exit code and the signal. */
  readonly exit: Promise<readonly unknown[]>;
}

/** Starts the command that follows a log, whose output grows. It ends with the daemon at the latest. */
export const followLog = (daemon: Daemon, ...args: readonly string[]): FollowedLog => {
  const child = spawn(process.execPath, [BUNDLE, 'logs', '-f', '--root-dir', daemon.rootDir, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  daemon.beforeDispose(async () => child.kill('SIGKILL'));
  const followed = { output: '', problems: '', exit: once(child, 'exit') };
  child.stdout.on('data', (part: Buffer) => (followed.output += part.toString()));
  child.stderr.on('data', (part: Buffer) => (followed.problems += part.toString()));
  return followed;
};
