/**
 * Returns the shell line that gives a process the soft limit of open files that the agent was started with, from the variable that
 * `bin/rx-kubelet` sets. Node raises its own, and a program such as one with `select` or one that closes every possible
 * descriptor at its start fails or takes long with the limit of Node. Empty where the limit is not known.
 */
export const softLimitLine = (env: NodeJS.ProcessEnv = process.env): string => {
  const limit = env.RX_KUBELET_SOFT_DESCRIPTORS ?? '';
  return /^(\d+|unlimited)$/.test(limit) ? `{ ulimit -S -n ${limit}; } 2>/dev/null` : '';
};
