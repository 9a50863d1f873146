import { cpus, totalmem } from 'node:os';
import { from, lastValueFrom } from 'rxjs';
import { monotonicScheduler } from '../../host/monotonic-scheduler.js';
import {
  cpuRate,
  cpuText,
  memoryText,
  percentText,
  sortedUsage,
  type SummaryOfPods,
  usageRows,
} from '../../model/stats/usage-table.js';
import { twoSamples } from '../../streams/stats/two-samples.js';
import { askAgent } from '../running-agent/ask-agent.js';
import { containerTarget, findTarget } from '../local/find-container.js';
import { pathsFor } from '../arguments/prepare-run.js';
import { textTable } from '../screen/text-table.js';

/** The flags of `top`, as commander returns them. */
export interface TopFlags {
  readonly namespace?: string;
  readonly containers: boolean;
  readonly sortBy?: 'cpu' | 'memory';
  /** False with `--no-headers`. */
  readonly headers: boolean;
  readonly rootDir: string;
}

const NODES = ['node', 'nodes', 'no'];
const PODS = ['pod', 'pods', 'po'];

/**
 * Prints the use of CPU and memory of the node, or of its pods or their containers.
 *
 * Errors: it is neither; no agent runs; there is no such pod or container, or no figure of the pod yet.
 * Source: staging/src/k8s.io/kubectl/pkg/cmd/top
 */
export const printTop = async (kind: string, target: string | undefined, flags: TopFlags): Promise<void> => {
  if (!NODES.includes(kind) && !PODS.includes(kind)) {
    throw new Error(`${JSON.stringify(kind)} is unknown: expected top node or top pod`);
  }
  const paths = pathsFor(flags.rootDir);
  const read = async () => JSON.parse(await askAgent(paths, '/stats/summary')) as SummaryOfPods;
  const [before, after] = await lastValueFrom(twoSamples(() => from(read()), monotonicScheduler));
  if (!before || !after) throw new Error('the agent has no figures');
  const print = (headings: readonly string[], rows: readonly (readonly string[])[]): void =>
    void process.stdout.write(`${textTable(flags.headers ? [headings, ...rows] : rows)}\n`);
  if (NODES.includes(kind)) {
    const { nodeName, memory } = after.node;
    const [nanocores, bytes] = [cpuRate(before.node, after.node), memory?.workingSetBytes];
    const shares = [percentText(nanocores, cpus().length * 1e9), percentText(bytes, totalmem())];
    return print(
      ['NAME', 'CPU(cores)', 'CPU(%)', 'MEMORY(bytes)', 'MEMORY(%)'],
      [[nodeName, cpuText(nanocores), shares[0] ?? '', memoryText(bytes), shares[1] ?? '']],
    );
  }
  const found =
    target === undefined
      ? undefined
      : await findTarget(paths, { ...containerTarget(target, undefined), namespace: flags.namespace });
  const [meant, container] = [found?.pod.metadata, found?.container];
  const ofContainers = flags.containers || container !== undefined;
  const isMeant = ({ podRef }: SummaryOfPods['pods'][number]): boolean =>
    meant === undefined
      ? flags.namespace === undefined || podRef.namespace === flags.namespace
      : podRef.name === meant.name && podRef.namespace === meant.namespace;
  const pods = after.pods.filter(isMeant);
  if (meant && pods.length === 0) throw new Error(`there are no figures of pod ${meant.name} yet`);
  const rows = sortedUsage(usageRows(before, { ...after, pods }, ofContainers), flags.sortBy).filter(
    ({ name }) => container === undefined || name === container,
  );
  if (rows.length === 0) return void process.stderr.write('No resources found\n');
  print(
    ['NAMESPACE', ...(ofContainers ? ['POD'] : []), 'NAME', 'CPU(cores)', 'MEMORY(bytes)'],
    rows.map(({ namespace = '', pod: of, name, cpu, memory }) => [
      namespace,
      ...(of === undefined ? [] : [of]),
      name,
      cpuText(cpu),
      memoryText(memory),
    ]),
  );
};
