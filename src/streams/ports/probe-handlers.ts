import type { Container, Pod, Probe } from '../../model/pod/pod.js';
import type { ProbeOutcome } from '../../model/probes/probe-outcome.js';
import type { ProbeType } from '../../model/probes/probe-type.js';
import type { Observable } from 'rxjs';

/** The kind of a probe: the field of the API's probe that is set. */
export type ProbeHandlerKind = 'exec' | 'httpGet' | 'tcpSocket' | 'grpc';

/** The target of one probe. */
export interface ProbeTarget {
  /** The type of the probe: `liveness`, `readiness` or `startup`. */
  readonly type: ProbeType;
  readonly kind: ProbeHandlerKind;
  /** The probe of the spec, with its defaults; its field `kind` is set. */
  readonly probe: Probe;
  readonly pod: Pod;
  /** The probed container: its ports have names, its env expands the command of `exec`. */
  readonly container: Container;
  /** The id of the instance in the runtime. */
  readonly containerId: string;
  /** The address of the pod, or of the node for a pod on the host network; empty while there is none. */
  readonly podIp: string;
  /** The time limit of the whole probe; at least 1. */
  readonly timeoutSeconds: number;
}

/** Probes containers. */
export interface ProbeHandlers {
  /**
   * Probes once, without a retry, on subscribe; emits one outcome and completes; unsubscribing cancels it. Errors: the probe has no
   * result, such as when the runtime does not answer; a `ProbeErrored` (src/model/probes/probe-errored.ts) carries the kubelet's name
   * of that state. A server that refuses or is late is the outcome `failure` instead.
   */
  readonly probe: (target: ProbeTarget) => Observable<ProbeOutcome>;
}
