import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { defer, ignoreElements, map, merge, Observable, Subject } from 'rxjs';
import { replaceFile } from '../../processes/replace-file.js';
import { sendSignal } from '../../processes/send-signal.js';
import type { ShutdownInhibitor, ShutdownLock, ShutdownSignal } from '../../streams/ports/shutdown-inhibitor.js';
import {
  delaySettings,
  lockArgs,
  maxDelayArgs,
  printedDelayMs,
  printedSignal,
  reloadArgs,
  watchArgs,
  WATCHING,
} from './logind-call.js';

export interface LogindOptions {
  /** The folder of the settings of logind. Default: that of the machine. */
  readonly settingsDirectory?: string;
  /** The environment of the programs of systemd. Default: that of the agent. */
  readonly env?: NodeJS.ProcessEnv;
}

/** Upstream's file, so that a kubelet and this agent replace each other's. */
const SETTINGS_FILE = '99-kubelet.conf';

/**
 * The shutdown of a machine with systemd. logind passes its lock as a descriptor, which Node cannot receive: the program
 * `systemd-inhibit` holds it, until its input ends, and so never longer than the agent. `busctl` does the rest.
 *
 * Errors: the error output of the program.
 */
export const logind = ({
  settingsDirectory = '/etc/systemd/logind.conf.d',
  env = process.env,
}: LogindOptions = {}): ShutdownInhibitor => {
  const lost$ = new Subject<Error>();
  const releases = new Map<ShutdownLock, () => void>();
  let newest = 0;
  const options = { env: { ...env, LC_ALL: 'C', SYSTEMD_LOG_LEVEL: 'info', SYSTEMD_LOG_TARGET: 'console' } };
  const busctl = async (args: readonly string[]): Promise<string> => {
    try {
      return (await run('busctl', [...args], options)).stdout;
    } catch (error) {
      const { stderr = '', message } = error as { readonly stderr?: string; readonly message: string };
      throw new Error(`logind: ${stderr.trim() || message}`, { cause: error });
    }
  };
  return {
    maxDelayMs: () => defer(() => busctl(maxDelayArgs)).pipe(map(printedDelayMs)),
    setMaxDelay: (seconds) =>
      defer(async () => {
        await replaceFile(join(settingsDirectory, SETTINGS_FILE), delaySettings(seconds), {
          mode: 0o644,
          directoryMode: 0o755,
        });
        await busctl(reloadArgs);
      }).pipe(ignoreElements()),
    takeLock: () =>
      takeLock(options, (error) => lost$.next(error)).pipe(
        map((release) => {
          const lock = (newest += 1);
          releases.set(lock, release);
          return lock;
        }),
      ),
    releaseLock: (lock) => {
      releases.get(lock)?.();
      releases.delete(lock);
    },
    watch: () => merge(watchSignals(options), lost$.pipe(map(thrown))),
  };
};

const run = promisify(execFile);

const thrown = (error: Error): never => {
  throw error;
};

interface ProgramOptions {
  readonly env: NodeJS.ProcessEnv;
}

/** Holds a lock by a process, and emits what releases it. `lost` is called if the process ends without a release. */
const takeLock = (options: ProgramOptions, lost: (error: Error) => void): Observable<() => void> =>
  new Observable((subscriber) => {
    // In a session of its own: an interrupt from the terminal of the agent must not end the lock.
    const child = spawn('systemd-inhibit', lockArgs, { ...options, detached: true, stdio: 'pipe' });
    const errors = errorOutput(child.stderr);
    let phase: 'requested' | 'held' | 'released' = 'requested';
    const release = (): void => {
      phase = 'released';
      child.stdin.end();
    };
    child.stdout.once('data', () => {
      if (phase !== 'requested') return;
      phase = 'held';
      subscriber.next(release);
      subscriber.complete();
    });
    child.on('error', (error) => subscriber.error(new Error(`logind: ${error.message}`, { cause: error })));
    child.on('close', () => subscriber.error(new Error(`logind: ${errors() || 'systemd-inhibit has ended'}`)));
    child.on('exit', () => {
      if (phase === 'held') lost(new Error('logind: systemd-inhibit has ended, and with it the lock'));
    });
    // A process that has ended closes its input, and is reported by its end.
    child.stdin.on('error', () => undefined);
    child.stdin.write('held\n');
    return () => {
      if (phase !== 'requested') return;
      release();
      endProcess(child);
    };
  });

/** Watches the signals by a process that ends with the agent, also where the agent is killed: no message would end it then. */
const watchSignals = (options: ProgramOptions): Observable<ShutdownSignal> =>
  new Observable((subscriber) => {
    const child = spawn('setpriv', ['--pdeathsig', 'TERM', 'busctl', ...watchArgs], {
      ...options,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const errors = errorOutput(child.stderr);
    let isWatching = false;
    const begin = (): void => {
      if (!isWatching) subscriber.next('watching');
      isWatching = true;
    };
    createInterface({ input: child.stderr }).on('line', (line) => {
      if (line === WATCHING) begin();
    });
    createInterface({ input: child.stdout }).on('line', (line) => {
      try {
        const signal = printedSignal(line);
        if (signal === undefined) return;
        begin();
        subscriber.next(signal);
      } catch (error) {
        subscriber.error(error);
      }
    });
    child.on('error', (error) => subscriber.error(new Error(`logind: ${error.message}`, { cause: error })));
    child.on('close', () => subscriber.error(new Error(`logind: ${errors() || 'busctl has ended'}`)));
    return () => endProcess(child);
  });

const LONGEST_ERROR = 4_096;

/** Returns the beginning of the error output so far, without the line that is none. */
const errorOutput = (stream: NodeJS.ReadableStream): (() => string) => {
  let text = '';
  stream.on('data', (chunk: Buffer) => {
    if (text.length < LONGEST_ERROR) text += chunk.toString();
  });
  return () => text.replace(WATCHING, '').trim();
};

/** The number of a process belongs to it until its end was received. */
const endProcess = ({ pid, exitCode, signalCode }: ChildProcess): void => {
  if (pid !== undefined && exitCode === null && signalCode === null) sendSignal(pid, 'SIGTERM');
};
