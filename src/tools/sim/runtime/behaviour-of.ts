import { completeName } from '../../../model/images/image-reference.js';
import type { ImageBehaviour, InstanceBehaviour, NodeBehaviours } from '../world/behaviour.js';

const PLAIN: InstanceBehaviour = {};
const NOTHING_SPECIAL: ImageBehaviour = {};

/** The behaviour of one instance of a container; `index` counts the instances of this container of this pod from 0. */
export const instanceBehaviour = (
  { containers = {} }: NodeBehaviours,
  {
    uid,
    pod,
    container,
    index,
    nodeName,
  }: { uid: string; pod: string; container: string; index: number; nodeName: string },
): InstanceBehaviour => {
  const staticName = pod.endsWith(`-${nodeName}`) ? pod.slice(0, -nodeName.length - 1) : pod;
  const behaviour =
    containers[`${uid}/${container}`] ??
    containers[`${pod}/${container}`] ??
    containers[`${staticName}/${container}`] ??
    containers[container] ??
    containers['*'] ??
    [];
  return behaviour[Math.min(index, behaviour.length - 1)] ?? PLAIN;
};

/** The behaviour of an image, by any of its names. */
export const imageBehaviours = ({ images = {} }: NodeBehaviours): ((name: string) => ImageBehaviour) => {
  const byName = new Map(Object.entries(images).map(([name, behaviour]) => [completeName(name), behaviour]));
  return (name) => images[name] ?? byName.get(completeName(name)) ?? images['*'] ?? NOTHING_SPECIAL;
};
