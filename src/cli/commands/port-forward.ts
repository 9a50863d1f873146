import { isIP } from 'node:net';
import { fromEvent, take, takeUntil } from 'rxjs';
import { localAddresses, localPorts } from '../../model/server/local-ports.js';
import { containerTarget, findPod } from '../local/find-container.js';
import { forwardPorts } from '../local/forward-ports.js';
import { forwardRequestPath } from '../local/stream-request.js';
import { pathsFor } from '../arguments/prepare-run.js';

/** The flags of `port-forward`, as commander returns them. */
export interface ForwardFlags {
  readonly namespace?: string;
  readonly address: string;
  readonly rootDir: string;
}

/**
 * Forwards ports of this machine to a pod until Ctrl-C.
 *
 * Errors: no agent runs; there is no such pod, or it does not run; a port is malformed or in use; the connection is lost.
 * Source: staging/src/k8s.io/kubectl/pkg/cmd/portforward/portforward.go
 */
export const forwardToPod = async (
  target: string,
  texts: readonly string[],
  { namespace, address, rootDir }: ForwardFlags,
): Promise<void> => {
  const addresses = localAddresses(address, (one) => isIP(one) !== 0);
  const paths = pathsFor(rootDir);
  const pod = await findPod(paths, { ...containerTarget(target, undefined), namespace });
  const ports = localPorts(texts, pod);
  const phase = pod.status?.phase;
  if (phase !== 'Running')
    throw new Error(`unable to forward port because pod is not running. Current status=${phase}`);
  const interrupted$ = fromEvent(process, 'SIGINT').pipe(take(1));
  await forwardPorts({ socketPath: paths.agentSocket, path: forwardRequestPath(pod), ports, addresses })
    .pipe(takeUntil(interrupted$))
    .forEach(({ to, text }) => void process[to].write(`${text}\n`));
};
