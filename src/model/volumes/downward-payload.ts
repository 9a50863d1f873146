import type { V1DownwardAPIVolumeFile } from '@kubernetes/client-node';
import { errorText } from '../cri/cri-error.js';
import { fieldRefValue } from '../cri/field-ref.js';
import { resourceFieldValue } from '../cri/resource-field-ref.js';
import type { Json, Pod } from '../pod/pod.js';
import { throwAggregate } from './aggregate-error.js';
import { cleanPath } from './payload-path.js';
import type { ReadOnce } from './read-once.js';
import type { VolumeFile, VolumePayload } from './volume-payload.js';
import { firstNamed } from '../values/indexed-lists.js';

/** The part of a node that files of the downward API can show. */
export interface DownwardFacts {
  readonly allocatable: Readonly<Record<string, string>>;
}

/** A volume has the metadata of its pod only; status and spec would change without notice. */
const METADATA = /^metadata\.(name|namespace|uid|labels|annotations|(labels|annotations)\['.*'\])$/;

/**
 * Returns the files of the downward API.
 *
 * Errors: all fields and resources that cannot be read.
 * Source: pkg/volume/downwardapi/downwardapi.go CollectData
 */
export const downwardPayload = (
  pod: Pod,
  items: readonly Json<V1DownwardAPIVolumeFile>[] = [],
  defaultMode: number,
  node: DownwardFacts,
  once: ReadOnce,
): VolumePayload => {
  const files = new Map<string, VolumeFile>();
  const errors: string[] = [];
  for (const item of items) {
    try {
      const what = `downward ${JSON.stringify([item.fieldRef?.fieldPath, item.resourceFieldRef])}`;
      const data = once(what, () => new Uint8Array(Buffer.from(valueOf(pod, item, node))));
      files.set(item.path === '' ? '' : cleanPathOf(item.path), { data, mode: item.mode ?? defaultMode });
    } catch (error) {
      errors.push(errorText(error));
    }
  }
  throwAggregate(errors);
  return files;
};

/** An absolute path stays absolute, so that it is refused. */
const cleanPathOf = (path: string): string => (path.startsWith('/') ? path : cleanPath(path));

const valueOf = (
  pod: Pod,
  { fieldRef, resourceFieldRef }: Json<V1DownwardAPIVolumeFile>,
  node: DownwardFacts,
): string => {
  if (fieldRef) {
    if (!METADATA.test(fieldRef.fieldPath)) throw new Error(`unsupported fieldPath: ${fieldRef.fieldPath}`);
    return fieldRefValue(pod, fieldRef.fieldPath, [], { nodeIps: [] });
  }
  if (!resourceFieldRef) return '';
  const { containerName = '', resource, divisor } = resourceFieldRef;
  const { containers, initContainers = [] } = pod.spec;
  const container = firstNamed(containers, containerName) ?? firstNamed(initContainers, containerName);
  if (!container) throw new Error(`container ${containerName} not found`);
  return resourceFieldValue(pod, container, { resource, ...(divisor !== undefined && { divisor }) }, node);
};
