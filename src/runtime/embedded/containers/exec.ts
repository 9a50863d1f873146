import type { ChildProcess } from 'node:child_process';
import { basename, dirname, join } from 'node:path';
import { status } from '@grpc/grpc-js';
import type { ExecSyncResponse } from '../../../generated/runtime/v1/api.js';
import type { Logger } from '../../../streams/ports/logger.js';
import type { Cgroup } from '../confinement/cgroup.js';
import type { CommandGroups } from './command-groups.js';
import { cgroupConfinement, killAll, type Confinement } from '../confinement/confinement.js';
import type { Container } from './container.js';
import { enterArguments } from '../sandboxes/enter.js';
import { DEFAULT_PATH, type Isolation } from '../confinement/isolation.js';
import { readIfThere, rmSync, startProcess } from '../machine/machine.js';
import { environmentOf, payloadScript } from '../launch/payload.js';
import { processId, sendSignal, sessionProcesses, usesPath, type ProcessId } from '../confinement/process-tree.js';
import { untilDone } from '../machine/retry.js';
import { invalidArgument, RuntimeError } from '../runtime-error.js';
import { shellQuote, shellWords } from '../machine/shell-quote.js';

/** The limit of both streams together, so that the reply fits into a message of 16 MiB. */
const OUTPUT_LIMIT_BYTES = 16 * 1024 * 1024 - 64 * 1024;
/** The time that a daemon started by the command may hold the pipes open. */
const DRAIN_MS = 1_000;
/** The time that a killed command may take to end before the call returns. */
const KILL_MS = 10_000;

/**
 * Named pipes stand between the command and this process: Node itself would use sockets, which the command could not
 * open as /dev/stdout or /dev/stderr. The script comes over the standard input, and has no file: a full disk has no room for one. `cat`
 * makes a pipe of that socket, which the inner shell can open as its script. The shell's own messages about signals are dropped. The exit code arrives on
 * descriptor 3, since a daemon may keep the pipes open for longer.
 */
const relayScript = (
  joinScript: string,
  enter: readonly string[],
  { fifos: [out, err] }: ExecFiles,
  { tools }: Isolation,
): string => `
exec 4>&2 2>/dev/null
${tools.get('mkfifo') ?? 'mkfifo'} -m 666 ${shellQuote(out)} ${shellQuote(err)}
${tools.get('cat') ?? 'cat'} < ${shellQuote(out)} 3>&- 4>&- &
${tools.get('cat') ?? 'cat'} < ${shellQuote(err)} >&4 3>&- 4>&- &
${tools.get('cat') ?? 'cat'} 3>&- 4>&- | ( { ${joinScript}
} 2>/dev/null; exec 5<&0 < /dev/null; exec ${shellWords([...enter, '/bin/sh', '/proc/self/fd/5'])} ) > ${shellQuote(out)} 2> ${shellQuote(err)} 4>&-
code=$?
exec 4>&-
echo "exit $code" >&3
exec 3>&-
wait
exit "$code"
`;

/**
 * Runs a command beside the container's main process, with the same user and environment. Output beyond the limit is
 * dropped. Errors: DEADLINE_EXCEEDED after `timeoutSeconds` (0: never), when the command and all its descendants are
 * killed; the same on `signal`; UNKNOWN if the command cannot be run. An exit code is always one of the command itself,
 * never of the shells around it.
 */
export const execSync = async (
  container: Container,
  command: readonly string[],
  timeoutSeconds: number,
  options: ExecOptions,
): Promise<ExecSyncResponse> => {
  if (command.length === 0) throw invalidArgument('cmd: expected a command');
  if (options.signal.aborted) throw cancelled();
  const { name, group: cgroup } = options.groups.next(container);
  const base = join(options.scratchDirectory, name);
  const files: ExecFiles = {
    error: `${base}.error`,
    fifos: [`${base}.stdout`, `${base}.stderr`],
  };
  try {
    cgroup?.create();
    const child = await startCommand(container, command, files, cgroup, options.isolation);
    const confinement = cgroup ? cgroupConfinement(cgroup) : sessionConfinement(child, base);
    const relay = sessionConfinement(child, base);
    return await outcomeOf(child, { confinement, relay }, { container, command, timeoutSeconds, files }, options);
  } finally {
    clearAway(files);
    options.groups.remove(container, cgroup);
  }
};

interface ExecOptions {
  readonly isolation: Isolation;
  readonly groups: CommandGroups;
  readonly scratchDirectory: string;
  readonly signal: AbortSignal;
  readonly log: Logger;
}

interface ExecFiles {
  readonly error: string;
  readonly fifos: readonly [stdout: string, stderr: string];
}

/** Errors: no process could be started. */
const startCommand = async (
  { record, config, sandbox, confinement }: Container,
  command: readonly string[],
  files: ExecFiles,
  cgroup: Cgroup | undefined,
  isolation: Isolation,
): Promise<ChildProcess> => {
  const payload = {
    command,
    environment: environmentOf(config, record.user, sandbox.config.hostname),
    workingDirectory: config.workingDir || '/',
    user: record.user,
    mounts: undefined,
    oomScoreAdjustment: undefined,
    isCommand: true,
  };
  const enter = enterArguments(isolation, sandbox.kinds, record.main?.pid, 'none');
  const joinScript = cgroup ? cgroup.joinScript() : confinement.joinScript;
  const child = await startProcess('/bin/sh', ['-c', relayScript(joinScript, enter, files, isolation)], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    env: { PATH: DEFAULT_PATH },
  });
  // Shells that end early leave the rest unread; their end says why.
  child.stdin?.on('error', () => undefined).end(`exec 5<&-\n${payloadScript(payload, isolation, files.error)}`);
  return child;
};

