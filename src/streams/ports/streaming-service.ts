import type {
  AttachRequest,
  AttachResponse,
  ExecRequest,
  ExecResponse,
  PortForwardRequest,
  PortForwardResponse,
} from '../../generated/runtime/v1/api.js';
import { throwError } from 'rxjs';
import { CriError } from '../../model/cri/cri-error.js';
import type { CriCall } from './runtime-service.js';

/**
 * The calls of `runtime.v1.RuntimeService` that return the URL of a stream, for clients of the kubelet API. The loop never makes
 * them, so they are apart from its port: a recording does not contain them, and a replay does not expect them.
 */
export interface StreamingService {
  readonly exec: CriCall<ExecRequest, ExecResponse>;
  readonly attach: CriCall<AttachRequest, AttachResponse>;
  readonly portForward: CriCall<PortForwardRequest, PortForwardResponse>;
}

const away = (call: string) => () =>
  throwError(() => new CriError('unavailable', call, 'there is no connection to a container runtime'));

/** Has no streams. */
export const noStreaming: StreamingService = {
  exec: away('Exec'),
  attach: away('Attach'),
  portForward: away('PortForward'),
};
