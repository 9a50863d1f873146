import type { ReflectorEvent } from '../reflector/reflector-event.js';
import type { Node } from './node.js';

/** Positive if `one` has the later version; 0 if the versions cannot be compared. */
const compareVersions = (one: string | undefined, other: string | undefined): number => {
  if (one === undefined || other === undefined || !NUMBER.test(one) || !NUMBER.test(other)) return 0;
  const [left, right] = [BigInt(one), BigInt(other)];
  return left > right ? 1 : left < right ? -1 : 0;
};
const NUMBER = /^\d+$/;

/** Returns the state after a Node was received: the reply to a write may be newer than the last event of the watch. */
export const newestNode = (known: Node | undefined, seen: Node): Node =>
  known && compareVersions(known.metadata.resourceVersion, seen.metadata.resourceVersion) > 0 ? known : seen;

/** Returns the state after the Node was absent at a version: a Node that was created later stays. */
export const afterDeletion = (known: Node | undefined, resourceVersion: string | undefined): Node | undefined =>
  compareVersions(known?.metadata.resourceVersion, resourceVersion) > 0 ? known : undefined;

/** Returns the state after an event of the watch of the Node. */
export const newestAfter = (known: Node | undefined, event: ReflectorEvent<Node>): Node | undefined => {
  switch (event.kind) {
    case 'put':
      return newestNode(known, event.object);
    case 'deleted':
      return afterDeletion(known, event.object.metadata.resourceVersion);
    case 'replaced':
      return event.objects[0] ?? afterDeletion(known, event.resourceVersion);
    case 'problem':
    case 'recovered':
      return known;
  }
};
