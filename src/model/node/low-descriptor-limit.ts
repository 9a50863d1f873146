/** The pods of a node by default, and containers of a pod with two sidecars. */
const PODS = 110;
const CONTAINERS = 3 * PODS;

/** The descriptors that each process keeps open at a time: for itself, and for each container. */
const NEEDS = {
  /** The connections of a liveness and of a readiness probe. */
  agent: { own: 64, ofContainer: 2 },
  /** The log, the checkpoint of the log, and two raw files. */
  'embedded runtime': { own: 64, ofContainer: 4 },
} as const;

/**
 * Returns the warning of a hard limit of open files that is below what 110 pods need, with what it is enough for; undefined if it is
 * not. `limits` is `/proc/<pid>/limits` of a process that Node has raised to its hard limit.
 *
 * Source: ours; pkg/kubelet/kubelet.go sets the limit to `maxOpenFiles`, and only logs that it cannot.
 */
export const lowDescriptorLimit = (limits: string, process: keyof typeof NEEDS): string | undefined => {
  const limit = Number(/^Max open files\s+\S+\s+(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
  const { own, ofContainer } = NEEDS[process];
  const needed = own + ofContainer * CONTAINERS;
  if (limit >= needed) return undefined;
  const containers = Math.max(0, Math.floor((limit - own) / ofContainer));
  return `the hard limit of open files, ${limit}, is low: it is enough for about ${containers} containers, and ${PODS} pods of three need ${needed} in the ${process}`;
};
