import type { NodePressure } from '../node/node-conditions.js';
import type { QuantityFormat } from '../resources/quantity.js';

/** What is measured for eviction, by the names in the configuration. Source: pkg/kubelet/eviction/api/types.go */
export type EvictionSignal =
  | 'memory.available'
  | 'allocatableMemory.available'
  | 'nodefs.available'
  | 'nodefs.inodesFree'
  | 'imagefs.available'
  | 'imagefs.inodesFree'
  | 'containerfs.available'
  | 'containerfs.inodesFree'
  | 'pid.available';

/** The resource that runs short, by its name in messages. */
export type StarvedResource = 'memory' | 'ephemeral-storage' | 'inodes' | 'pids';

export interface SignalTraits {
  readonly resource: StarvedResource;
  /** The condition of the node that it means. */
  readonly pressure: keyof NodePressure;
  /** The format of its amounts in messages. */
  readonly format: QuantityFormat;
}

const MEMORY: SignalTraits = { resource: 'memory', pressure: 'memory', format: 'BinarySI' };
const SPACE: SignalTraits = { resource: 'ephemeral-storage', pressure: 'disk', format: 'BinarySI' };
const INODES: SignalTraits = { resource: 'inodes', pressure: 'disk', format: 'DecimalSI' };

/** Source: pkg/kubelet/eviction/helpers.go signalToNodeCondition, signalToResource */
export const SIGNALS: Readonly<Record<EvictionSignal, SignalTraits>> = {
  'memory.available': MEMORY,
  'allocatableMemory.available': MEMORY,
  'nodefs.available': SPACE,
  'nodefs.inodesFree': INODES,
  'imagefs.available': SPACE,
  'imagefs.inodesFree': INODES,
  'containerfs.available': SPACE,
  'containerfs.inodesFree': INODES,
  'pid.available': { resource: 'pids', pressure: 'pid', format: 'DecimalSI' },
};

export const isSignal = (name: string): name is EvictionSignal => Object.hasOwn(SIGNALS, name);

/**
 * How the file systems of the node, of images and of writable layers relate: one for all; one for images and layers; or one for images alone.
 */
export type DiskLayout = 'single' | 'dedicated-images' | 'split';

/** The devices of the file systems; equal texts are one file system. */
export interface DiskDevices {
  readonly node: string;
  readonly images: string;
  readonly containers: string;
}

/**
 * Returns the layout of the devices.
 *
 * Source: pkg/kubelet/eviction/eviction_manager.go synchronize, HasDedicatedImageFs
 */
export const diskLayout = ({ node, images, containers }: DiskDevices): DiskLayout => {
  if (containers !== images) return 'split';
  return images === node ? 'single' : 'dedicated-images';
};

/** What may be removed from a node before a pod is evicted. */
export type Reclaim = 'dead-containers' | 'unused-images';

/**
 * Returns what frees the resource of a signal, in this order; nothing frees memory or processes.
 *
 * Source: pkg/kubelet/eviction/helpers.go buildSignalToNodeReclaimFuncs
 */
export const reclaimsOf = (signal: EvictionSignal, layout: DiskLayout): readonly Reclaim[] => {
  if (SIGNALS[signal].pressure !== 'disk') return [];
  if (layout === 'single') return ['dead-containers', 'unused-images'];
  const ofNode = signal.startsWith('nodefs.');
  const ofImages = signal.startsWith('imagefs.');
  if (layout === 'dedicated-images') return ofNode ? [] : ['dead-containers', 'unused-images'];
  return ofImages ? ['unused-images'] : ['dead-containers'];
};
