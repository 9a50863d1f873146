import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { prepareRun } from '../../../src/cli/arguments/prepare-run.js';
import { isCgroupV1 } from '../../../src/host/cgroups/host-cgroups.js';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'rx-v1-'))));
afterEach(() => rmSync(folder, { recursive: true }));

const prepare = (fields: object) => () =>
  prepareRun({
    ...{
      config: '',
      configDir: '',
      rootDir: folder,
      hostnameOverride: 'node',
      stopPodsOnExit: false,
      record: '',
      recordMaxSize: 2 ** 28,
    },
    fields: { ...fields },
  });

it('a machine with cgroup v1 is refused only where that is asked for', () => {
  expect(prepare({})).not.toThrow();
  expect(prepare({ failCgroupV1: false })).not.toThrow();
  const refuses = expect(prepare({ failCgroupV1: true }));
  if (isCgroupV1()) refuses.toThrow('kubelet is configured to not run on a host using cgroup v1');
  else refuses.not.toThrow();
});
