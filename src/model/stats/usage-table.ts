/** The part of the summary of the stats API that a table needs. */
export interface SummaryUsage {
  readonly cpu?: { readonly time?: string; readonly usageCoreNanoSeconds?: number };
  readonly memory?: { readonly workingSetBytes?: number };
}

export interface SummaryOfPods {
  readonly node: SummaryUsage & { readonly nodeName: string };
  readonly pods: readonly (SummaryUsage & {
    readonly podRef: { readonly name: string; readonly namespace: string; readonly uid: string };
    readonly containers?: readonly (SummaryUsage & { readonly name: string })[];
  })[];
}

/** Nanocores between two samples of one cgroup; undefined without both, and for a new instance of a container. */
export const cpuRate = (before: SummaryUsage | undefined, after: SummaryUsage): number | undefined => {
  const [first, last] = [before?.cpu, after.cpu];
  if (first?.usageCoreNanoSeconds === undefined || last?.usageCoreNanoSeconds === undefined) return undefined;
  const milliseconds = Date.parse(last.time ?? '') - Date.parse(first.time ?? '');
  const nanoseconds = last.usageCoreNanoSeconds - first.usageCoreNanoSeconds;
  return milliseconds > 0 && nanoseconds >= 0 ? (1_000 * nanoseconds) / milliseconds : undefined;
};

export interface UsageRow {
  readonly namespace?: string;
  readonly pod?: string;
  readonly name: string;
  /** Nanocores. */
  readonly cpu: number | undefined;
  readonly memory: number | undefined;
}

/** One row for each pod of the later sample, or for each of its containers. */
export const usageRows = (before: SummaryOfPods, after: SummaryOfPods, ofContainers: boolean): readonly UsageRow[] =>
  after.pods.flatMap((pod): readonly UsageRow[] => {
    const { namespace, name } = pod.podRef;
    const former = before.pods.find(({ podRef }) => podRef.uid === pod.podRef.uid);
    if (!ofContainers) return [{ namespace, name, cpu: cpuRate(former, pod), memory: pod.memory?.workingSetBytes }];
    return (pod.containers ?? []).map((container) => ({
      ...{ namespace, pod: name, name: container.name, memory: container.memory?.workingSetBytes },
      cpu: cpuRate(
        former?.containers?.find((one) => one.name === container.name),
        container,
      ),
    }));
  });

/** By namespace and name, or by the larger amount first. */
export const sortedUsage = (rows: readonly UsageRow[], by: 'cpu' | 'memory' | undefined): readonly UsageRow[] => {
  const keyOf = ({ namespace = '', pod = '', name }: UsageRow): string => `${namespace}/${pod}/${name}`;
  return rows.toSorted(
    (a, b) => (by === undefined ? 0 : (b[by] ?? -1) - (a[by] ?? -1)) || (keyOf(a) < keyOf(b) ? -1 : 1),
  );
};

const NANOCORES_IN_MILLICORE = 1_000_000;
const MEBIBYTE = 2 ** 20;
const UNKNOWN = '<unknown>';

/** Source: staging/src/k8s.io/kubectl/pkg/metricsutil/metrics_printer.go printSingleResourceUsage; CPU is rounded up as a Quantity is */
export const cpuText = (nanocores: number | undefined): string =>
  nanocores === undefined ? UNKNOWN : `${Math.ceil(nanocores / NANOCORES_IN_MILLICORE)}m`;

export const memoryText = (bytes: number | undefined): string =>
  bytes === undefined ? UNKNOWN : `${Math.floor(bytes / MEBIBYTE)}Mi`;

/** Whole percents of a total, downwards. */
export const percentText = (amount: number | undefined, total: number): string =>
  amount === undefined || total <= 0 ? UNKNOWN : `${Math.floor((100 * amount) / total)}%`;
