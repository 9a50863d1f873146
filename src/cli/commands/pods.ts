import { readJournal } from '../../journal/journal-reader.js';
import type { Pod } from '../../model/pod/pod.js';
import { askAgent } from '../running-agent/ask-agent.js';
import type { AgentPaths } from '../config/settings/agent-paths.js';
import { podRow } from '../screen/pod-row.js';
import { refusedIn } from '../running-agent/refused-manifests.js';
import { podTable } from '../screen/pod-table.js';

export interface PodsOptions {
  readonly output: 'table' | 'wide' | 'json';
}

/** Prints the pods of the agent that uses these paths. Errors: no agent runs there, or it does not reply. */
export const printPods = async (paths: AgentPaths, { output }: PodsOptions): Promise<void> => {
  const text = await askAgent(paths, '/pods');
  if (output === 'json') {
    process.stdout.write(`${JSON.stringify(JSON.parse(text), undefined, 2)}\n`);
    return;
  }
  const { items } = JSON.parse(text) as { readonly items: readonly Pod[] | null };
  if (!items || items.length === 0) process.stderr.write('No pods found.\n');
  else {
    const now = Date.now();
    const rows = items.map((pod) => podRow(pod, now));
    process.stdout.write(`${podTable(rows, output === 'wide' ? 'wide' : 'narrow')}\n`);
  }
  for (const line of refusedIn(readJournal(paths.journalDir).entries)) process.stderr.write(`refused: ${line}\n`);
};
