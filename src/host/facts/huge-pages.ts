import type { HugePages } from '../../model/node/machine-facts.js';
import { namesIfThere, readIfThere } from '../files/read-if-there.js';

const FOLDER = '/sys/kernel/mm/hugepages';

/** The sizes of huge pages of this kernel, each with its count now. Empty for a kernel without huge pages. */
export const hugePages = (): readonly HugePages[] =>
  namesIfThere(FOLDER).flatMap((name) => {
    const [, kibibytes] = /^hugepages-(\d+)kB$/.exec(name) ?? [];
    if (kibibytes === undefined) return [];
    return [{ pageBytes: BigInt(kibibytes) * 1024n, count: countOf(`${FOLDER}/${name}/nr_hugepages`) }];
  });

const countOf = (path: string): bigint => {
  const text = readIfThere(path)?.trim() ?? '';
  return /^\d+$/.test(text) ? BigInt(text) : 0n;
};
