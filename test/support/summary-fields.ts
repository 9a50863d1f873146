/** A field is a path such as `pods[].cpu.time`; `[]` is each element of a list. */
type Fields = Readonly<Record<string, object | true>>;

const all = (...names: readonly string[]): Fields => Object.fromEntries(names.map((name) => [name, true as const]));

const DATA = all('total', 'avg10', 'avg60', 'avg300');
const PSI = { full: DATA, some: DATA };
const CPU = { ...all('time', 'usageNanoCores', 'usageCoreNanoSeconds'), psi: PSI };
const MEMORY = {
  ...all('time', 'availableBytes', 'usageBytes', 'workingSetBytes', 'rssBytes', 'pageFaults', 'majorPageFaults'),
  psi: PSI,
};
const IO = { ...all('time'), psi: PSI };
const SWAP = all('time', 'swapAvailableBytes', 'swapUsageBytes');
const FS = all('time', 'availableBytes', 'capacityBytes', 'usedBytes', 'inodesFree', 'inodes', 'inodesUsed');
const INTERFACE = all('name', 'rxBytes', 'rxErrors', 'txBytes', 'txErrors');
const NETWORK = { ...all('time'), ...INTERFACE, 'interfaces[]': INTERFACE };
const CONTAINER = {
  ...all('name', 'startTime', 'accelerators[]', 'userDefinedMetrics[]'),
  ...{ cpu: CPU, memory: MEMORY, io: IO, rootfs: FS, logs: FS, swap: SWAP },
};
const VOLUME = { ...FS, ...all('name'), pvcRef: all('name', 'namespace'), volumeHealthStats: all('abnormal') };
const NODE = {
  ...all('nodeName', 'startTime'),
  ...{ 'systemContainers[]': CONTAINER, cpu: CPU, memory: MEMORY, io: IO, network: NETWORK, fs: FS, swap: SWAP },
  ...{ runtime: { imageFs: FS, containerFs: FS }, rlimit: all('time', 'maxpid', 'curproc') },
};
const POD = {
  ...{ podRef: all('name', 'namespace', 'uid'), ...all('startTime'), 'containers[]': CONTAINER },
  ...{ cpu: CPU, memory: MEMORY, io: IO, network: NETWORK, 'volume[]': VOLUME, 'ephemeral-storage': FS, swap: SWAP },
  process_stats: all('process_count'),
};

/** The reasons why this agent never has a field, or one below it. Each is in docs/stats.md. */
const NEVER: readonly (readonly [field: RegExp, reason: string])[] = [
  [/\.accelerators\[\]/, 'cAdvisor has none any more'],
  [/\.userDefinedMetrics\[\]/, 'removed in Kubernetes 1.37'],
  [/^node\.systemContainers\[\]\.(rootfs|logs)\b/, 'a kubelet leaves them out: they have no file system of their own'],
  [/\.volume\[\]\.pvcRef\b/, 'no claim of a volume runs on this agent'],
  [/\.volume\[\]\.volumeHealthStats\b/, 'only CSI drivers report it'],
];

const pathsOf = (fields: Fields, above: string): readonly string[] =>
  Object.entries(fields).flatMap(([name, below]) =>
    below === true ? [`${above}${name}`] : pathsOf(below as Fields, `${above}${name}.`),
  );

/** Every field of the summary that has a value of its own. Source: staging/src/k8s.io/kubelet/pkg/apis/stats/v1alpha1/types.go */
export const FIELDS_OF_UPSTREAM = pathsOf({ node: NODE, 'pods[]': POD }, '');

/** Those that this agent has where the machine and the runtime report everything. */
export const SUMMARY_FIELDS = FIELDS_OF_UPSTREAM.filter((field) => !NEVER.some(([never]) => never.test(field)));

/** The fields with a value in a summary, each once. */
export const fieldsOf = (value: unknown, path = ''): readonly string[] => {
  if (value === null || value === undefined) return [];
  if (Array.isArray(value)) return [...new Set(value.flatMap((each) => fieldsOf(each, `${path}[]`)))];
  if (typeof value !== 'object') return [path];
  return Object.entries(value).flatMap(([name, below]) => fieldsOf(below, path === '' ? name : `${path}.${name}`));
};
