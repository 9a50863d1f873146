import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import writeFileAtomic from 'write-file-atomic';

/** What a running agent says about itself, for the other commands. */
export interface AgentInfo {
  readonly pid: number;
  /** Of its local server; absent while there is none. */
  readonly url?: string;
  /** RFC 3339. */
  readonly startedAt: string;
  readonly node: string;
}

export const writeAgentFile = (path: string, info: AgentInfo): void => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileAtomic.sync(path, `${JSON.stringify(info)}\n`);
};

export const removeAgentFile = (path: string): void => rmSync(path, { force: true });

/** What the agent of that file said last; nothing when there is none, or when it was not stopped and left nonsense. */
export const readAgentFile = (path: string): AgentInfo | undefined => {
  try {
    const info = JSON.parse(readFileSync(path, 'utf8')) as Partial<AgentInfo> | null;
    return typeof info?.pid === 'number' && typeof info.node === 'string' ? (info as AgentInfo) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
};
