/**
 * Aborts with the name of the signal on the first SIGTERM or SIGINT, which asks for a graceful stop. A second one ends the
 * process at once with code 1. It listens until the process ends.
 *
 * Source: staging/src/k8s.io/apiserver/pkg/server/signal.go.
 */
export const stopSignal = (): AbortSignal => {
  const stop = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    process.on(name, () => {
      if (stop.signal.aborted) process.exit(1);
      stop.abort(name);
    });
  }
  return stop.signal;
};
