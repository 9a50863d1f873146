import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { BUNDLE, type Daemon } from './daemon.js';

/** Starts the command that follows a log, and returns its output so far. It ends with the daemon at the latest. */
export const followLog = (daemon: Daemon, ...args: readonly string[]) => {
  const child = spawn(process.execPath, [BUNDLE, 'logs', '-f', '--root-dir', daemon.rootDir, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  daemon.beforeDispose(async () => child.kill('SIGKILL'));
  const followed = { output: '', problems: '', exit: once(child, 'exit') };
  child.stdout.on('data', (part: Buffer) => (followed.output += part.toString()));
  child.stderr.on('data', (part: Buffer) => (followed.problems += part.toString()));
  return followed;
};
