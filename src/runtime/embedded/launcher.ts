import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import type { Confinement } from './confinement.js';
import { inputLines } from './container-input.js';
import { DEFAULT_PATH, type Isolation } from './isolation.js';
import { errnoOf, makeDirectories, readIfThere, startProcess, isShortageText, writeFileSync } from './machine.js';
import { payloadScript, type PayloadPlan } from './payload.js';
import { childrenOf, parseStat, processId, type ProcessId } from './process-tree.js';
import { shellQuote, shellWords } from './shell-quote.js';
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

/** As long as the longest exit code with its newline: it is overwritten in place, which needs no space on a full disk. */
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
  /** Whether clients can attach to the input; without this and without a terminal it is empty. */
  readonly hasInput: boolean;
  readonly hasTerminal: boolean;
}

export interface Launched {
  /** Settles when the supervisor has ended. */
  readonly supervisorExit: Promise<void>;
  /** Whether the container's own process was reached; otherwise its remaining processes end soon. */
  readonly isReady: boolean;
  /** The reason why not, if it could not be written into a file. */
  readonly failure: string | undefined;
}

/**
 * A start that failed because the machine was short of a resource, before the container's own process was reached. It
 * can be retried.
 */
export class NotBegun extends Error {
  override readonly name = 'NotBegun';
}

/** Shell lines that continue only if this process is the first to claim. */
export const claimScript = (claimFile: string): string => `
read -r line < /proc/$$/stat
set -C
{ printf '%s\\n' "$line" > ${shellQuote(claimFile)}; } 2>/dev/null || exit 0
set +C`;

const NO_INPUT: ReturnType<typeof inputLines> = { before: '', from: '/dev/null', payloadCloses: '', after: '' };

/** Stands in the output of a container in place of what a full disk did not take. */
const LOST_OUTPUT = '[rx-kubelet: output was lost here, since it could not be written to the disk]';

/**
 * A shell function that copies its input, open as 0 and 6, behind a file until it ends. What cannot be written is dropped, a second of it
 * at a time, so that a container on a full disk neither waits for a reader nor ends because there is none.
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
 * The first line of the child on descriptor 3; empty if it ends, closes the descriptor, or writes nothing for a minute
 * (a hanging mount).
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
    // The last line may still be in the pipe, whose end settles this; only another process that holds the pipe would
    // delay that.
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

/** The reasons of a failed start that end with the messages of the programs that mount. */
const MOUNT_FAILED = /^(the container's own|the mount point|a mount|\/etc\/resolv\.conf) .*could not be /;

/**
 * Whether a failed start never reached the container's own process, because the machine had no process, descriptor or
 * memory left for the shells in front of it. A shell that cannot fork ends at once, without a message.
 */
export const wasNeverBegun = (ioDirectory: string): boolean => {
  const io = ioFiles(ioDirectory);
  const why = readIfThere(io.startError);
  if (why !== undefined) return MOUNT_FAILED.test(why) && isShortageText(why);
  const words = readIfThere(io.stderr) ?? '';
  return exitCodeOf(ioDirectory) === undefined || words === '' || isShortageText(words);
};

/** The claim of the container: a supervisor, none yet, or forbidden by an adopter. Errors: it cannot be read. */
export const claimOf = (ioDirectory: string): ProcessId | 'unclaimed' | 'forbidden' => {
  const line = readIfThere(ioFiles(ioDirectory).claim);
  if (line === undefined) return 'unclaimed';
  return parseStat(line) ?? 'forbidden';
};

/**
 * Forbids the claim of a supervisor that may still be starting. Returns false if a supervisor was faster. Errors: one
 * may still start.
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
 * The payload's process: the supervisor's youngest child, the child of that if `nsenter` had to fork, and the child of
 * that if `script` makes its terminal.
 */
export const mainProcess = (
  supervisor: ProcessId,
  { entersPidNamespace, hasTerminal }: { readonly entersPidNamespace: boolean; readonly hasTerminal: boolean },
): ProcessId | undefined => {
  let pid = childrenOf(supervisor.pid).at(-1);
  for (const forks of [entersPidNamespace, hasTerminal]) if (forks && pid !== undefined) pid = childrenOf(pid)[0];
  return pid === undefined ? undefined : processId(pid);
};
