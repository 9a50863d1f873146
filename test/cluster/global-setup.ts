import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { Cluster } from './cluster.js';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The folder of the API server that all files share; the first file that needs it starts it. */
    readonly clusterFolder: string;
  }
}

/** Says where the API server of this run is to be, and ends it when the run is over, if a file has started it. */
export default function setup(project: TestProject): () => Promise<void> {
  const parent = mkdtempSync(join(tmpdir(), 'rxc-'));
  const folder = join(parent, 'cluster');
  project.provide('clusterFolder', folder);
  return async () => {
    await Cluster.down(folder);
    rmSync(parent, { recursive: true, force: true });
  };
}
