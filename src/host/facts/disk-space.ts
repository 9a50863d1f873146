import { statfs } from 'node:fs/promises';
import { defer } from 'rxjs';
import type { DiskSpace } from '../../streams/ports/disk-space.js';

/** The `DiskSpace` port for the file systems of this machine. Errors: Node's own, which name the path. */
export const diskSpace: DiskSpace = (path) =>
  defer(async () => {
    const { bsize, blocks, bavail } = await statfs(path, { bigint: true });
    return { capacityBytes: blocks * bsize, availableBytes: bavail * bsize };
  });
