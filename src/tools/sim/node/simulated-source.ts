import { BehaviorSubject, defer, merge, type Observable, type SchedulerLike, Subject } from 'rxjs';
import type { Pod } from '../../../model/pod/pod.js';
import type { SourceObject } from '../../../model/references/source-object.js';
import { podSet, type SourceEvent, sourceProblem } from '../../../model/pod/pod-set.js';
import type { TellWorld } from '../world/world-event.js';

/** A source of pods that tests control; its pods outlive the agent, like a folder of manifests. */
export interface SimulatedSource {
  readonly event$: Observable<SourceEvent>;
  /** Sets the pods of the source, and its ConfigMaps and Secrets if they change with them. */
  readonly want: (pods: readonly Pod[], objects?: readonly SourceObject[]) => void;
  /** The source cannot be read for a moment: its pods are unchanged. */
  readonly complain: (message: string) => void;
  /** The stream breaks; a new subscription receives the pods. */
  readonly fail: (message: string) => void;
  readonly wanted: () => readonly Pod[];
}

/** Creates a source that begins with `pods`. */
export const simulatedSource = (
  name: string,
  { scheduler, tell = () => undefined }: { readonly scheduler: Pick<SchedulerLike, 'now'>; readonly tell?: TellWorld },
  pods: readonly Pod[] = [],
  /** Its ConfigMaps and Secrets. */
  objects: readonly SourceObject[] = [],
): SimulatedSource => {
  const wanted$ = new BehaviorSubject(podSet(pods, objects));
  let wanted = pods;
  let known = objects;
  let other$ = new Subject<SourceEvent>();
  const say = (): void => tell({ kind: 'wanted', at: scheduler.now(), source: name, pods: wanted });
  if (pods.length > 0) say();
  return {
    event$: defer(() => merge(wanted$, other$)),
    want: (next, nextObjects = known) => {
      wanted = next;
      known = nextObjects;
      say();
      wanted$.next(podSet(next, known));
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
