import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import type { Confinement } from '../confinement/confinement.js';
import { inputLines } from './container-input.js';
import { DEFAULT_PATH, type Isolation } from '../confinement/isolation.js';
import {
  errnoOf,
  makeDirectories,
  readIfThere,
  startProcess,
  isShortageText,
  writeFileSync,
} from '../machine/machine.js';
import { payloadScript, type PayloadPlan } from './payload.js';
import { childrenOf, parseStat, processId, type ProcessId } from '../confinement/process-tree.js';
import { shellQuote, shellWords } from '../machine/shell-quote.js';
import { giveInput, onTerminal, writeTerminal } from './terminal.js';

/**
 * The files that only the supervisor writes. A watch of this directory watches the container. Every start attempt has
 * its own directory, so that a supervisor left by a crash can never interfere with a later one.
 */
export const ioFiles = (directory: string): IoFiles => ({
  directory,
  stdout: join(directory, 'stdout'),
  stderr: join(directory, 'stderr'),
  exit: join(directory, 'exit'),
  claim: join(directory, 'supervisor'),
  startError: join(directory, 'start-error'),
  terminal: join(directory, 'terminal'),
});

/** Text with the length of the longest exit code and a newline. The exit code overwrites it, which needs no space on a full disk. */
const NO_EXIT = '    ';
const SILENCE_MS = 60_000;
const STRAY_WRITER_MS = 2_000;

interface IoFiles {
  readonly directory: string;
  readonly stdout: string;
  readonly stderr: string;
  /** The exit code and a newline; `NO_EXIT` until the container has ended. */
  readonly exit: string;
  /** The supervisor's line of /proc/<pid>/stat; the process that creates this file decides whether the payload runs. */
  readonly claim: string;
  readonly startError: string;
  /** The device of the terminal and a newline. */
  readonly terminal: string;
}

export interface LaunchPlan {
  /** New for every attempt; see `ioFiles`. */
  readonly ioDirectory: string;
  /** Shell lines that put the supervisor into the group in which it survives the container's end. */
  readonly supervisorJoin: string;
  readonly confinement: Confinement;
  /** The prefix of the payload, such as `nsenter`; empty without namespaces. */
  readonly enter: readonly string[];
  readonly payload: PayloadPlan;
  /** Whether clients can attach to the input. The input of a container without this and without a terminal is empty. */
  readonly hasInput: boolean;
  readonly hasTerminal: boolean;
}

export interface Launched {
  /** Settles when the supervisor has ended. */
  readonly supervisorExit: Promise<void>;
  /** Whether the container's own process has started. If not, the shells before it end soon. */
  readonly isReady: boolean;
  /** The reason of a failed start, if it could not be written into a file. */
  readonly failure: string | undefined;
}

/**
 * A start that failed because the machine was short of a resource, before the container's own process was reached. It
 * can be retried.
 */
export class NotBegun extends Error {
  override readonly name = 'NotBegun';
}

/** Shell lines that exit unless this process is the first that claims the container. */
export const claimScript = (claimFile: string): string => `
read -r line < /proc/$$/stat
set -C
{ printf '%s\\n' "$line" > ${shellQuote(claimFile)}; } 2>/dev/null || exit 0
set +C`;

const NO_INPUT: ReturnType<typeof inputLines> = { before: '', from: '/dev/null', payloadCloses: '', after: '' };

/** The line in the output of a container that replaces the lines for which the disk had no space. */
const LOST_OUTPUT = '[rx-kubelet: output was lost here, since it could not be written to the disk]';

/**
 * A shell function that appends its input, open as the descriptors 0 and 6, to a file, until the input ends. On a full disk it drops the
 * input of a second and tries again. It always reads, so the container neither blocks on a full pipe nor ends by SIGPIPE.
 */
const relayFunction = (cat: string, sleep: string): string => `
relay() {
  until ${cat} >> "$1"; do
    while :; do
      ${cat} <&6 > /dev/null &
      ${sleep} 1
      kill "$!"
      wait "$!" && return
      printf '\\n%s\\n' ${shellQuote(LOST_OUTPUT)} >> "$1" && break
    done
  done
}`;

