import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Confinement } from './confinement.js';
import { DEFAULT_PATH, type Isolation } from './isolation.js';
import { payloadScript, type PayloadPlan } from './payload.js';
import { childrenOf, parseStat, processId, type ProcessId } from './process-tree.js';
import { shellQuote, shellWords } from './shell-quote.js';

/**
 * Where a supervisor keeps what only it writes. Watching this directory is watching the container. Every attempt to start has
 * one of its own, so that a supervisor which a crash left behind can never take a later one's place.
 */
export const ioFiles = (directory: string): IoFiles => ({
  directory,
  stdout: join(directory, 'stdout'),
  stderr: join(directory, 'stderr'),
  exit: join(directory, 'exit'),
  claim: join(directory, 'supervisor'),
  startError: join(directory, 'start-error'),
});

const SILENCE_MS = 60_000;
const STRAY_WRITER_MS = 2_000;

interface IoFiles {
  readonly directory: string;
  readonly stdout: string;
  readonly stderr: string;
  /** The exit code and a newline. */
  readonly exit: string;
  /** The supervisor's line of /proc/<pid>/stat; whoever makes this file decides whether anything runs. */
  readonly claim: string;
  readonly startError: string;
}

export interface LaunchPlan {
  /** New for every attempt; see `ioFiles`. */
  readonly ioDirectory: string;
  /** Shell lines that put the supervisor where it survives the container's end. */
  readonly supervisorJoin: string;
  readonly confinement: Confinement;
  /** `nsenter` and friends in front of the payload; empty without namespaces. */
  readonly enter: readonly string[];
  readonly payload: PayloadPlan;
}

export interface Launched {
  /** Settles with nothing when the supervisor has ended. */
  readonly supervisorExit: Promise<void>;
  /** The reason why nothing runs; undefined when it runs. */
  readonly startError: string | undefined;
}

/** Shell lines that go on only if this process is the first to claim. */
export const claimScript = (claimFile: string): string => `
read -r line < /proc/$$/stat
set -C
{ printf '%s\\n' "$line" > ${shellQuote(claimFile)}; } 2>/dev/null || exit 0
set +C`;

/**
 * The supervisor is a small shell of its own session, so that it outlives the runtime. Between the payload and the raw files
 * stand pipes and two `cat`s: were the files themselves the payload's output, a script's `echo >/dev/stderr` would truncate them.
 */
const supervisorScript = (plan: LaunchPlan, isolation: Isolation, payloadFile: string): string => {
  const io = ioFiles(plan.ioDirectory);
  const [out, err] = [shellQuote(`${io.stdout}.fifo`), shellQuote(`${io.stderr}.fifo`)];
  const cat = isolation.tools.get('cat') ?? 'cat';
  return `
trap : HUP INT QUIT TERM USR1 USR2 ALRM PIPE
${claimScript(io.claim)}
{ ${plan.supervisorJoin}
} 2>/dev/null
${isolation.tools.get('mkfifo') ?? 'mkfifo'} -m 666 ${out} ${err}
${cat} < ${out} >> ${shellQuote(io.stdout)} 3>&- &
${cat} < ${err} >> ${shellQuote(io.stderr)} 3>&- &
( { ${plan.confinement.joinScript}
} 2>/dev/null; exec ${shellWords([...plan.enter, '/bin/sh', payloadFile])} ) < /dev/null > ${out} 2> ${err}
code=$?
exec 3>&-
printf '%s\\n' "$code" > ${shellQuote(io.exit)}
wait
exit "$code"
`;
};

/** Starts the container's process. Resolves once it runs or is known not to. */
export const launch = async (plan: LaunchPlan, isolation: Isolation): Promise<Launched> => {
  const io = ioFiles(plan.ioDirectory);
  const supervisorFile = join(io.directory, 'supervise.sh');
  const payloadFile = join(io.directory, 'payload.sh');
  mkdirSync(io.directory, { recursive: true, mode: 0o711 });
  for (const raw of [io.stdout, io.stderr]) writeFileSync(raw, '', { mode: 0o600 });
  writeFileSync(payloadFile, payloadScript(plan.payload, isolation, io.startError), { mode: 0o600 });
  writeFileSync(supervisorFile, supervisorScript(plan, isolation, payloadFile), { mode: 0o600 });
  const child = spawnShell(supervisorFile);
  const supervisorExit = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  const line = await firstLine(child, supervisorExit);
  return { supervisorExit, startError: line === 'ready' ? undefined : startErrorOf(plan.ioDirectory) };
};

/** A detached shell whose descriptor 3 is a pipe to this process. */
export const spawnShell = (script: string): ChildProcess => {
  const child = spawn('/bin/sh', [script], {
    cwd: '/',
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    env: { PATH: DEFAULT_PATH },
  });
  child.unref();
  return child;
};

/** What the child says first on descriptor 3; empty when it ends, closes it, or says nothing for a minute (a hanging mount). */
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
    // What it said last may still be in the pipe, whose own end settles this; only a stray writer would keep that open.
    void ended.then(() => setTimeout(() => settle(''), STRAY_WRITER_MS).unref());
  });

const readText = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
};

/** Why the container's process did not come to run, as far as anybody wrote it down. */
export const startErrorOf = (ioDirectory: string): string => {
  const io = ioFiles(ioDirectory);
  return (
    readText(io.startError) ??
    (readText(io.stderr)?.trim().slice(-1024) || 'the process ended before it could be started')
  );
};

/** Who claimed the container: a supervisor, nobody yet, or an adopter that forbade the start. */
export const claimOf = (ioDirectory: string): ProcessId | 'unclaimed' | 'forbidden' => {
  const line = readText(ioFiles(ioDirectory).claim);
  if (line === undefined) return 'unclaimed';
  return parseStat(line) ?? 'forbidden';
};

/** Forbids a supervisor that may still be starting. False when one was faster. */
export const forbidStart = (ioDirectory: string): boolean => {
  try {
    mkdirSync(ioFiles(ioDirectory).directory, { recursive: true, mode: 0o711 });
    writeFileSync(ioFiles(ioDirectory).claim, 'forbidden\n', { flag: 'wx' });
    return true;
  } catch {
    return false;
  }
};

/** The payload's process: the supervisor's youngest child, or the child of that where `nsenter` had to fork. */
export const mainProcess = (supervisor: ProcessId, entersPidNamespace: boolean): ProcessId | undefined => {
  const youngest = childrenOf(supervisor.pid).at(-1);
  const pid = entersPidNamespace && youngest !== undefined ? childrenOf(youngest)[0] : youngest;
  return pid === undefined ? undefined : processId(pid);
};
