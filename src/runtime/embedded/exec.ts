import { spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { constants } from 'node:os';
import { status } from '@grpc/grpc-js';
import type { ExecSyncResponse } from '../../generated/runtime/v1/api.js';
import { cgroupConfinement, killAll, type Confinement } from './confinement.js';
import type { Container } from './container.js';
import { enterArguments } from './enter.js';
import { DEFAULT_PATH, type Isolation } from './isolation.js';
import { environmentOf, payloadScript } from './payload.js';
import { sendSignal, sessionProcesses } from './process-tree.js';
import { invalidArgument, RuntimeError } from './runtime-error.js';
import { shellQuote, shellWords } from './shell-quote.js';
import { readText } from './cgroup.js';

/** Both streams together, so that the answer fits into a message of 16 MiB. */
const OUTPUT_LIMIT_BYTES = 16 * 1024 * 1024 - 64 * 1024;
/** What a daemon left by the command may hold the pipes open for. */
const DRAIN_MS = 1_000;

let execs = 0;

/**
 * Between the command and this process stand named pipes: what Node itself makes are sockets, which nobody can open again as
 * /dev/stdout or /dev/stderr. The shell's own words about signals go nowhere. The exit code comes on descriptor 3, since a daemon may keep the pipes open for longer.
 */
const relayScript = (
  joinScript: string,
  command: readonly string[],
  [out, err]: readonly [string, string],
  { tools }: Isolation,
): string => `
exec 4>&2 2>/dev/null
${tools.get('mkfifo') ?? 'mkfifo'} -m 666 ${shellQuote(out)} ${shellQuote(err)}
${tools.get('cat') ?? 'cat'} < ${shellQuote(out)} 3>&- 4>&- &
${tools.get('cat') ?? 'cat'} < ${shellQuote(err)} >&4 3>&- 4>&- &
( { ${joinScript}
} 2>/dev/null; exec ${shellWords(command)} ) > ${shellQuote(out)} 2> ${shellQuote(err)} 4>&-
code=$?
exec 4>&-
echo "exit $code" >&3
exec 3>&-
wait
exit "$code"
`;

/**
 * Runs a command beside the container's main process, as the same user and with the same environment. Output beyond the limit is
 * dropped. Errors: DEADLINE_EXCEEDED after `timeoutSeconds` (0: never), when the command and all its descendants are killed; the same on
 * `signal`; UNKNOWN when the command cannot be run at all.
 */
export const execSync = async (
  container: Container,
  command: readonly string[],
  timeoutSeconds: number,
  options: { readonly isolation: Isolation; readonly scratchDirectory: string; readonly signal: AbortSignal },
): Promise<ExecSyncResponse> => {
  if (command.length === 0) throw invalidArgument('cmd: a command is needed');
  const { isolation, scratchDirectory, signal } = options;
  const { record, config, sandbox } = container;
  execs += 1;
  const script = join(scratchDirectory, `exec-${execs}.sh`);
  const errorFile = join(scratchDirectory, `exec-${execs}.error`);
  const cgroup = container.cgroup?.child(`exec-${execs}`);
  cgroup?.create();
  const payload = {
    command,
    environment: environmentOf(config, record.user, sandbox.config.hostname),
    workingDirectory: config.workingDir || '/',
    user: record.user,
    mounts: [],
    devPoints: [],
    scratchDirectory,
    oomScoreAdjustment: undefined,
  };
  writeFileSync(script, payloadScript(payload, isolation, errorFile), { mode: 0o600 });
  const enter = enterArguments(isolation, sandbox.kinds, record.main?.pid, false);
  const joinScript = cgroup ? cgroup.joinScript() : container.confinement.joinScript;
  const fifos = [
    join(scratchDirectory, `exec-${execs}.stdout`),
    join(scratchDirectory, `exec-${execs}.stderr`),
  ] as const;
  const child = spawn('/bin/sh', ['-c', relayScript(joinScript, [...enter, '/bin/sh', script], fifos, isolation)], {
    cwd: '/',
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    env: { PATH: DEFAULT_PATH },
  });
  const confinement: Confinement = cgroup ? cgroupConfinement(cgroup) : sessionConfinement(child.pid);
  const output = { stdout: [] as Buffer[], stderr: [] as Buffer[], left: OUTPUT_LIMIT_BYTES };
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream]?.on('data', (chunk: Buffer) => {
      const kept = chunk.subarray(0, output.left);
      output.left -= kept.length;
      if (kept.length > 0) output[stream].push(kept);
    });
  const exited = new Promise<number>((resolve, reject) => {
    let said = '';
    child.stdio[3]?.on('data', (chunk: Buffer) => {
      said += chunk.toString('utf8');
      const code = /^exit (\d+)\n/m.exec(said)?.[1];
      if (code !== undefined) resolve(Number(code));
    });
    child.stdio[3]?.on('error', () => undefined);
    child.once('error', reject);
    child.once('close', (code, killedBy) => resolve(code ?? 128 + constants.signals[killedBy ?? 'SIGKILL']));
  });
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  let timer: NodeJS.Timeout | undefined;
  let onAbort: (() => void) | undefined;
  try {
    const interrupted = new Promise<'timeout' | 'cancelled'>((resolve) => {
      if (timeoutSeconds > 0)
        timer = setTimeout(() => resolve('timeout'), Math.min(timeoutSeconds * 1000, 2_147_483_647));
      onAbort = () => resolve('cancelled');
      signal.addEventListener('abort', onAbort);
    });
    const outcome = await Promise.race([exited, interrupted]);
    if (typeof outcome === 'string') {
      await killAll(confinement);
      throw new RuntimeError(
        outcome === 'timeout' ? status.DEADLINE_EXCEEDED : status.CANCELLED,
        outcome === 'timeout'
          ? `command ${JSON.stringify(command)} timed out after ${timeoutSeconds}s`
          : 'the caller gave up',
      );
    }
    const startError = readText(errorFile);
    if (startError !== undefined) throw new RuntimeError(status.UNKNOWN, startError);
    await within(closed, DRAIN_MS);
    return { stdout: Buffer.concat(output.stdout), stderr: Buffer.concat(output.stderr), exitCode: outcome };
  } finally {
    clearTimeout(timer);
    if (onAbort) signal.removeEventListener('abort', onAbort);
    child.stdout?.destroy();
    child.stderr?.destroy();
    confinement.remove();
    child.stdio[3]?.destroy();
    for (const path of [script, errorFile, ...fifos]) rmSync(path, { force: true });
  }
};

const within = async (promise: Promise<void>, ms: number): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([promise, new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)))]);
  clearTimeout(timer);
};

const sessionConfinement = (session: number | undefined): Confinement => {
  const pids = (): number[] => (session === undefined ? [] : sessionProcesses(session));
  return {
    joinScript: ':',
    pids,
    kill: () => pids().forEach((pid) => sendSignal(pid, 'SIGKILL')),
    remove: () => undefined,
  };
};