/**
 * The supervisor is a small shell in its own session, so that it outlives the runtime. Pipes and two relays stand
 * between the payload and the raw files: if the files themselves were the payload's output, a script's `echo
 * >/dev/stderr` would truncate them.
 */
const supervisorScript = (plan: LaunchPlan, isolation: Isolation, payloadFile: string): string => {
  const io = ioFiles(plan.ioDirectory);
  const [out, err] = [shellQuote(`${io.stdout}.fifo`), shellQuote(`${io.stderr}.fifo`)];
  const [cat = 'cat', sleep = 'sleep', mkfifo = 'mkfifo'] = (['cat', 'sleep', 'mkfifo'] as const).map((name) =>
    isolation.tools.get(name),
  );
  // A terminal whose input ends would end its programs.
  const isOpen = plan.hasInput || plan.hasTerminal;
  const input = isOpen ? inputLines(io.directory, { mkfifo, cat }) : NO_INPUT;
  const shell = ['/bin/sh', payloadFile];
  return `${relayFunction(cat, sleep)}
trap : HUP INT QUIT TERM USR1 USR2 ALRM PIPE
${claimScript(io.claim)}
{ ${plan.supervisorJoin}
} 2>/dev/null
${mkfifo} -m 666 ${out} ${err}
relay ${shellQuote(io.stdout)} < ${out} 6<&0 3>&- &
relay ${shellQuote(io.stderr)} < ${err} 6<&0 3>&- &
${input.before}
( { ${plan.confinement.joinScript}
} 2>/dev/null; exec ${shellWords([...plan.enter, ...(plan.hasTerminal ? onTerminal(shell, isolation) : shell)])} ) < ${input.from} > ${out} 2> ${err} ${input.payloadCloses}
code=$?
exec 3>&-
${input.after}
until printf '%s\\n' "$code" 1<> ${shellQuote(io.exit)} || ! [ -d ${shellQuote(io.directory)} ]; do ${sleep} 1; done
wait
exit "$code"
`;
};

/** Shell lines of the payload, before it changes its user and mounts. */
const standardStreams = ({ hasInput, hasTerminal, payload }: LaunchPlan, io: IoFiles): string => {
  const lines = [
    ...(hasTerminal ? [writeTerminal(io.terminal)] : []),
    ...(hasInput || hasTerminal ? [giveInput(payload.user.uid)] : []),
  ];
  return lines.map((line) => `${line}\n`).join('');
};

/** Starts the container's process. Resolves once it runs or has failed. Errors: no process could be started. */
export const launch = async (plan: LaunchPlan, isolation: Isolation): Promise<Launched> => {
  const io = ioFiles(plan.ioDirectory);
  const supervisorFile = join(io.directory, 'supervise.sh');
  const payloadFile = join(io.directory, 'payload.sh');
  makeDirectories(io.directory, 0o711);
  for (const raw of [io.stdout, io.stderr]) writeFileSync(raw, '', { mode: 0o600 });
  writeFileSync(io.exit, NO_EXIT, { mode: 0o600 });
  writeFileSync(payloadFile, `${standardStreams(plan, io)}${payloadScript(plan.payload, isolation, io.startError)}`, {
    mode: 0o600,
  });
  writeFileSync(supervisorFile, supervisorScript(plan, isolation, payloadFile), { mode: 0o600 });
  const child = await spawnShell(supervisorFile);
  const supervisorExit = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
  });
  const line = await firstLine(child, supervisorExit);
  const failure = line.startsWith('failed ') ? line.slice('failed '.length) : undefined;
  return { supervisorExit, isReady: line === 'ready', failure };
};

/** A detached shell whose descriptor 3 is a pipe to this process. */
export const spawnShell = async (script: string): Promise<ChildProcess> => {
  const child = await startProcess('/bin/sh', [script], {
    cwd: '/',
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    env: { PATH: DEFAULT_PATH },
  });
  child.unref();
  return child;
};

