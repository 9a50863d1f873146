import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BUNDLE, type Daemon } from './daemon.js';

/** Runs a command of the agent on a terminal of 31 lines and 97 columns, and returns that terminal. */
export const onTerminal = async (daemon: Daemon, name: 'exec' | 'attach', args: string) => {
  const path = join(daemon.directory, `tty-of-${name}`);
  const command = `stty rows 31 cols 97; tty >${path}; exec ${process.execPath} ${BUNDLE} ${name} --root-dir ${daemon.rootDir} ${args}`;
  const child = spawn('script', ['-qec', command, '/dev/null'], { env: { ...process.env, TERM: 'dumb' } });
  daemon.beforeDispose(async () => child.kill('SIGKILL'));
  const resize = (rows: number, columns: number): void => {
    execFileSync('stty', ['-F', readFileSync(path, 'utf8').trim(), 'rows', String(rows), 'cols', String(columns)]);
  };
  const exit = once(child, 'exit') as Promise<[code: number | null]>;
  /** Closes the terminal, as its window is closed: the command is hung up. */
  const close = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exit;
  };
  const screen = { text: '', exit, input: child.stdin, resize, close };
  child.stdout.on('data', (part: Buffer) => (screen.text += part.toString()));
  return screen;
};
