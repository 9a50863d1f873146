import { catchError, defer, map, type Observable, of, type SchedulerLike, timeout } from 'rxjs';
import { errorText } from '../../model/cri-error.js';
import type { Node } from '../../model/node/node.js';
import type { Logger, RuntimeService } from '../ports.js';

/** Nobody waits longer for the runtime to take the addresses of pods; it is told again in the next round. Milliseconds. */
export const POD_CIDR_TIMEOUT_MS = 2_000;

/** Tells the runtime which addresses a Node has for its pods; emits once whether it has taken new ones. Errors: none. */
export type TellPodCidr = (node: Node) => Observable<boolean>;

/**
 * The runtime is told once of each set of addresses, and again where it did not take it. Most runtimes have their network configured
 * otherwise and take it without doing anything.
 *
 * Source: pkg/kubelet/kubelet_network.go updatePodCIDR
 */
export const podCidrTeller = ({
  runtime,
  log,
  scheduler,
}: {
  readonly runtime: Pick<RuntimeService, 'updateRuntimeConfig'>;
  readonly log: Logger;
  readonly scheduler: SchedulerLike;
}): TellPodCidr => {
  let told = '';
  return ({ spec }) => {
    const podCidr = (spec?.podCIDRs ?? []).join(',');
    if (podCidr === '' || podCidr === told) return of(false);
    return defer(() => runtime.updateRuntimeConfig({ runtimeConfig: { networkConfig: { podCidr } } })).pipe(
      timeout({ first: POD_CIDR_TIMEOUT_MS, scheduler }),
      map(() => {
        log.info({ before: told, podCidr }, 'the runtime has been told of the addresses of pods');
        told = podCidr;
        return true;
      }),
      catchError((error: unknown) => {
        log.error({ podCidr, error: errorText(error) }, 'the runtime has not taken the addresses of pods');
        return of(false);
      }),
    );
  };
};
