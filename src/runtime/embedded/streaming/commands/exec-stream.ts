import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { firstValueFrom, from, race, type SchedulerLike } from 'rxjs';
import { errorText } from '../../../../model/cri/cri-error.js';
import type { Logger } from '../../../../streams/ports/logger.js';
import type { Cgroup } from '../../confinement/cgroup.js';
import type { CommandGroups } from '../../containers/command-groups.js';
import { cgroupConfinement, killAll, type Confinement } from '../../confinement/confinement.js';
import type { Container } from '../../containers/container.js';
import { sessionConfinement } from '../../containers/exec.js';
import { DEFAULT_PATH, type Isolation } from '../../confinement/isolation.js';
import { readIfThere, rmSync, startProcess, writeFileSync } from '../../machine/machine.js';
import { untilDone } from '../../machine/retry.js';
import { RuntimeError } from '../../runtime-error.js';
import { aborted } from './aborted.js';
import { ExecEnds, type ExecIo } from './exec-ends.js';
import { commandScript, execFiles, relayScript, type ExecFiles } from './exec-script.js';
import { makeFifos } from '../../machine/fifo.js';
import { relayReports, type RelayReports } from './relay-reports.js';
import { resizeTerminal } from './resize-terminal.js';
import { untilQuiet } from '../sessions/session-timing.js';

export interface ExecStreamOptions {
  readonly isolation: Isolation;
  readonly groups: CommandGroups;
  readonly scratchDirectory: string;
  readonly tty: boolean;
  readonly scheduler: SchedulerLike;
  readonly log: Logger;
}

/**
 * Runs a command beside the container's main process with the streams of a client, and resolves with its exit code
 * when all its output was passed on. The command and all that it started are killed when the client has gone. Errors:
 * the command cannot be run; the client has gone.
 */
export const execStream = async (
  container: Container,
  command: readonly string[],
  io: ExecIo,
  options: ExecStreamOptions,
): Promise<number> => {
  const { name, group: cgroup } = options.groups.next(container, 'stream-');
  const base = join(options.scratchDirectory, name);
  const files = execFiles(base);
  try {
    cgroup?.create();
    return await runIn(container, { command, files, base, cgroup }, io, options);
  } finally {
    clearAway(files);
    options.groups.remove(container, cgroup);
  }
};

interface ExecPlan {
  readonly command: readonly string[];
  readonly files: ExecFiles;
  readonly base: string;
  readonly cgroup: Cgroup | undefined;
}

const runIn = async (
  container: Container,
  { command, files, base, cgroup }: ExecPlan,
  io: ExecIo,
  options: ExecStreamOptions,
): Promise<number> => {
  const { isolation, tty } = options;
  await makeFifos(isolation.tools.get('mkfifo') ?? 'mkfifo', [files.stdin, files.stdout, files.stderr]);
  const ends = new ExecEnds(files, io, tty);
  try {
    writeFileSync(files.script, commandScript(container, command, files, tty, isolation), { mode: 0o600 });
    const joinScript = cgroup ? cgroup.joinScript() : container.confinement.joinScript;
    const child = await startProcess('/bin/sh', ['-c', relayScript(container, joinScript, files, tty, isolation)], {
      cwd: '/',
      detached: true,
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
      env: { PATH: DEFAULT_PATH },
    });
    const confinement = cgroup ? cgroupConfinement(cgroup) : sessionConfinement(child, base);
    const reports = relayReports(child);
    const exitCode = await exitCodeOf(reports, ends, io, options);
    child.stdio[3]?.destroy();
    if (io.gone.aborted) {
      await killCommand(container, confinement, command, options.log);
      throw new RuntimeError(status.CANCELLED, 'the client has gone');
    }
    if (exitCode !== undefined) return exitCode;
    const why = readIfThere(files.error) ?? reports.failure() ?? ends.complaints;
    throw new RuntimeError(status.UNKNOWN, why === '' ? 'no process could be started' : why);
  } finally {
    ends.close();
  }
};

/** Resolves when the command has ended and its output was passed on, or when the client has gone. */
const exitCodeOf = async (
  reports: RelayReports,
  ends: ExecEnds,
  { gone, size$ }: ExecIo,
  { isolation, scheduler, log }: ExecStreamOptions,
): Promise<number | undefined> => {
  void reports.ready.then(() => ends.begin());
  const resizes = size$.pipe(resizeTerminal(reports.terminal, isolation)).subscribe({
    error: (error: unknown) => log.warn({ error: errorText(error) }, 'a terminal could not be resized'),
  });
  const hasGone = aborted(gone);
  try {
    const exitCode = await Promise.race([reports.exitCode, hasGone]);
    const quiet$ = untilQuiet(ends.output$, () => ends.isBlocked, scheduler);
    await firstValueFrom(race(quiet$, from(ends.closed), from(hasGone)), { defaultValue: undefined });
    return exitCode;
  } finally {
    resizes.unsubscribe();
  }
};

const killCommand = async (
  { record }: Container,
  confinement: Confinement,
  command: readonly string[],
  log: Logger,
): Promise<void> => {
  const what = 'cannot end a command whose client has gone';
  await untilDone(() => killAll(confinement), {
    what,
    fields: { command },
    log,
    isOver: () => record.state !== 'running',
  });
};

/** Files that cannot be removed now are removed with the container. */
const clearAway = (files: ExecFiles): void => {
  for (const path of Object.values(files) as string[])
    try {
      rmSync(path, { force: true });
    } catch {
      // As above.
    }
};
