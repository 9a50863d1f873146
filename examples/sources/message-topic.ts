// A custom source: pods that arrive as messages on a topic.
//
// A source is an Observable of complete sets. Here a message is the manifest of one pod, or the end of a pod; `scan` keeps the set. In
// memory the topic is a Subject; with a message broker it is an Observable of the messages of its client.
//
//     kubelet({ ...options, sources: { file: fileSource(…), topic: topicSource(message$, 'node-1') } })
import { concatMap, from, map, type Observable, scan, startWith } from 'rxjs';
import {
  formatManifestProblem,
  placePods,
  type Pod,
  podSet,
  readManifest,
  type SourceEvent,
  sourceProblem,
} from 'rx-kubelet';

export type PodMessage =
  | { readonly kind: 'run'; readonly key: string; readonly manifest: string }
  | { readonly kind: 'stop'; readonly key: string };

interface Topic {
  readonly pods: ReadonlyMap<string, readonly Pod[]>;
  readonly events: readonly SourceEvent[];
}

/** The pods of the newest message of every key. A message that cannot be read is a problem and changes nothing. */
export const topicSource = (message$: Observable<PodMessage>, nodeName: string): Observable<SourceEvent> =>
  message$.pipe(
    scan(({ pods }: Topic, message) => fold(pods, message, nodeName), { pods: new Map(), events: [] }),
    map(({ events }) => events),
    startWith([podSet([])]),
    concatMap((events) => from(events)),
  );

const fold = (before: Topic['pods'], message: PodMessage, nodeName: string): Topic => {
  const pods = new Map(before);
  if (message.kind === 'stop') pods.delete(message.key);
  else {
    const origin = `topic:${message.key}`;
    const read = placePods(readManifest(message.manifest, { file: origin }), { source: 'http', nodeName, origin });
    if (read.problems.length > 0) {
      return {
        pods: before,
        events: read.problems.map((manifest) =>
          sourceProblem({ severity: 'error', message: formatManifestProblem(manifest), manifest }),
        ),
      };
    }
    pods.set(message.key, read.pods);
  }
  return { pods, events: [podSet([...pods.values()].flat())] };
};
