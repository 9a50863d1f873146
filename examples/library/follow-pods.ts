// The pods of an agent are a stream of changes, `pods$`: first one `added` for each pod that is there, then each change of one pod. Standard
// operators make the rest of it: what restarts, who has not been ready for a minute, a page that follows the node.
//
//     const agent = kubelet(ports, options);
//     restarts(agent.pods$).subscribe(console.log);
//     agent.outcome$.subscribe();
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  distinctUntilChanged,
  EMPTY,
  filter,
  groupBy,
  map,
  mergeMap,
  type Observable,
  type SchedulerLike,
  switchMap,
  timer,
} from 'rxjs';
import type { Pod, PodChange } from 'rx-kubelet';

/** Emits `web/nginx restarted: 3` whenever a container has been restarted. */
export const restarts = (pods$: Observable<PodChange>): Observable<string> =>
  pods$.pipe(
    mergeMap((change) => {
      if (change.kind !== 'changed') return EMPTY;
      const before = new Map(change.before.status?.containerStatuses?.map((one) => [one.name, one.restartCount]));
      return (change.pod.status?.containerStatuses ?? [])
        .filter(({ name, restartCount }) => restartCount > (before.get(name) ?? 0))
        .map(({ name, restartCount }) => `${change.pod.metadata.name}/${name} restarted: ${restartCount}`);
    }),
  );

/** Emits the name of a pod that has not been ready for a minute, once each time. A `switchMap` over a timer forgets those that recover. */
export const notReadyForAMinute = (pods$: Observable<PodChange>, scheduler: SchedulerLike): Observable<string> =>
  pods$.pipe(
    groupBy(({ pod }) => pod.metadata.uid, { duration: (pod$) => pod$.pipe(filter(({ kind }) => kind === 'removed')) }),
    mergeMap((pod$) =>
      pod$.pipe(
        map(({ kind, pod }) => (kind === 'removed' || isReady(pod) ? undefined : pod.metadata.name)),
        distinctUntilChanged(),
        switchMap((name) => (name === undefined ? EMPTY : timer(60_000, scheduler).pipe(map(() => name)))),
      ),
    ),
  );

const isReady = ({ status }: Pod): boolean =>
  status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false;

/** Answers a browser's `EventSource` with the changes, until it leaves. */
export const followPods =
  (pods$: Observable<PodChange>) =>
  (_request: IncomingMessage, response: ServerResponse): void => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    const event$ = pods$.pipe(
      map(
        ({ kind, pod }) =>
          `event: ${kind}\ndata: ${JSON.stringify({ name: pod.metadata.name, phase: pod.status?.phase })}\n\n`,
      ),
    );
    const subscription = event$.subscribe((text) => response.write(text));
    response.on('close', () => subscription.unsubscribe());
  };
