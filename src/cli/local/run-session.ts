import { lastValueFrom } from 'rxjs';
import { isTerminalPhase } from '../../model/pod/pod.js';
import type { AgentPaths } from '../config/settings/agent-paths.js';
import type { FoundContainer } from './find-container.js';
import { overOwnStreams, usableIo, type WantedIo } from './local-terminal.js';
import { remoteSession } from './remote-session.js';
import { streamRequestPath } from './stream-request.js';

export interface OwnSession extends WantedIo, FoundContainer {
  readonly kind: 'exec' | 'attach';
  readonly command?: readonly string[];
  /** Whether only the output of the container is printed. */
  readonly quiet: boolean;
}

const ACTIONS = { exec: 'exec into', attach: 'attach' } as const;

/**
 * Runs a session over the standard streams, and returns its exit code.
 *
 * Errors: the pod has completed; the session is refused; it failed.
 */
export const runSession = async (paths: AgentPaths, session: OwnSession): Promise<number> => {
  const { kind, pod, quiet, notes } = session;
  const phase = pod.status?.phase;
  if (isTerminalPhase(phase)) {
    throw new Error(`cannot ${ACTIONS[kind]} a container in a completed pod; current phase is ${phase}`);
  }
  const io = usableIo(session, process.stdin.isTTY);
  if (!quiet) for (const note of [...notes, ...io.notes]) process.stderr.write(`${note}\n`);
  const path = streamRequestPath({ ...session, stdin: io.stdin, tty: io.tty });
  const end = await lastValueFrom(
    overOwnStreams(io, (own) => remoteSession({ socketPath: paths.agentSocket, path, ...own })),
  );
  if (end.kind === 'failed') throw new Error(end.message);
  if (end.exitCode !== 0) process.stderr.write(`command terminated with exit code ${end.exitCode}\n`);
  return end.exitCode;
};
