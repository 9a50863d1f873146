import { catchError, defer, map, type Observable, of, retry, type SchedulerLike, throwError, timer } from 'rxjs';
import type { CgroupDriver } from '../../model/cgroups/cgroup-name.js';
import { isCriError } from '../../model/cri/cri-error.js';
import type { Logger } from '../ports/logger.js';
import type { Metrics } from '../ports/metrics.js';
import type { RuntimeService } from '../ports/runtime-service.js';

/** Source: cmd/kubelet/app/server.go getCgroupDriverFromCRI. */
const TRIES = 3;
export const TRY_AGAIN_MS = 2_000;
/** The first kubelet that does not start with a runtime without the call. Source: cmd/kubelet/app/server.go getCgroupDriverFromCRI */
const CALL_IS_REQUIRED_IN = '1.38.0';

export interface CgroupDriverPorts {
  readonly log: Logger;
  readonly metrics: Pick<Metrics, 'runtimeLosesSupport'>;
  readonly scheduler: SchedulerLike;
}

/**
 * Emits the cgroup driver of the runtime, after up to three requests, 2 s apart; the configured driver if the runtime does not
 * implement the call or reports none.
 *
 * Errors: that of the third request; an unknown driver.
 */
export const cgroupDriver = (
  runtime: Pick<RuntimeService, 'runtimeConfig'>,
  configured: CgroupDriver,
  { log, metrics, scheduler }: CgroupDriverPorts,
): Observable<CgroupDriver> =>
  defer(() => runtime.runtimeConfig({})).pipe(
    retry({
      count: TRIES - 1,
      delay: (error) => (isUnknown(error) ? throwError(() => error as Error) : timer(TRY_AGAIN_MS, scheduler)),
    }),
    map(({ linux }): CgroupDriver => {
      switch (linux?.cgroupDriver) {
        case undefined:
          return configured;
        case 'CGROUPFS':
          return 'cgroupfs';
        case 'SYSTEMD':
          return 'systemd';
        default:
          throw new Error(`the runtime uses an unknown cgroup driver: ${linux?.cgroupDriver}`);
      }
    }),
    catchError((error: unknown) => {
      if (!isUnknown(error)) throw error;
      metrics.runtimeLosesSupport(CALL_IS_REQUIRED_IN);
      log.info({ cgroupDriver: configured }, 'the runtime does not say which cgroup driver it uses');
      return of(configured);
    }),
  );

const isUnknown = (error: unknown): boolean => isCriError(error, 'unimplemented');
