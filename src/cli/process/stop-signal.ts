import { whenOutputCloses } from './closed-output.js';

/**
 * Aborts with the name of the signal on the first SIGTERM, SIGINT or SIGHUP, which requests a graceful stop; so does a
 * closed output, which means that the terminal or the reader of the pipe is gone. A second SIGTERM or SIGINT ends the
 * process at once with code 1. The handlers stay until the process ends.
 *
 * Source: staging/src/k8s.io/apiserver/pkg/server/signal.go, without SIGHUP, by which a kubelet ends at once.
 */
export const stopSignal = (): AbortSignal => {
  const stop = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    process.on(name, () => {
      if (stop.signal.aborted) process.exit(1);
      stop.abort(name);
    });
  }
  // A closed terminal is reported several times: by the shell, by the kernel and by the output. These reports are one request.
  process.on('SIGHUP', () => stop.abort('SIGHUP'));
  whenOutputCloses(() => stop.abort('its output is closed'));
  return stop.signal;
};
