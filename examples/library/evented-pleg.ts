// How changes of the runtime are noticed is a stream like any other. Here somebody else tells which pods to look at (a message
// bus, eBPF, the events of containerd itself), so that everything has to be listed only once a minute. When that source
// breaks, the agent's own way takes its place: a listing every second.
//
//     kubelet(ports, { sources, swap: toldBy(changed$) }).outcome$.subscribe(console.log);
import { catchError, concat, NEVER, type Observable, of } from 'rxjs';
import { type KubeletOptions, pleg, type PlegCadence } from 'rx-kubelet';

/** Without a listing for three minutes the node is not healthy; a pod nobody tells of counts as looked at every five seconds. */
const ONCE_A_MINUTE: PlegCadence = { periodMs: 60_000, thresholdMs: 180_000, cacheTickMs: 5_000 };

/** `changed$` emits the UIDs of pods of which something has happened. */
export const toldBy =
  (changed$: Observable<string>): NonNullable<KubeletOptions['swap']> =>
  (inputs, ofPleg) => {
    const evented$ = pleg({ ...ofPleg, hint$: changed$, cadence$: concat(of(ONCE_A_MINUTE), NEVER) });
    return { ...inputs, pleg$: evented$.pipe(catchError(() => inputs.pleg$)) };
  };
