// The PLEG is a stream like any other. Here another stream emits the pods to read (from a message bus, eBPF, the events of containerd), so
// that a full relist is only necessary once a minute. When that stream fails, the agent's own PLEG replaces it: a relist every second.
//
//     kubelet(ports, { sources, swap: hintedBy(changed$) }).outcome$.subscribe(console.log);
import { catchError, concat, NEVER, type Observable, of } from 'rxjs';
import { type KubeletOptions, pleg, type PlegCadence } from 'rx-kubelet';

/** Without a relist for three minutes the node is not healthy; the views of pods without hints are renewed every five seconds. */
const ONCE_A_MINUTE: PlegCadence = { periodMs: 60_000, thresholdMs: 180_000, cacheTickMs: 5_000 };

/** Replaces the PLEG. `changed$` emits the UIDs of pods that may have changed. */
export const hintedBy =
  (changed$: Observable<string>): NonNullable<KubeletOptions['swap']> =>
  (inputs, ofPleg) => {
    const evented$ = pleg({ ...ofPleg, hint$: changed$, cadence$: concat(of(ONCE_A_MINUTE), NEVER) });
    return { ...inputs, pleg$: evented$.pipe(catchError(() => inputs.pleg$)) };
  };
