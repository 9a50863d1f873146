import { BehaviorSubject, defer, merge, type Observable, type SchedulerLike, Subject } from 'rxjs';
import type { Pod } from '../model/pod.js';
import { podSet, type SourceEvent, sourceProblem } from '../model/pod-set.js';
import type { TellWorld } from './world-event.js';

/** A source of pods that says what it is told to; what it wants outlives the agent, as a folder of manifests does. */
export interface SimulatedSource {
  readonly event$: Observable<SourceEvent>;
  /** From now on it wants these pods and no others. */
  readonly want: (pods: readonly Pod[]) => void;
  /** It cannot be read for a moment: what it wants is unchanged. */
  readonly complain: (message: string) => void;
  /** The stream breaks; whoever subscribes again hears what is wanted. */
  readonly fail: (message: string) => void;
  readonly wanted: () => readonly Pod[];
}

/** A source that at first wants `pods`. */
export const simulatedSource = (
  name: string,
  { scheduler, tell = () => undefined }: { readonly scheduler: Pick<SchedulerLike, 'now'>; readonly tell?: TellWorld },
  pods: readonly Pod[] = [],
): SimulatedSource => {
  const wanted$ = new BehaviorSubject(podSet(pods));
  let wanted = pods;
  let other$ = new Subject<SourceEvent>();
  const say = (): void => tell({ kind: 'wanted', at: scheduler.now(), source: name, pods: wanted });
  if (pods.length > 0) say();
  return {
    event$: defer(() => merge(wanted$, other$)),
    want: (next) => {
      wanted = next;
      say();
      wanted$.next(podSet(next));
    },
    complain: (message) => other$.next(sourceProblem({ severity: 'warning', message })),
    fail: (message) => {
      const broken$ = other$;
      other$ = new Subject();
      broken$.error(new Error(message));
    },
    wanted: () => wanted,
  };
};
