/** Fields of a `KubeletConfiguration`: failing containers wait a second instead of minutes. */
export const QUICK_RESTARTS = {
  featureGates: { KubeletCrashLoopBackOffMax: true },
  crashLoopBackOff: { maxContainerRestartPeriod: '1s' },
};