const outcomeOf = async (
  child: ChildProcess,
  { confinement, relay }: { readonly confinement: Confinement; readonly relay: Confinement },
  {
    container,
    command,
    timeoutSeconds,
    files,
  }: {
    readonly container: Container;
    readonly command: readonly string[];
    readonly timeoutSeconds: number;
    readonly files: ExecFiles;
  },
  { signal, log }: ExecOptions,
): Promise<ExecSyncResponse> => {
  const output = { stdout: [] as Buffer[], stderr: [] as Buffer[], left: OUTPUT_LIMIT_BYTES };
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream]?.on('data', (chunk: Buffer) => {
      const kept = chunk.subarray(0, output.left);
      output.left -= kept.length;
      if (kept.length > 0) output[stream].push(kept);
    });
  let said = '';
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const exited = new Promise<number | undefined>((resolve) => {
    child.stdio[3]?.on('data', (chunk: Buffer) => {
      said += chunk.toString('utf8');
      const code = /^exit (\d+)\n/m.exec(said)?.[1];
      // Until the command itself runs, the code belongs to a shell or to nsenter.
      if (code !== undefined) resolve(/^ready$/m.test(said) ? Number(code) : undefined);
    });
    child.stdio[3]?.on('error', () => undefined);
    void closed.then(() => resolve(undefined));
  });
  let timer: NodeJS.Timeout | undefined;
  let onAbort: (() => void) | undefined;
  try {
    const interrupted = new Promise<'timeout' | 'cancelled'>((resolve) => {
      if (timeoutSeconds > 0)
        timer = setTimeout(() => resolve('timeout'), Math.min(timeoutSeconds * 1000, 2_147_483_647));
      onAbort = () => resolve('cancelled');
      signal.addEventListener('abort', onAbort);
      // It may have fired while the process was started.
      if (signal.aborted) onAbort();
    });
    const outcome = await Promise.race([exited, interrupted]);
    if (typeof outcome === 'string') {
      const isOver = (): boolean => container.record.state !== 'running';
      const what = 'cannot end a command that exceeded its timeout';
      // The relay may not have begun the command yet, and would wait for ever for pipes that are removed.
      const hasRelayEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
      const more = { what, fields: { command }, log };
      const ended = Promise.all([
        untilDone(() => killAll(relay, KILL_MS), { ...more, isOver: hasRelayEnded }),
        untilDone(() => killAll(confinement, KILL_MS), { ...more, isOver }),
      ]);
      // The call returns even if the machine cannot report whether the command has ended.
      await within(ended, KILL_MS);
      throw outcome === 'timeout'
        ? new RuntimeError(
            status.DEADLINE_EXCEEDED,
            `command ${JSON.stringify(command)} timed out after ${timeoutSeconds}s`,
          )
        : cancelled();
    }
    const startError = readIfThere(files.error) ?? /^failed (.*)$/m.exec(said)?.[1];
    if (startError !== undefined) throw new RuntimeError(status.UNKNOWN, startError);
    await within(closed, DRAIN_MS);
    const [stdout, stderr] = [Buffer.concat(output.stdout), Buffer.concat(output.stderr)];
    if (outcome === undefined)
      throw new RuntimeError(
        status.UNKNOWN,
        `command ${JSON.stringify(command)} could not be run: ${stderr.toString('utf8').trim().slice(-1024) || 'no process could be started'}`,
      );
    return { stdout, stderr, exitCode: outcome };
  } finally {
    clearTimeout(timer);
    if (onAbort) signal.removeEventListener('abort', onAbort);
    child.stdin?.destroy();
    child.stdout?.destroy();
    child.stderr?.destroy();
    child.stdio[3]?.destroy();
  }
};

const cancelled = (): RuntimeError => new RuntimeError(status.CANCELLED, 'the client cancelled the call');

/** Files that cannot be removed now are removed with the container. */
const clearAway = ({ error, fifos }: ExecFiles): void => {
  for (const path of [error, ...fifos])
    try {
      rmSync(path, { force: true });
    } catch {
      // They are removed with the container.
    }
};

const within = async (promise: Promise<unknown>, ms: number): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([promise, new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)))]);
  clearTimeout(timer);
};

/** The session of a relay, which uses files whose paths begin with `base`. */
export const sessionConfinement = (relay: ChildProcess, base: string): Confinement => {
  const file = `${basename(dirname(base))}/${basename(base)}.`;
  let leader: ProcessId | undefined;
  const pids = (): number[] => {
    if (relay.pid === undefined) return [];
    // The number belongs to the child until Node reports its end.
    if (relay.exitCode === null && relay.signalCode === null) leader ??= processId(relay.pid);
    return sessionProcesses(leader ?? { pid: relay.pid, startTime: 'unknown' }, (pid) => usesPath(pid, file));
  };
  return {
    joinScript: ':',
    pids,
    kill: () => pids().forEach((pid) => sendSignal(pid, 'SIGKILL')),
    remove: () => Promise.resolve(),
  };
};
