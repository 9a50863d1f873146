import { catchError, defer, map, type Observable, of, type SchedulerLike, timeout } from 'rxjs';
import { errorText } from '../../model/cri/cri-error.js';
import type { Node } from '../../model/node/node.js';
import type { Logger } from '../ports/logger.js';
import type { RuntimeService } from '../ports/runtime-service.js';

/** The time limit of the call to the runtime, in milliseconds. After it the call is repeated in the next round. */
export const POD_CIDR_TIMEOUT_MS = 2_000;

/** Sends the pod addresses of a Node to the runtime; emits once whether the runtime has accepted new ones. Errors: none. */
export type SendPodCidr = (node: Node) => Observable<boolean>;

/**
 * Makes the sender. Each set of addresses is sent once, and again if the runtime did not accept it. Most runtimes have their network
 * configured otherwise and accept it without any effect.
 *
 * Source: pkg/kubelet/kubelet_network.go updatePodCIDR
 */
export const podCidrSender = ({
  runtime,
  log,
  scheduler,
}: {
  readonly runtime: Pick<RuntimeService, 'updateRuntimeConfig'>;
  readonly log: Logger;
  readonly scheduler: SchedulerLike;
}): SendPodCidr => {
  let accepted = '';
  return ({ spec }) => {
    const podCidr = (spec?.podCIDRs ?? []).join(',');
    if (podCidr === '' || podCidr === accepted) return of(false);
    return defer(() => runtime.updateRuntimeConfig({ runtimeConfig: { networkConfig: { podCidr } } })).pipe(
      timeout({ first: POD_CIDR_TIMEOUT_MS, scheduler }),
      map(() => {
        log.info({ before: accepted, podCidr }, 'the runtime has accepted the addresses of pods');
        accepted = podCidr;
        return true;
      }),
      catchError((error: unknown) => {
        log.error({ podCidr, error: errorText(error) }, 'the runtime has not accepted the addresses of pods');
        return of(false);
      }),
    );
  };
};