/**
 * Resolves with the first line of the child on descriptor 3. The line is empty if the child ends, closes the descriptor, or writes
 * nothing for a minute, as with a hanging mount.
 */
export const firstLine = (child: ChildProcess, ended: Promise<void>): Promise<string> =>
  new Promise((resolve) => {
    const pipe = child.stdio[3];
    let text = '';
    const timer = setTimeout(() => settle(''), SILENCE_MS);
    const settle = (line: string): void => {
      clearTimeout(timer);
      pipe?.destroy();
      resolve(line);
    };
    pipe?.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8');
      if (text.includes('\n')) settle(text.slice(0, text.indexOf('\n')));
    });
    pipe?.on('error', () => settle(''));
    pipe?.on('end', () => settle(''));
    // The last line may still be in the pipe, so the end of the pipe settles the promise. The timer is for another process that
    // keeps the pipe open.
    void ended.then(() => setTimeout(() => settle(''), STRAY_WRITER_MS).unref());
  });

/** The exit code; undefined until it is written. Errors: it cannot be read. */
export const exitCodeOf = (ioDirectory: string): number | undefined => {
  const code = /^\d+(?=\n)/.exec(readIfThere(ioFiles(ioDirectory).exit) ?? '')?.[0];
  return code === undefined ? undefined : Number(code);
};

/** The reason why the container's process did not start, from the files of the attempt. */
export const startErrorOf = (ioDirectory: string): string => {
  const io = ioFiles(ioDirectory);
  return (
    readIfThere(io.startError) ??
    (readIfThere(io.stderr)?.trim().slice(-1024) || 'the process ended before it could be started')
  );
};

/** Reasons of a failed start that end with the message of a program that mounts. */
const MOUNT_FAILED = /^(the container's own|the mount point|a mount|\/etc\/resolv\.conf) .*could not be /;

/**
 * Whether a start failed before the container's own process, because the machine had no process, descriptor or memory left for the
 * shells before it. A shell that cannot fork ends at once, without a message.
 */
export const wasNeverBegun = (ioDirectory: string): boolean => {
  const io = ioFiles(ioDirectory);
  const why = readIfThere(io.startError);
  if (why !== undefined) return MOUNT_FAILED.test(why) && isShortageText(why);
  const words = readIfThere(io.stderr) ?? '';
  return exitCodeOf(ioDirectory) === undefined || words === '' || isShortageText(words);
};

/** The supervisor that has claimed the container, if any; `forbidden` if an adopter forbids the claim. Errors: the file cannot be read. */
export const claimOf = (ioDirectory: string): ProcessId | 'unclaimed' | 'forbidden' => {
  const line = readIfThere(ioFiles(ioDirectory).claim);
  if (line === undefined) return 'unclaimed';
  return parseStat(line) ?? 'forbidden';
};

/**
 * Forbids the claim of a supervisor that may still be starting. Returns false if a supervisor has claimed already. Errors: the file
 * cannot be written, so a supervisor may still start.
 */
export const forbidStart = (ioDirectory: string): boolean => {
  makeDirectories(ioFiles(ioDirectory).directory, 0o711);
  try {
    writeFileSync(ioFiles(ioDirectory).claim, 'forbidden\n', { flag: 'wx' });
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  }
};

/**
 * The payload's process. It is the supervisor's youngest child. If `nsenter` forks, it is one level below; if `script` makes the
 * terminal, one more.
 */
export const mainProcess = (
  supervisor: ProcessId,
  { entersPidNamespace, hasTerminal }: { readonly entersPidNamespace: boolean; readonly hasTerminal: boolean },
): ProcessId | undefined => {
  let pid = childrenOf(supervisor.pid).at(-1);
  for (const forks of [entersPidNamespace, hasTerminal]) if (forks && pid !== undefined) pid = childrenOf(pid)[0];
  return pid === undefined ? undefined : processId(pid);
};
