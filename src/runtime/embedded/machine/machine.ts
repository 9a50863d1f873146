import * as childProcess from 'node:child_process';
import * as fs from 'node:fs';
import * as fsPromises from 'node:fs/promises';
import * as net from 'node:net';
import * as os from 'node:os';
import { keepDirectoriesSync, makeDirectoriesSync } from '../../../processes/make-directories.js';
import { writeSyncedFile } from '../../../processes/replace-file.js';
import * as directories from '../../../processes/sync-directory.js';

/**
 * All access of the embedded runtime to this machine's files and processes goes through this module: tests inject
 * faults with `injectFaults`. The faults are state of the module, not a parameter, since the module stands for the
 * kernel, of which a process has one.
 */
export type Access = 'read' | 'write' | 'spawn' | 'connect';

/** Called before every access; throws the error of the simulated fault. An asynchronous access waits for a promise that it returns. */
export type Faults = (access: Access, operation: string, target: string) => unknown;

let faults: Faults | null = null;

/** `null`, the default, allows every access. */
export const injectFaults = (next: Faults | null): void => {
  faults = next;
};

/** Has to be called before an access that does not use the functions of this module. */
export const mayFail = (access: Access, operation: string, target: string): unknown =>
  faults?.(access, operation, target);

const guarded = <Call extends (...args: never[]) => unknown>(access: Access, name: string, call: Call): Call =>
  ((...args: Parameters<Call>) => {
    mayFail(access, name, String(args[0]));
    return call(...args);
  }) as Call;

const guardedAsync =
  <Args extends readonly unknown[], Result>(
    access: Access,
    name: string,
    call: (...args: Args) => Promise<Result>,
  ): ((...args: Args) => Promise<Result>) =>
  async (...args) => {
    await mayFail(access, name, String(args[0]));
    return call(...args);
  };

export const { constants } = fs;

export const accessSync = guarded('read', 'access', fs.accessSync);
export const fstatSync = guarded('read', 'fstat', fs.fstatSync);
export const lstatSync = guarded('read', 'lstat', fs.lstatSync as (path: string) => fs.Stats);
export const readFileSync = guarded('read', 'readFile', fs.readFileSync);
export const readSync = guarded('read', 'read', fs.readSync);
export const readlinkSync = guarded('read', 'readlink', fs.readlinkSync as (path: string) => string);
export const readdirSync = guarded('read', 'readdir', fs.readdirSync);
export const realpathSync = guarded('read', 'realpath', fs.realpathSync as (path: string) => string);
export const statSync = guarded('read', 'stat', fs.statSync as typeof fs.statSync & ((path: string) => fs.Stats));
export const statfs = guarded('read', 'statfs', fsPromises.statfs);
export const watch = guarded('read', 'watch', fs.watch);
export const networkInterfaces = guarded('read', 'networkInterfaces', os.networkInterfaces);

export const chmodSync = guarded('write', 'chmod', fs.chmodSync);
export const ftruncateSync = guarded('write', 'ftruncate', fs.ftruncateSync);
export const makeDirectories = guarded('write', 'mkdir', makeDirectoriesSync);
export const keepDirectories = guarded('write', 'mkdir', keepDirectoriesSync);
export const mkdirSync = guarded('write', 'mkdir', fs.mkdirSync);
export const openSync = guarded('write', 'open', fs.openSync);
export const renameSync = guarded('write', 'rename', fs.renameSync);
export const rmSync = guarded('write', 'rm', fs.rmSync);
export const rmdirSync = guarded('write', 'rmdir', fs.rmdirSync);
export const syncDirectory = guardedAsync('write', 'fsync', directories.syncDirectory);
export const writeSynced = guardedAsync('write', 'writeFile', writeSyncedFile);
export const writeFileSync = guarded('write', 'writeFile', fs.writeFileSync);
export const writeSync = guarded(
  'write',
  'write',
  fs.writeSync as (file: number, data: NodeJS.ArrayBufferView | string, at?: number) => number,
);

/** Ignores errors: the descriptor is closed in any case. */
export const closeSync = (file: number): void => {
  try {
    fs.closeSync(file);
  } catch {
    // EIO and similar: the write has reported the lost data.
  }
};

export const spawnSync = guarded('spawn', 'spawnSync', childProcess.spawnSync);

/**
 * Resolves with a running child. Errors: the child could not be started. Node throws some of these errors and emits
 * others; here they all reject.
 */
export const startProcess = async (
  command: string,
  args: readonly string[],
  options: childProcess.SpawnOptions,
): Promise<childProcess.ChildProcess> => {
  mayFail('spawn', 'spawn', command);
  const child = childProcess.spawn(command, args, options);
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
  // From now on the only error of the child is a signal that cannot be sent, and `kill` returns that, too.
  child.on('error', () => undefined);
  return child;
};

/** Runs the command to its end. Errors: it could not be run, because the machine was short of a resource. */
export const runProcess = (
  command: string,
  args: readonly string[],
  options: { readonly timeout: number; readonly env: NodeJS.ProcessEnv },
): { readonly status: number | null; readonly stderr: string } => {
  const { status, stderr, error } = spawnSync(command, args, {
    ...options,
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
  });
  if (error && isShortage(error)) throw error;
  if (status !== 0 && isShortageText(stderr ?? '')) throw new Error(`${command}: ${stderr.trim()}`);
  return { status, stderr: stderr ?? '' };
};

/** A connection to a unix socket; failures are emitted as its `error`. */
export const connectTo = (path: string): net.Socket => {
  try {
    mayFail('connect', 'connect', path);
  } catch (error) {
    return new net.Socket().destroy(error as Error);
  }
  return net.connect(path);
};

/** The kernel's name of an error, such as `EMFILE`; empty for other errors. */
export const errnoOf = (error: unknown): string => {
  const { code, info } = error as { readonly code?: unknown; readonly info?: { readonly code?: unknown } };
  // os.networkInterfaces() puts it into `info`.
  const name = info?.code ?? code;
  return typeof name === 'string' && /^E[A-Z0-9]+$/.test(name) ? name : '';
};

const GONE: readonly string[] = ['ENOENT', 'ESRCH'];
const SHORTAGES: readonly string[] = ['EMFILE', 'ENFILE', 'ENOMEM', 'EIO', 'EAGAIN', 'EINTR', 'ENOBUFS'];

/** Whether the error proves that a file or process does not exist. Any other error proves nothing. */
export const isGone = (error: unknown): boolean => GONE.includes(errnoOf(error));

/**
 * Whether the machine is short of a resource or has failed: the error says nothing about the file or process, and a
 * retry may succeed.
 */
export const isShortage = (error: unknown): boolean => SHORTAGES.includes(errnoOf(error));

/** The same for the message of a shell or tool that ended because of it. */
export const isShortageText = (text: string): boolean =>
  /cannot fork|fork[^\n]*(failed|retry)|resource temporarily unavailable|cannot allocate memory|too many open files/i.test(
    text,
  );

/** The text of the file; undefined for a missing file. Errors: the file may exist, but cannot be read. */
export const readIfThere = (path: string | Buffer): string | undefined => {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
};

/** Whether the path exists, as seen from this process. Errors: the machine cannot report it. */
export const isThere = (path: string): boolean => {
  try {
    statSync(path);
    return true;
  } catch (error) {
    if (isShortage(error)) throw error;
    return false;
  }
};
