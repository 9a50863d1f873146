import { HUGE_PAGES, isHugePages } from '../node/node-resources.js';
import type { Pod } from '../pod/pod.js';
import { formatOf, formatQuantity, type Nanos, parseQuantity } from '../resources/quantity.js';
import type { VolumeMount } from './volume-setup.js';

/** A volume of the pages that the containers of its pod request. */
const ANY_SIZE = 'HugePages';
const SIZED = 'HugePages-';

export const isHugePagesMedium = (medium: string): boolean => medium === ANY_SIZE || medium.startsWith(SIZED);

/**
 * Returns the hugetlbfs of a volume.
 *
 * Errors: the pod requests no pages of that size, or pages of several sizes; the size is not a quantity.
 * Source: pkg/volume/emptydir/empty_dir.go getPageSizeMountOption
 */
export const hugePagesMount = (pod: Pod, medium: string): VolumeMount => {
  const requested = requestedSizes(pod);
  const wanted = medium === ANY_SIZE ? undefined : pageSize(medium.slice(SIZED.length));
  const distinct = new Map(requested.map((size) => [size.bytes, size]));
  if (wanted === undefined && distinct.size > 1)
    throw new Error(`medium: ${medium} can't be used if container requests multiple huge page sizes`);
  const found = wanted === undefined ? requested[0] : distinct.get(wanted.bytes);
  if (found === undefined)
    throw new Error(`medium ${medium}: hugePages storage requested, but there is no resource request for huge pages`);
  return { type: 'hugetlbfs', source: 'nodev', options: [`pagesize=${found.text}`] };
};

interface PageSize {
  readonly bytes: Nanos;
  /** In canonical form, such as `2Mi`. */
  readonly text: string;
}

const requestedSizes = ({ spec }: Pod): readonly PageSize[] =>
  [spec, ...spec.containers, ...(spec.initContainers ?? [])].flatMap(({ resources }) =>
    Object.keys(resources?.requests ?? {})
      .filter(isHugePages)
      .map((name) => pageSize(name.slice(HUGE_PAGES.length))),
  );

const pageSize = (text: string): PageSize => {
  const bytes = parseQuantity(text);
  if (bytes === undefined) throw new Error(`the size of huge pages is ${JSON.stringify(text)}, expected a quantity`);
  return { bytes, text: formatQuantity(bytes, formatOf(text)) };
};
