import type { ProbeType } from './probe-worker.js';

/** The end of a probe, after its attempts. */
export type ProbeEnd =
  | { readonly result: 'success' | 'warning' | 'failure'; readonly output: string }
  /** The probe has no result. */
  | { readonly error: string; readonly state: 'unknown' | 'failure' };

export interface ProbeEvent {
  readonly type: 'Warning';
  readonly reason: 'Unhealthy' | 'ProbeWarning';
  readonly message: string;
}

/** The names of the types in events and metrics. */
export const PROBE_TITLES: Readonly<Record<ProbeType, string>> = {
  startup: 'Startup',
  readiness: 'Readiness',
  liveness: 'Liveness',
};

/**
 * Returns the event of a probe's end: of every failure, below the threshold too; none of a success.
 *
 * Source: pkg/kubelet/prober/prober.go probe
 */
export const probeEvent = (type: ProbeType, end: ProbeEnd): ProbeEvent | undefined => {
  const title = `${PROBE_TITLES[type]} probe`;
  if ('error' in end) {
    const message = `${title} errored and resulted in ${end.state} state: ${end.error}`;
    return { type: 'Warning', reason: 'Unhealthy', message };
  }
  switch (end.result) {
    case 'success':
      return undefined;
    case 'warning':
      return { type: 'Warning', reason: 'ProbeWarning', message: `${title} warning: ${end.output}` };
    case 'failure':
      return { type: 'Warning', reason: 'Unhealthy', message: `${title} failed: ${end.output}` };
  }
};
