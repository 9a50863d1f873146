import { defer, throwError } from 'rxjs';
import { CriError } from '../../model/cri/cri-error.js';
import type { CriCall, RuntimeService } from '../../streams/ports/runtime-service.js';
import type { StreamingService } from '../../streams/ports/streaming-service.js';
import type { KubeletHandle } from './kubelet-handle.js';
import type { ConnectedRuntime } from './stats-of-node.js';

/** The connection to the runtime, for clients of the agent. */
export interface RuntimeConnection extends ConnectedRuntime {
  readonly runtime: RuntimeService;
  readonly streaming: StreamingService;
}

/** Calls over a connection that comes later. Errors: also without one. */
export const lateCalls = (
  connection: () => RuntimeConnection | undefined,
): Pick<KubeletHandle, 'runtime' | 'streaming'> => {
  const late =
    <I, O>(name: string, callOf: (connected: RuntimeConnection) => CriCall<I, O>): CriCall<I, O> =>
    (request) =>
      defer(() => {
        const connected = connection();
        return connected
          ? callOf(connected)(request)
          : throwError(() => new CriError('unavailable', name, 'there is no connection to the runtime'));
      });
  return {
    runtime: {
      containerStatus: late('ContainerStatus', ({ runtime }) => runtime.containerStatus),
      execSync: late('ExecSync', ({ runtime }) => runtime.execSync),
      checkpointContainer: late('CheckpointContainer', ({ runtime }) => runtime.checkpointContainer),
    },
    streaming: {
      exec: late('Exec', ({ streaming }) => streaming.exec),
      attach: late('Attach', ({ streaming }) => streaming.attach),
      portForward: late('PortForward', ({ streaming }) => streaming.portForward),
    },
  };
};
