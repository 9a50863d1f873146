import type { Pod } from '../../model/pod.js';
import { readAgentFile } from '../agent-file.js';
import type { AgentPaths } from '../config/agent-paths.js';
import { podRow } from '../pod-row.js';
import { podTable } from '../pod-table.js';

export interface PodsOptions {
  readonly output: 'table' | 'wide' | 'json';
}

/** Prints the pods of the agent that uses these paths. Errors: no agent runs there, or it does not answer. */
export const printPods = async (paths: AgentPaths, { output }: PodsOptions): Promise<void> => {
  const text = await askAgent(paths, '/pods');
  if (output === 'json') {
    process.stdout.write(`${JSON.stringify(JSON.parse(text), undefined, 2)}\n`);
    return;
  }
  const { items } = JSON.parse(text) as { readonly items: readonly Pod[] | null };
  if (!items || items.length === 0) {
    process.stderr.write('No pods found.\n');
    return;
  }
  const now = Date.now();
  const rows = items.map((pod) => podRow(pod, now));
  process.stdout.write(`${podTable(rows, output === 'wide' ? 'wide' : 'narrow')}\n`);
};

const askAgent = async ({ agentFile, rootDir }: AgentPaths, path: string): Promise<string> => {
  const agent = readAgentFile(agentFile);
  if (!agent) throw new Error(`no agent runs on ${rootDir}: ${agentFile} is missing (--root-dir names another folder)`);
  if (agent.url === undefined) {
    throw new Error(`the agent (pid ${agent.pid}) on ${rootDir} has no local server; start it with --healthz-port`);
  }
  const url = agent.url + path;
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(10_000) });
    if (!response.ok) throw new Error(`it says ${response.status} ${response.statusText}`);
    return await response.text();
  } catch (error) {
    const { message, cause } = error as Error;
    const why = cause instanceof Error ? cause.message : message;
    throw new Error(`the agent (pid ${agent.pid}) does not answer at ${url}: ${why}`, { cause: error });
  }
};
