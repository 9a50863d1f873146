import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { HugePages } from '../model/node/machine-facts.js';

const FOLDER = '/sys/kernel/mm/hugepages';

/** Every kind of huge page that the kernel has, with how many there are now; none where it has none. */
export const hugePages = (): readonly HugePages[] =>
  (existsSync(FOLDER) ? readdirSync(FOLDER) : []).flatMap((name) => {
    const [, kibibytes] = /^hugepages-(\d+)kB$/.exec(name) ?? [];
    if (kibibytes === undefined) return [];
    return [{ pageBytes: BigInt(kibibytes) * 1024n, count: countOf(`${FOLDER}/${name}/nr_hugepages`) }];
  });

const countOf = (path: string): bigint => {
  try {
    return BigInt(readFileSync(path, 'utf8').trim());
  } catch {
    return 0n;
  }
};
