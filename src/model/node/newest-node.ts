import type { Node } from './node.js';

/** Positive where one is of a later version; 0 where that cannot be told. */
const compareVersions = (one: string | undefined, other: string | undefined): number => {
  if (one === undefined || other === undefined || !NUMBER.test(one) || !NUMBER.test(other)) return 0;
  const [left, right] = [BigInt(one), BigInt(other)];
  return left > right ? 1 : left < right ? -1 : 0;
};
const NUMBER = /^\d+$/;

/** What stands once a Node was seen: in the answer to a write it may be newer than what the watch has said so far. */
export const newestNode = (known: Node | undefined, seen: Node): Node =>
  known && compareVersions(known.metadata.resourceVersion, seen.metadata.resourceVersion) > 0 ? known : seen;

/** What stands once there was no Node as of a version: one that was made since is there. */
export const afterDeletion = (known: Node | undefined, resourceVersion: string | undefined): Node | undefined =>
  compareVersions(known?.metadata.resourceVersion, resourceVersion) > 0 ? known : undefined;
