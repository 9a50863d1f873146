import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { sourceBundle } from '../../support/source-bundle.js';

/** Bundles `agent-child.ts` for the tests of a file; the function returns its path. */
export const useAgentChild = (): (() => string) => {
  let folder = '';
  let script = '';
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'agent-child-'));
    script = await sourceBundle(folder, 'test/edges/cli/agent-child.ts');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return () => script;
};
