import { readFileSync, rmSync } from 'node:fs';
import { errorText } from '../../model/cri/cri-error.js';
import { replaceFileSync } from '../../processes/replace-file.js';
import { isProcess } from '../../processes/send-signal.js';
import type { Logger } from '../../streams/ports/logger.js';

/** The data of a running agent, for the other commands. */
export interface AgentInfo {
  readonly pid: number;
  /** The URL of its health server; absent while it does not listen. */
  readonly url?: string;
  /** RFC 3339. */
  readonly startedAt: string;
  readonly node: string;
  /** The folder of container logs. Agents of earlier versions do not write it. */
  readonly podLogsDir?: string;
  /** The socket of the container runtime. Agents of earlier versions do not write it. */
  readonly runtimeSocket?: string;
}

/** Errors: it cannot be written, as on a full disk. Then the previous file stays. */
const writeAgentFile = (path: string, info: AgentInfo): void =>
  replaceFileSync(path, `${JSON.stringify(info)}\n`, { mode: 0o644 });

/** Writes the file, or logs a warning: only other commands need it, so a full disk is no reason not to run pods. */
export const announceAgent = (path: string, info: AgentInfo, log: Logger): void => {
  try {
    writeAgentFile(path, info);
  } catch (error) {
    const consequence = 'cannot write the file with the address of the agent, so other commands may not find it';
    log.warn({ path, error: errorText(error) }, consequence);
    // The data of an earlier agent is outdated.
    if (pidIn(path) !== info.pid) removeAgentFile(path);
  }
};

const pidIn = (path: string): number | undefined => {
  try {
    return readAgentFile(path)?.pid;
  } catch {
    return undefined;
  }
};

/** A file that stays refers to an ended process, which readers detect. */
export const removeAgentFile = (path: string): void => {
  try {
    rmSync(path, { force: true });
  } catch {
    // It stays.
  }
};

/** Whether the agent of this file runs; an agent that was killed leaves its file behind. */
export const isAgentAlive = (info: AgentInfo | undefined): boolean => info !== undefined && isProcess(info.pid);

/** The data of the agent; undefined for a missing file, or for a malformed one after a crash. */
export const readAgentFile = (path: string): AgentInfo | undefined => {
  try {
    const info = JSON.parse(readFileSync(path, 'utf8')) as Partial<AgentInfo> | null;
    return typeof info?.pid === 'number' && typeof info.node === 'string' ? (info as AgentInfo) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
};
