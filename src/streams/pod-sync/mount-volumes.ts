import { defer, type Observable } from 'rxjs';
import { slowCallText } from '../../model/journal/call-text.js';
import { SyncCancelled } from '../../model/pod-actions/sync-error.js';
import { errorOnAbort } from '../operators/error-on-abort.js';
import { tapIfSlow } from '../operators/tap-if-slow.js';
import { journal, type PodSyncContext, SLOW_CALL_MS } from './pod-sync-context.js';

const CALL = 'MountVolumes';

/**
 * Waits for the volumes of the pod. The journal and the status report a long wait.
 *
 * Errors: see `PodVolumes.mount`; `SyncCancelled` as soon as the signal fires.
 * Source: pkg/kubelet/kubelet.go SyncPod
 */
export const mountVolumes = (context: PodSyncContext): Observable<never> =>
  defer(() => {
    const { volumes, scheduler } = context.ports;
    const slow = (): void => {
      journal(context, { kind: 'call-slow', call: CALL, waitedMs: SLOW_CALL_MS });
      context.waitsFor?.({ text: slowCallText(CALL, SLOW_CALL_MS) });
    };
    return volumes.mount(context.pod, context.causes).pipe(
      tapIfSlow(SLOW_CALL_MS, slow, scheduler),
      errorOnAbort(context.signal, () => new SyncCancelled()),
    );
  });
