import type { Metrics } from './ports.js';

const nothing = (): void => undefined;

/** Measures nothing: for tests, simulations and whoever brings no registry. */
export const noMetrics: Metrics = {
  runtimeOperation: nothing,
  runPodSandbox: nothing,
  podStarted: nothing,
  containerStarted: nothing,
  containerTerminated: nothing,
  podWorker: nothing,
  podWorkerStart: nothing,
  podStart: nothing,
  containersPerPod: nothing,
  relist: nothing,
  podRelist: nothing,
  podReadLate: nothing,
  plegDiscarded: nothing,
  runtimeEvent: nothing,
  runtimeEventsConnected: nothing,
  runtimeEventsBroken: nothing,
  running: nothing,
  pods: nothing,
  orphanedRuntimePod: nothing,
  podRestarted: nothing,
  imageCollected: nothing,
  probe: nothing,
  probeWorkerEnded: nothing,
  eventsQueued: nothing,
  eventDropped: nothing,
  clientCertificate: nothing,
  clientCertificateFailed: nothing,
  apiAttempt: nothing,
  apiRequest: nothing,
  apiThrottled: nothing,
  nodeStartup: nothing,
};
