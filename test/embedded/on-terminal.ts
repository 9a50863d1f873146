import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { BUNDLE, type Daemon } from './daemon.js';

/** A terminal on which a command of the agent runs. */
export interface Terminal {
  /** All that it has shown. */
  text: string;
  readonly input: Writable;
  /** Resolves with the end of the command. */
  readonly exit: Promise<[code: number | null]>;
  readonly resize: (rows: number, columns: number) => void;
  /** Closes it, as its window is closed: the command is hung up. */
  readonly close: () => Promise<void>;
}

/** Runs a command of the agent on a terminal of 31 lines and 97 columns. */
export const onTerminal = (daemon: Daemon, name: 'exec' | 'attach', args: string): Terminal => {
  const path = join(daemon.directory, `tty-of-${name}`);
  const command = `stty rows 31 cols 97; tty >${path}; exec ${process.execPath} ${BUNDLE} ${name} --root-dir ${daemon.rootDir} ${args}`;
  const child = spawn('script', ['-qec', command, '/dev/null'], { env: { ...process.env, TERM: 'dumb' } });
  daemon.beforeDispose(async () => child.kill('SIGKILL'));
  const resize = (rows: number, columns: number): void => {
    execFileSync('stty', ['-F', readFileSync(path, 'utf8').trim(), 'rows', String(rows), 'cols', String(columns)]);
  };
  const exit = once(child, 'exit') as Promise<[code: number | null]>;
  const close = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exit;
  };
  const screen: Terminal = { text: '', exit, input: child.stdin, resize, close };
  child.stdout.on('data', (part: Buffer) => (screen.text += part.toString()));
  return screen;
};
