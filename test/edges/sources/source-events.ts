import type { Observable, Subscription } from 'rxjs';
import type { SourceEvent } from '../../../src/model/pod/pod-set.js';

/** What a source under test has said so far, to wait on. */
export interface Listening {
  readonly events: readonly SourceEvent[];
  /** Names of the pods of the newest set; `undefined` before the first. */
  readonly names: () => readonly string[] | undefined;
  readonly problems: () => readonly string[];
  readonly subscription: Subscription;
}

export const listenTo = (source$: Observable<SourceEvent>): Listening => {
  const events: SourceEvent[] = [];
  const subscription = source$.subscribe({
    next: (event) => events.push(event),
    error: (error: unknown) => {
      throw error;
    },
  });
  return {
    events,
    subscription,
    names: () => events.findLast((event) => event.kind === 'set')?.pods.map(({ metadata }) => metadata.name),
    problems: () => events.flatMap((event) => (event.kind === 'problem' ? [event.problem.message] : [])),
  };
};

export const manifestOf = (name: string, image = 'busybox:1'): string =>
  `apiVersion: v1\nkind: Pod\nmetadata:\n  name: ${name}\nspec:\n  containers:\n  - name: main\n    image: ${image}\n`;
