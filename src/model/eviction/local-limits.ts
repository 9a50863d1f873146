import type { Pod } from '../pod/pod.js';
import { amountsOf, podAmountsWithOverhead } from '../resources/pod-resources.js';
import { formatOf, formatQuantity, type Nanos, parseQuantity, quantity, unitValue } from '../resources/quantity.js';
import { diskUseOf, type DiskPart } from './disk-use.js';
import type { PodFigures } from './figures.js';
import type { DiskLayout } from './signals.js';

const STORAGE = 'ephemeral-storage';

/** A limit of a pod's own that it has exceeded, with the label of its metrics and the message of the kubelet. */
export interface ExceededLimit {
  readonly signal: 'emptydirfs.limit' | 'ephemeralpodfs.limit' | 'ephemeralcontainerfs.limit';
  readonly message: string;
}

/** Whether the pod has a limit that is checked here. */
export const hasLocalLimit = (pod: Pod): boolean =>
  (pod.spec.volumes ?? []).some(({ emptyDir }) => emptyDir?.sizeLimit !== undefined) ||
  podAmountsWithOverhead(pod, 'limits').has(STORAGE);

/**
 * Returns the first limit that the pod exceeds: the size of an emptyDir, of all its storage, or of the storage of one container.
 *
 * Source: pkg/kubelet/eviction/eviction_manager.go localStorageEviction
 */
export const exceededLimit = (pod: Pod, figures: PodFigures, layout: DiskLayout): ExceededLimit | undefined =>
  ofEmptyDirs(pod, figures) ?? ofPod(pod, figures, layout) ?? ofContainers(pod, figures, layout);

const ofEmptyDirs = ({ spec }: Pod, { volumes }: PodFigures): ExceededLimit | undefined => {
  for (const { name = '', emptyDir } of spec.volumes ?? []) {
    const limit = emptyDir?.sizeLimit === undefined ? undefined : parseQuantity(emptyDir.sizeLimit);
    const used = volumes.find((volume) => volume.name === name)?.bytes;
    if (limit === undefined || limit <= 0n || used === undefined || !exceeds(used, limit)) continue;
    return {
      signal: 'emptydirfs.limit',
      message: `Usage of EmptyDir volume ${JSON.stringify(name)} exceeds the limit ${JSON.stringify(textOf(emptyDir!.sizeLimit!))}. `,
    };
  }
  return undefined;
};

const ofPod = (pod: Pod, figures: PodFigures, layout: DiskLayout): ExceededLimit | undefined => {
  const limit = podAmountsWithOverhead(pod, 'limits').get(STORAGE);
  if (limit === undefined || !exceeds(diskUseOf(figures, ownParts(layout), 'bytes'), limit)) return undefined;
  return {
    signal: 'ephemeralpodfs.limit',
    message: `Pod ephemeral local storage usage exceeds the total limit of containers ${formatQuantity(limit, formatOfPod(pod))}. `,
  };
};

const ofContainers = ({ spec }: Pod, { containers }: PodFigures, layout: DiskLayout): ExceededLimit | undefined => {
  for (const container of spec.containers) {
    const limit = amountsOf(container, 'limits').get(STORAGE);
    const figures = containers.find(({ name }) => name === container.name);
    if (!limit || !figures) continue;
    const used = (figures.logs?.bytes ?? 0) + (layout === 'single' ? (figures.rootfs?.bytes ?? 0) : 0);
    if (!exceeds(used, limit)) continue;
    const text = JSON.stringify(textOf(container.resources?.limits?.[STORAGE] ?? ''));
    return {
      signal: 'ephemeralcontainerfs.limit',
      message: `Container ${container.name} exceeded its local ephemeral storage limit ${text}. `,
    };
  }
  return undefined;
};

/** Writable layers count unless images have a file system of their own. */
const ownParts = (layout: DiskLayout): readonly DiskPart[] =>
  layout === 'single' ? ['rootfs', 'logs', 'volumes'] : ['logs', 'volumes'];

const exceeds = (used: number, limit: Nanos): boolean => BigInt(Math.trunc(used)) > unitValue(limit);

const textOf = (text: string): string => formatQuantity(quantity(text), formatOf(text));

/** A sum has the format of its first amount. */
const formatOfPod = ({ spec }: Pod): ReturnType<typeof formatOf> =>
  formatOf(spec.containers.flatMap(({ resources }) => resources?.limits?.[STORAGE] ?? [])[0] ?? '');
